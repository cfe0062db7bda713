"""Makes docs/reference/sensitivity.md: constants of the analysis that move a row of blind.md.

    .venv/bin/python -m flashtwin_lab.make.sensitivity [DRIVES [SEED]]

Drives of the prior of `flashtwin blind` are simulated once and kept in memory. Each constant of
`flashtwin.analysis` that the analysis of a fill reads is made a fifth smaller and a fifth larger,
whole numbers by one at least, and all drives are analysed and judged anew. A row moves where more
of its answers become right or wrong than its bound allows. What was tried stands in
.tools/sensitivity.json, so that a run which was stopped goes on.

A constant takes two analyses of each drive: 24 drives some 20 minutes of a processor. A run which
goes on has to be of the same analysis, of which only the constants' values are compared.
"""

from __future__ import annotations

import ast
import importlib
import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from flashtwin import analysis, outputs
from flashtwin.analysis import shape
from flashtwin_lab.blind import detect, generate, judge
from flashtwin_lab.blind.judge import Judged
from flashtwin_lab.blind.truth import Measured
from flashtwin_lab.make import DOCS, ROOT, typed_numbers

PAGE, KEPT = DOCS / "reference" / "sensitivity.md", ROOT / ".tools" / "sensitivity.json"
DRIVES, SEED, CHANGE = 24, 31, 0.2
FOLDER = Path(str(analysis.__file__)).parent
# Modules that read something else than the shape of a fill.
OTHERS = {"knee", "reach", "spare", "steady", "write_buffer", "quantiles", "__init__"}
# Chances and counts that were set by hand and not estimated, by where they stand.
BY_HAND = (
    (
        "analysis/fill_classes.toml, `common`",
        "how common each cause of a fall is",
        "half or twice as many caches: a probability by 0.17 at most, and one or five of the looks "
        "pass 95 %; half or twice of another cause: 0.16 at most, one look",
    ),
    (
        "analysis/fill_classes.py, `UNSEEN`",
        "a cause that was never drawn with a look",
        "half or twice: a probability by 0.09 at most; with half of it four looks more are said",
    ),
    (
        "analysis/fill_classes.py, `BORROWED`",
        "fills of the plain look that a rare one counts",
        "half or twice: a probability of a rare look by 0.14 at most, and none passes 95 %",
    ),
    (
        "batteries/fill/causes.py, `THERMOMETER`, `DENIED`, `WARMEST`",
        "what a temperature counts beside a look",
        "`slowed_by` with a temperature; not tried",
    ),
    (
        "batteries/discover/posterior.py, `DISTURBANCES`",
        "a slow beginning is the host's",
        "kind; not tried",
    ),
    (
        "batteries/discover/posterior.py, `MISREAD`",
        "a test's reading is wrong altogether",
        "kind; not tried",
    ),
    (
        "batteries/discover/posterior.py, `ALIKE`",
        "reads of both kinds of cells take alike",
        "kind; not tried",
    ),
    (
        "batteries/discover/posterior.py, `MUCH_FLASH`",
        "more than 12 % of spare flash",
        "kind; not tried",
    ),
    (
        "batteries/discover/posterior.py, `EXPECTED`, `COLLECTS`, `UNLIKELY`",
        "how well the right structure fits; when one is given up",
        "kind; not tried",
    ),
    (
        "batteries/discover/levels.py, `OWN`",
        "menu of a hybrid cache's own parts",
        "tests chosen; not tried",
    ),
    (
        "study/fit/possible.py, `CALMER`, `OTHER_SPARE`",
        "how far a drive of another maker is from every candidate",
        "intervals of what a twin predicts; chosen on seeds that were looked at (concepts/fit.md)",
    ),
)
Counts = Mapping[str, tuple[int, int, float]]


@dataclass(frozen=True, kw_only=True)
class Constant:
    """A number of a module of the analysis."""

    module: str
    name: str
    value: float

    def changed(self, up: bool) -> float:
        """A fifth more or less; a whole number by one at least."""
        if isinstance(self.value, int):
            step = max(round(CHANGE * self.value), 1)
            return self.value + step if up else self.value - step
        return self.value * (1 + CHANGE if up else 1 - CHANGE)


def constants() -> list[Constant]:
    """All numbers that modules of the analysis name in capitals."""
    numbers = []
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem in OTHERS:
            continue
        module = importlib.import_module(f"flashtwin.analysis.{path.stem}")
        for name in _assigned(ast.parse(path.read_text())):
            value = getattr(module, name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers.append(Constant(module=path.stem, name=name, value=value))
    return numbers


def _assigned(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (n.id for n in names if isinstance(n, ast.Name) and n.id.isupper())


@contextmanager
def changed(constant: Constant, value: float) -> Iterator[None]:
    """The constant has another value in every module that reads it, defaults included."""
    readers = list(_readers(constant))
    for module in readers:
        setattr(module, constant.name, value)
    defaults = [pair for module in readers for pair in _defaults(module, constant.name)]
    for function, key in defaults:
        function.__kwdefaults__[key] = value
    shape._read.clear()
    try:
        yield
    finally:
        for module in readers:
            setattr(module, constant.name, constant.value)
        for function, key in defaults:
            function.__kwdefaults__[key] = constant.value
        shape._read.clear()


def _readers(constant: Constant) -> Iterator[ModuleType]:
    own = f"flashtwin.analysis.{constant.module}"
    yield importlib.import_module(own)
    for name, module in list(sys.modules.items()):
        is_ours = name.startswith("flashtwin") and name != own and constant.name in vars(module)
        if is_ours and any(constant.name in names for names in _imported(module, own)):
            yield module


def _imported(module: ModuleType, own: str) -> Iterator[list[str]]:
    tree = ast.parse(Path(str(module.__file__)).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == own:
            yield [alias.name for alias in node.names]


def _defaults(module: ModuleType, name: str) -> Iterator[tuple[Any, str]]:
    """Arguments whose default is the constant, with their functions."""
    for node in ast.parse(Path(str(module.__file__)).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                if isinstance(default, ast.Name) and default.id == name:
                    yield getattr(module, node.name), argument.arg


def counts_of(judged: Sequence[Judged]) -> dict[str, tuple[int, int, float]]:
    """Of each row how many answers are beyond what is asked, of how many, and the share allowed."""
    rows = {}
    for target in generate.read_prior()["targets"]:
        name, kind = target["finding"], target["kind"]
        if kind == "error":
            errors = [e for drive in judged for e in drive.errors.get(name, ())]
            for words, share in (("median", 0.5), ("q95", 0.05)):
                beyond = sum(e > target[words] for e in errors)
                rows[f"{name}, {words}"] = beyond, len(errors), share
        elif kind == "coverage":
            held = [h for d in judged for h, _ in d.holds.get(name.removeprefix("interval: "), ())]
            rows[name] = held.count(False), len(held), 1 - target["says"]
        else:
            right = [drive.right[name] for drive in judged if name in drive.right]
            share = target["at_most"] if kind == "wrong" else 1 - target["at_least"]
            rows[name] = right.count(False), len(right), share
    return rows


def moved(before: Counts, after: Counts) -> list[str]:
    """Rows of which more answers changed than their bound allows, with by how many."""
    rows = []
    for name, (wrong, count, share) in before.items():
        more = after[name][0] - wrong
        if abs(more) > share * count:
            rows.append(f"{name} {more:+d} of {count}")
    return rows


def judged_of(drives: Sequence[Measured]) -> dict[str, tuple[int, int, float]]:
    """The rows of these drives by today's analysis."""
    return counts_of([judge.judged(drive, detect.ours(drive)) for drive in drives])


def tried(constant: Constant, drives: Sequence[Measured], before: Counts) -> list[list[str]]:
    """What moves with less of the constant, and with more; an error of the analysis counts too."""
    both = []
    for up in (False, True):
        with changed(constant, constant.changed(up)):
            try:
                both.append(moved(before, judged_of(drives)))
            except (ArithmeticError, ValueError, IndexError, KeyError) as error:
                both.append([f"the analysis ends: {type(error).__name__}"])
    return both


def page(rows: Mapping[str, list[list[str]]], count: int, seed: int, of: int) -> str:
    """The page, of the rows that moved by constant; `of`: how many constants there are."""
    moving = {name: both for name, both in rows.items() if any(both)}
    lines = [
        "# Constants of the analysis that move the blind page",
        "",
        "<!-- Made by flashtwin_lab.make.sensitivity; do not edit. -->",
        "",
        f"Each constant that the analysis of a fill reads was made {CHANGE:.0%} smaller and",
        f"larger, whole numbers by one at least, over {count} drives of the blind page's prior",
        f"(seed {seed}, none that a page reports on). A row moves where more of its answers become",
        "right or wrong than its bound allows; of so few drives that is one or two answers.",
        "",
        f"{len(rows)} of {of} constants were tried, and {len(moving)} move a row. Lists of numbers",
        "were not, and negatives have no row here.",
        "",
        "| constant | value | less | more |",
        "| --- | --- | --- | --- |",
    ]
    values = {f"{c.module}.{c.name}": c.value for c in constants()}
    for name, (less, more) in sorted(moving.items()):
        cells = ("; ".join(less) or "nothing", "; ".join(more) or "nothing")
        lines.append(f"| `{name}` | {values.get(name, 0):g} | {cells[0]} | {cells[1]} |")
    lines += ["", "## Set by hand", "", "No drives were counted for these:", ""]
    lines += ["| where | what it is the chance of | what it moves |", "| --- | --- | --- |"]
    lines += [f"| {where} | {what} | {moves} |" for where, what, moves in BY_HAND]
    return "\n".join(lines) + "\n"


def main(count: int, seed: int) -> None:
    prior = generate.read_prior()
    drives = [generate.measured(prior, seed, number) for number in range(count)]
    all_constants = {f"{c.module}.{c.name}": c for c in constants()}
    values = {name: constant.value for name, constant in all_constants.items()}
    stamp = {"drives": count, "seed": seed, "values": values}
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    rows = kept.get("rows", {}) if kept.get("stamp") == stamp else {}
    left = [name for name in all_constants if name not in rows]
    with multiprocessing.Pool() as pool:
        each = partial(tried, drives=drives, before=judged_of(drives))
        found = pool.imap(each, [all_constants[name] for name in left])
        for name, both in zip(left, found, strict=True):
            rows[name] = both
            outputs.write(KEPT, json.dumps({"stamp": stamp, "rows": rows}))
    outputs.write(PAGE, page(rows, count, seed, len(all_constants)))


if __name__ == "__main__":
    main(*typed_numbers(drives=DRIVES, seed=SEED))
