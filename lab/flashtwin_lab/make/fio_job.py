"""Makes python/flashtwin/model/fio_job.py: `.venv/bin/python -m flashtwin_lab.make.fio_job`.

What makes a job fio's is declared in Rust, where it is read: names, types, defaults and texts. The
Python types are made of those declarations. tests/fio/test_job_types.py says where the module is no
longer what they say. Read is what rustfmt writes: an item begins and ends at the margin, and a line
holds one field.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flashtwin_lab.make import ROOT

CRATE = ROOT / "crates" / "workload" / "src"
MODULE = ROOT / "python" / "flashtwin" / "model" / "fio_job.py"
SOURCES = ("trace/kind.rs", "trace/mod.rs", "trace/shape.rs", "fio/replay.rs", "fio/mod.rs")
# Types that have another name in Python.
CALLED = {"Options": "Reading", "Format": "TraceFormat"}
PLAIN = {"bool": "bool", "f64": "float", "char": "str", "String": "str", "PathBuf": "str"}
ZERO = {"bool": "False", "int": "0", "float": "0.0"}
HEAD = '''"""What makes a job fio's, made by `flashtwin_lab.make.fio_job` of crates/workload.

Sizes are bytes, times whole nanoseconds; a Triple is for reads, writes and trims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Triple = tuple[int, int, int]
NONE: Triple = (0, 0, 0)
'''
ITEM = re.compile(
    r"((?:^///.*\n)+)((?:^#\[.*\]\n)+)^pub (struct|enum) (\w+) \{\n((?:^(?!\}).*\n)*)^\}\n", re.M
)
FIELD = re.compile(r"((?: +///.*\n)+)((?: +#\[.*\]\n)*) +(?:pub )?(\w+)(?:: (.+))?,\n")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A struct or an enum as it is declared; `source` is the text of its file."""

    kind: str
    name: str
    text: str
    attributes: str
    body: str
    source: str


def items() -> dict[str, Item]:
    """All that fio's job is made of, by name."""
    every: dict[str, Item] = {}
    for path in SOURCES:
        source = (CRATE / path).read_text()
        for doc, attributes, kind, name, body in ITEM.findall(source):
            if "Deserialize" in attributes:
                every[name] = Item(
                    kind=kind,
                    name=name,
                    text=_prose(doc),
                    attributes=attributes,
                    body=body,
                    source=source,
                )
    return every


def module() -> str:
    """The text of the module."""
    known = items()
    parts = [HEAD]
    for name in _in_order("Fio", known):
        item = known[name]
        parts.append(_enum(item) if item.kind == "enum" else _struct(item, known))
    return "\n\n".join(parts)


def _in_order(name: str, known: dict[str, Item], above: tuple[str, ...] = ()) -> Iterator[str]:
    """What a type is made of, and then itself, each once."""
    given: set[str] = set(above)
    for word in re.findall(r"\w+", re.sub(r"///.*", "", known[name].body)):
        if word in known and word not in given and known[name].kind == "struct":
            for part in _in_order(word, known, tuple(given)):
                given.add(part)
                yield part
    yield name


def _prose(doc: str) -> str:
    lines = [re.sub(r"^ *///", "", line).strip() for line in doc.splitlines()]
    return "\n".join(lines).strip()


def _words(item: Item) -> dict[str, str]:
    """The words of an enum by its variants."""
    style = re.search(r'rename_all = "(\w+)"', item.attributes)
    join = "_" if style and style[1] == "snake_case" else ""
    return {
        variant: join.join(re.findall(r"[A-Z][a-z0-9]*", variant)).lower()
        for _, _, variant, _ in FIELD.findall(item.body)
    }


def _enum(item: Item) -> str:
    name = CALLED.get(item.name, item.name)
    words = [f'"{word}"' for word in _words(item).values()]
    line = f"{name} = Literal[{', '.join(words)}]\n"
    if len(line) > 100:
        line = f"{name} = Literal[\n" + "".join(f"    {word},\n" for word in words) + "]\n"
    return line


def _struct(item: Item, known: dict[str, Item]) -> str:
    texts, lines = [], []
    for doc, attributes, name, kind in FIELD.findall(item.body):
        text = _prose(doc).replace("\n", " ").rstrip(".")
        texts.append(f"`{name}`: {text[0].lower() + text[1:]}.")
        default = _default(item, name, kind, attributes, known)
        lines.append(f"    {name}: {_type(kind)}" + (f" = {default}\n" if default else "\n"))
    paragraphs = [part.replace("\n", " ") for part in item.text.split("\n\n")]
    text = "\n\n".join(['"""' + paragraphs[0], *paragraphs[1:], "\n".join(texts)])
    wrapped = [textwrap.fill(line, 96, break_on_hyphens=False) for line in text.split("\n")]
    doc = textwrap.indent("\n".join([*wrapped, '"""']), "    ")
    head = f"@dataclass(frozen=True, kw_only=True)\nclass {CALLED.get(item.name, item.name)}:\n"
    return f"{head}{doc}\n\n{''.join(lines)}"


def _type(kind: str) -> str:
    if match := re.fullmatch(r"(Option|Vec|Box|Triple)<(.+)>", kind):
        inner = _type(match[2])
        return {
            "Option": f"{inner} | None",
            "Vec": f"tuple[{inner}, ...]",
            "Box": inner,
            "Triple": "Triple" if inner == "int" else f"tuple[{inner}, {inner}, {inner}]",
        }[match[1]]
    if kind.startswith("("):
        return f"tuple[{', '.join(_type(part) for part in kind[1:-1].split(', '))}]"
    if re.fullmatch(r"[iu]\d+", kind):
        return "int"
    return PLAIN.get(kind) or CALLED.get(kind, kind)


def _default(
    item: Item, name: str, kind: str, attributes: str, known: dict[str, Item]
) -> str | None:
    """The default of a field in Python; none where it has to be given."""
    if match := re.search(r'#\[serde\(default = "(\w+)"\)\]', attributes):
        body = re.search(rf"fn {match[1]}\(\) -> .+? \{{\n +(.+)\n\}}", item.source)
        assert body, f"{match[1]} is one expression"
        return _value(body[1], kind, known)
    if "serde(default)" in attributes:
        return _zero(kind, known)
    if "#[serde(default" not in item.attributes:
        return None
    of_all = re.search(rf"impl Default for {item.name} \{{.*?\n\}}\n", item.source, re.S)
    value = re.search(rf"^ +{name}: (.+),$", of_all[0], re.M) if of_all else None
    return _value(value[1], kind, known) if value else _zero(kind, known)


def _zero(kind: str, known: dict[str, Item]) -> str:
    python = _type(kind)
    if python == "Triple":
        return "NONE"
    if kind.startswith("Option<"):
        return "None"
    if kind.startswith("Vec"):
        return "()"
    if kind in known and known[kind].kind == "enum":
        variant = re.search(r"#\[default\]\n +(\w+)", known[kind].body)
        assert variant, f"{kind} has a default"
        return f'"{_words(known[kind])[variant[1]]}"'
    return ZERO.get(python, f"{python}()")


def _value(text: str, kind: str, known: dict[str, Item]) -> str:
    """An expression of Rust, in Python."""
    if match := re.fullmatch(r"Some\((.+)\)", text):
        return _value(match[1], kind, known)
    if match := re.fullmatch(r"\[(.+); 3\]", text):
        return "NONE" if match[1] == "0" else f"({', '.join([_value(match[1], kind, known)] * 3)})"
    if match := re.fullmatch(r"(\w+)::(\w+)", text):
        return f'"{_words(known[match[1]])[match[2]]}"'
    if text.endswith("::default()"):
        return _zero(kind, known)
    if match := re.fullmatch(r"'(.)'", text):
        return f'"{match[1]}"'
    return {"true": "True", "false": "False", "Vec::new()": "()"}.get(text, text)


if __name__ == "__main__":
    Path(MODULE).write_text(module())
