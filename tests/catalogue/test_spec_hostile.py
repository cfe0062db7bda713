"""Specs and settings of any content are read or refused with their line, soon and in few words."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flashtwin.catalogue import DRIVES
from flashtwin.catalogue.loader import BadSpecError, load
from flashtwin.errors import FlashtwinError

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "abuse"))
import targets  # noqa: E402

BASE = (DRIVES / "bx500-240.toml").read_text()


def refused(path: Path, **settings: object) -> BadSpecError:
    with pytest.raises(BadSpecError) as raised:
        load(str(path), **settings)  # type: ignore[arg-type]
    return raised.value


def spec(tmp_path: Path, text: str | bytes, name: str = "a.toml") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def renamed(name: str) -> str:
    lines = (f"name = {name}" if line.startswith("name = ") else line for line in BASE.split("\n"))
    return "\n".join(lines)


@pytest.mark.parametrize(
    "more",
    [
        "".join(f"nand.planes{number} = 1\n" for number in range(40_000)),
        "".join(f"[x{number}]\n" for number in range(40_000)),
        "[firmware.a]\n" + "".join(f"gc.lowe{number} = 1\n" for number in range(40_000)),
        "[firmware]\n" + "".join(f"p{number} = {{}}\n" for number in range(40_000)),
        f"nand.planes = {{ value = 4, {', '.join(f'k{n} = 1' for n in range(40_000))} }}\n",
    ],
    ids=["keys", "sections", "of a profile", "profiles", "fields"],
)
def test_tens_of_thousands_of_mistakes_are_told_to_a_bound_and_counted(
    tmp_path: Path, more: str
) -> None:
    error = refused(spec(tmp_path, 'schema = 1\nid = "a"\nname = "A"\n' + more))
    assert len(error.issues) == 101
    lines = [issue.line for issue in error.issues if issue.line is not None]
    assert lines == sorted(lines) and lines[0] <= 100
    last = error.issues[-1]
    assert last.message.startswith("… and ") and last.message.endswith(" more")
    total = error.message.split(" has ")[1].removesuffix(" errors")
    assert 39_900 <= int(total.replace(",", "")) <= 40_300


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("x = " + "[" * 10_000, 1, "nested too deep"),
        ("\n[" + ".".join("a" * 10_000) + "]", None, "nested too deep"),
        ("\nx = = 4", 2, "two `=` in a row"),
        ("x 4", 1, "a key without a value"),
        ("x = dynamic", 1, "not a value"),
        ("x = [1 2]", 1, "not a value"),
        ('x = "a', 1, "not TOML"),
        ('x = "\\q"', 1, "`\\` that begins no character"),
        ("x = 007", 1, "begins with 0"),
        ("[x", 1, "`]` is missing"),
        ("x = 1 y = 2", 1, "not TOML"),
        ("x =", 1, "not a value"),
    ],
)
def test_what_the_toml_reader_says_is_told_in_our_words(
    tmp_path: Path, text: str, line: int | None, part: str
) -> None:
    (issue,) = refused(spec(tmp_path, text)).issues
    assert (issue.line, part in issue.message) == (line, True), issue
    assert issue.hint
    for word in ("expected", "recurs", "parse", "unexpected", "invalid"):
        assert word not in issue.message + issue.hint


@pytest.mark.parametrize(
    "make",
    [
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.mkdir(),
        lambda path: path.open("w").truncate(1 << 30),
        lambda path: path.write_bytes(b"\n\n\xff"),
        lambda path: path.symlink_to(path),
    ],
    ids=["fifo", "endless", "directory", "1 GiB", "not text", "circle"],
)
@pytest.mark.parametrize("extended", [False, True])
def test_only_regular_files_of_a_bounded_length_are_read(
    tmp_path: Path, make: Callable[[Path], object], extended: bool
) -> None:
    path = tmp_path / "odd.toml"
    make(path)
    if extended:
        path = spec(tmp_path, 'schema = 1\nid = "a"\nname = "A"\nextends = "./odd.toml"\n')
    with pytest.raises(FlashtwinError) as raised:
        load(str(path))
    assert "odd.toml" in str(raised.value)


def test_a_chain_of_files_has_an_end(tmp_path: Path) -> None:
    head = 'schema = 1\nid = "a"\nname = "A"\n'
    for number in range(200):
        spec(tmp_path, f'{head}extends = "./s{number + 1}.toml"\n', f"s{number}.toml")
    error = refused(tmp_path / "s0.toml")
    assert any("more than 32 files" in issue.message for issue in error.issues)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ('"\\u001b]0;mine\\u0007"', "U+001B does not print"),
        ('"\\u202Eevil"', "U+202E does not print"),
        ('"\\u200b"', "U+200B does not print"),
        ('"a\\nb"', "U+000A does not print"),
        (f'"{"long " * 100}"', "has 500 characters"),
    ],
)
def test_a_name_prints_and_is_short(tmp_path: Path, name: str, part: str) -> None:
    (issue,) = refused(spec(tmp_path, renamed(name))).issues
    assert (issue.key, part in issue.message) == ("name", True), issue


def test_names_of_any_script_are_names(tmp_path: Path) -> None:
    assert load(str(spec(tmp_path, renamed('"Dysk Łódź 閃 µ"')))).name == "Dysk Łódź 閃 µ"


@pytest.mark.parametrize(
    "settings",
    [
        {"sets": ["nand.planes=٣"]},
        {"sets": ["op=٣"]},
        {"sets": ["op=1_0"]},
        {"sets": ["op=" + "9" * 5000]},
        {"sets": ["slc_cache.size=٣ GB"]},
        {"sets": ["nand.planes=" + "9" * 5000]},
        {"sets": ["nand.planes=" + "[" * 5000]},
        {"sets": ['slc_cache.size="4 GB" # \u202e']},
        {"sets": ["\x1b[31m=1"]},
        {"sets": ["\ud800=1"]},
        {"firmware": ["\x1b[31m"]},
        {"firmware": ["x" * 100_000]},
        {"scale": "1/+16"},
        {"scale": "1/٤"},
        {"scale": "1/" + "9" * 5000},
        {"scale": "16"},
    ],
    ids=ascii,
)
def test_settings_are_plain_and_what_is_quoted_of_them_is_short(
    settings: dict[str, object],
) -> None:
    with pytest.raises(FlashtwinError) as raised:
        load("bx500-240", **settings)  # type: ignore[arg-type]
    error = raised.value
    texts = [error.message, error.hint or ""]
    if isinstance(error, BadSpecError):
        texts += [part for issue in error.issues for part in (issue.text, issue.hint or "")]
    for text in texts:
        assert len(text) < 3000 and text.replace("\n", "").isprintable(), ascii(text)


def test_mutations_of_specs_are_loaded_or_refused() -> None:
    """`check_spec` raises where one is neither; `./dev abuse --kind specs` tries many more."""
    files = sorted(DRIVES.glob("*.toml"))
    rng = random.Random(11)
    for _ in range(150):
        targets.check_spec(mutated(rng, rng.choice(files).read_bytes()))


# What is put into a spec besides its own parts.
ODD = (b"\0", b"\xff", b"\x1b[2J", "\u202e٣".encode(), b"[" * 200, b"9" * 400, b"-1", b"0", b"=")
ODD += (b'"18446744073709551615 B"', b'"999999999999999 s"', b"4294967295", b"\n[nand]\n", b"nan")


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one to four parts cut out, doubled, moved or replaced."""
    for _ in range(rng.randint(1, 4)):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        draw = rng.randrange(5)
        if draw == 0:
            lines.insert(at, rng.choice(lines))
        elif draw == 1 and b"=" in lines[at]:
            lines[at] = lines[at].split(b"=")[0] + b"= " + rng.choice(ODD)
        elif draw == 2:
            del lines[at]
        elif draw == 3:
            column = rng.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:column] + rng.choice(ODD) + lines[at][column:]
        else:
            digits = [i for i, byte in enumerate(lines[at]) if 48 <= byte < 58]
            if digits:
                place = rng.choice(digits)
                more = b"%d" % rng.choice((0, 7, 99, 65535, 2**31, 2**32 - 1))
                lines[at] = lines[at][:place] + more + lines[at][place + 1 :]
        data = b"\n".join(lines)
    return data
