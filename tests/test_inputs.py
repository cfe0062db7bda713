"""Files given to read: nothing but a regular one of a bounded length, and JSON that is JSON."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from flashtwin.inputs import (
    MOST_DEPTH,
    InputError,
    parse_json,
    parse_toml,
    read_regular,
    read_toml,
)


def test_a_regular_file_is_read_whole_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 200_000)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert len(read_regular(tmp_path / "link", most_bytes=200_000)) == 200_000
    # The kernel says that such a file is empty.
    assert read_regular("/proc/self/status", most_bytes=1 << 20)


@pytest.mark.parametrize("what", ["directory", "FIFO", "socket", "endless", "missing", "loop"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("it")
    match what:
        case "directory":
            path.mkdir()
        case "FIFO":
            os.mkfifo(path)
        case "socket":
            socket.socket(socket.AF_UNIX).bind(str(path))
        case "endless":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path)
    said = {"endless": "a character device", "missing": "no such file", "loop": "symbolic links"}
    with pytest.raises(InputError, match=f"cannot read it: .*{said.get(what, what)}") as refused:
        read_regular(path, most_bytes=100)
    assert refused.value.missing == (what == "missing")


def test_no_more_than_the_bound_is_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=r"1,099,511,627,776 bytes, and may have 16 at most"):
        read_regular(tmp_path / "sparse", most_bytes=16)
    with pytest.raises(InputError, match="more than 16 bytes"):
        read_regular("/proc/self/status", most_bytes=16)


@pytest.mark.parametrize("name", ["a\0b", "a\udc00b"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(InputError):
        read_regular(name, most_bytes=16)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "it is not JSON"),
        (b"\xff", "byte 0 is not UTF-8"),
        ("{}".encode("utf-16"), "it is UTF-16, and has to be UTF-8"),
        ("{}".encode("utf-32"), "it is UTF-32, and has to be UTF-8"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b"[1e999]", "1e999 is too large"),
        (b"[" + b"9" * 5000 + b"]", "more than 39 digits"),
        (b'["\\ud800"]', "lone surrogate"),
        (b'{"\\udc00": 1}', "lone surrogate"),
        (b'{"a": 1, "a": 2}', "a name twice"),
        (b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1), "nested deeper"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a":' * 100_000, "nested deeper"),
    ],
)
def test_json_that_could_not_be_written_again_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text)


def test_json_that_is_json() -> None:
    text = b'{"a": [1, 2.5, null, true, "\\ud83d\\ude00"], "b": {"c": -340282366920938463463}}'
    assert parse_json(text)["a"][4] == "\U0001f600"
    nested = parse_json(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH)
    assert nested


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a = [" + b"[" * 5000 + b"]" * 5001, "nested deeper than"),
        (b"a = " + b"[" * 70 + b"]" * 70, "nested deeper than"),
        (
            b"x = 1\n" + b".".join([b"a"] * 4000) + b" = 1",
            "nested deeper than 64 levels (at line 2)",
        ),
        (b"[" + b".".join([b"a"] * 4000) + b"]", "nested deeper than 64 levels (at line 1)"),
        (b"a = " + b"9" * 5000, "digits"),
        (b"a = 0x" + b"f" * 5000, "digits"),
        (b"a = 1e999", "too large"),
        (b"a = nan", "is too large for a number"),
        (b"a = 1\n\xff = 2", "not UTF-8"),
        (b"\na = ]", "at line 2"),
    ],
)
def test_toml_that_nobody_could_count_with_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_toml(text)


def test_numbers_of_toml_beyond_python_are_refused_in_plain_words() -> None:
    with pytest.raises(ValueError, match="digits") as refused:
        parse_toml(b"a = " + b"9" * 5000)
    assert "sys." not in str(refused.value)


def test_a_file_of_toml_is_a_table_or_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('a = 1_000\nb.c = "x.y"\n[[row]]\nvalue = 1e-5\n')
    assert read_toml(file) == {"a": 1000, "b": {"c": "x.y"}, "row": [{"value": 1e-5}]}
    file.write_text("a = ")
    with pytest.raises(InputError, match=r"cannot read .*a\.toml: ") as refused:
        read_toml(file)
    assert refused.value.exit_code == 2
