"""Files that somebody gives us to read: regular ones only, no longer than such a file can be.

A FIFO blocks whoever opens it, a device may do something when it is opened, and a link may lead to
a file that never ends. Invariants: nothing but a regular file is opened, and no more than the bound
is read of it, whatever its length is said to be; what goes wrong is an `InputError`, which is one
sentence. What the JSON text of a file holds can be written again as JSON and shown on a terminal:
no number that is none, no half of a character, nothing nested without end; so can what TOML holds.
Nobody else parses JSON or TOML that comes from outside (`tests/test_tidy.py`).
"""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from flashtwin import system
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError, shortened

# Nothing that flashtwin, fio or smartctl writes is nested so deep.
MOST_DEPTH = 64
# Lines that begin like an object are tried so often: behind warnings of fio the first is one.
MOST_OBJECTS = 64
# NVMe counts in 128 bits.
MOST_DIGITS = 39

# How a packed file begins: the program that packed it, the one that unpacks it, and that one's
# option for writing to stdout.
PACKED = {
    b"\x1f\x8b": ("gzip", "gunzip", "-c"),
    b"\xfd7zXZ\0": ("xz", "unxz", "-c"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd", "-c"),
    b"BZh": ("bzip2", "bunzip2", "-c"),
    b"PK\x03\x04": ("zip", "unzip", "-p"),
}
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


Place = str | os.PathLike[str]


class InputError(FlashtwinError):
    """A file that cannot be read. `why` is the reason alone, `missing` that there is no file."""

    def __init__(
        self,
        path: Place,
        why: str,
        *,
        missing: bool = False,
        exit_code: int = USAGE,
        hint: str | None = None,
    ):
        hint = hint or (_where(path) if missing else "is it the file that you mean?")
        super().__init__(f"cannot read {path}: {why}", hint=hint, exit_code=exit_code)
        self.why, self.missing = why, missing


def _where(path: Place) -> str:
    """Where a file was looked for that is not there."""
    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    return f"it was looked for in {folder}" if os.path.isdir(folder) else f"there is no {folder}"


def read_regular(path: Place, *, most_bytes: int) -> bytes:
    """All bytes of a regular file; raises `InputError`, also for one that is longer."""
    place = os.fspath(path)
    handle = open_regular(place)
    try:
        return _read(place, handle, os.fstat(handle).st_size, most_bytes)
    except OSError as error:
        raise _because(place, error) from error
    finally:
        os.close(handle)


def open_regular(place: Place) -> int:
    """A regular file, open for reading; raises `InputError`."""
    try:
        # Looked at before it is opened: to open a device may be to use it.
        _refuse_others(place, os.stat(place).st_mode)
        handle = os.open(place, os.O_RDONLY | system.NONBLOCK | system.BYTES)
        try:
            _refuse_others(place, os.fstat(handle).st_mode)
        except BaseException:
            os.close(handle)
            raise
        return handle
    except ValueError as error:
        # A name with a zero byte, or with half a character, is no name of a file.
        hint = "give the name of a file"
        raise InputError(place, str(error), missing=True, hint=hint) from error
    except OSError as error:
        raise _because(place, error) from error


def _read(path: Place, handle: int, size: int, most_bytes: int) -> bytes:
    if size > most_bytes:
        raise InputError(path, f"it has {size:,} bytes, and may have {most_bytes:,} at most")
    pieces, left_bytes = [], most_bytes + 1
    # Files that the kernel makes up say that they are empty.
    while left_bytes and (piece := os.read(handle, min(left_bytes, max(size, 1 << 16)))):
        pieces.append(piece)
        left_bytes -= len(piece)
    if not left_bytes:
        raise InputError(
            path, f"it has more than {most_bytes:,} bytes, and may have so many at most"
        )
    return b"".join(pieces)


def _refuse_others(path: Place, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        hint = "give a file of it" if stat.S_ISDIR(mode) else f"copy it: cat {path} > FILE"
        raise InputError(path, f"it is {kind} and not a regular file", hint=hint)


def _because(path: Place, error: OSError) -> InputError:
    missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
    why = "there is no such file" if missing else os.strerror(error.errno or 0)
    usage = missing or error.errno in (errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO)
    return InputError(
        path,
        why,
        missing=missing,
        exit_code=USAGE if usage else ENVIRONMENT,
        hint=None if missing else "look at the path, and at who may read it: ls -l",
    )


def wide_encoding(first_bytes: bytes) -> str | None:
    """UTF-16 or UTF-32, as Python names it; none where a file begins otherwise. PowerShell and
    programs of Windows write such files, with a byte order mark or without."""
    for mark, encoding in _WIDE_MARKS:
        if first_bytes.startswith(mark):
            return encoding
    # Text in ASCII has a zero in every second byte then.
    half = len(first_bytes) // 2
    even, odd = first_bytes[::2].count(0), first_bytes[1::2].count(0)
    if odd > 0.8 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.8 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


# The mark of UTF-32 begins with that of UTF-16.
_WIDE_MARKS = (
    *((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32")),
    *((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")),
)


def encoding_title(encoding: str) -> str:
    """What people call it: UTF-16 where Python says utf-16-le."""
    return encoding.upper()[:6]


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if encoding := wide_encoding(data[:4096]):
            why = f"it is {encoding_title(encoding)}, and has to be UTF-8"
            raise ValueError(why) from None
        raise ValueError(f"byte {error.start} is not UTF-8") from None


def parse_json(data: bytes) -> Any:
    """The value in JSON text; raises `ValueError` with a sentence.

    Refused, besides what is no JSON: text that is not UTF-8, NaN and infinity, numbers too large
    for a float or of more than `MOST_DIGITS` digits, halves of characters (`"\\ud800"`), a name
    twice in an object, and what is nested deeper than `MOST_DEPTH`.
    """
    text = _utf8(data)
    # Most text cannot hold what the slow checks look for.
    plain_numbers = _UNUSUAL_NUMBER.search(data) is None
    try:
        value = json.loads(
            text,
            parse_constant=_no_number,
            parse_float=None if plain_numbers else _finite,
            parse_int=None if plain_numbers else _integer,
            object_pairs_hook=_named_once,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    except RecursionError:
        raise ValueError(_DEEP) from None
    if _may_nest(data) or b"\\u" in data:
        _check_nesting(value)
    return value


def parse_toml(data: bytes) -> dict[str, Any]:
    """The table in TOML text; raises `ValueError` with a sentence, in which `tomllib` names the
    line. Refused as in JSON: what is not UTF-8, no number, too large or nested too deep."""
    text = _utf8(data)
    # Dotted keys nest as brackets do, and take time by the square of their length.
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key is nested deeper than {MOST_DEPTH} levels (at line {line})")
    try:
        table = tomllib.loads(text, parse_float=_finite)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError(_DEEP) from None
    except ValueError as error:
        # Python's words on a number of thousands of digits name a function of Python.
        raise ValueError(str(error).partition(":")[0].partition(";")[0]) from None
    _check_nesting(table)
    return table


def read_toml(path: str | os.PathLike[str], *, most_bytes: int = 16 << 20) -> dict[str, Any]:
    """The table in a file of TOML; raises `InputError`."""
    try:
        return parse_toml(read_regular(path, most_bytes=most_bytes))
    except ValueError as error:
        raise InputError(Path(path), str(error), hint="mend it with an editor") from error


def json_object(text: str) -> tuple[int, dict[str, Any], int] | None:
    """The first JSON object that begins a line of a text, as programs print one among other lines:
    where it begins, the object, and where it ends; none where there is none.

    Raises `ValueError` with a sentence where it holds what `parse_json` refuses. A name may stand
    twice, as fio writes an option that was given twice.
    """
    begins = re.finditer(r"^\s*(\{)", text, re.MULTILINE)
    for begin in itertools.islice(begins, MOST_OBJECTS):
        at = begin.start(1)
        try:
            value, end = json.JSONDecoder(
                parse_constant=_no_number, parse_float=_finite, parse_int=_integer
            ).raw_decode(text, at)
        except json.JSONDecodeError:
            continue
        except RecursionError:
            raise ValueError(_DEEP) from None
        _check_nesting(value)
        return at, value, end
    return None


def is_plain(data: bytes) -> bool:
    """Whether JSON text cannot hold what `parse_json` refuses and msgspec takes: whole numbers of
    too many digits, values that are nested too deep."""
    return not _may_nest(data) and _LONG_NUMBER not in data.translate(_DIGITS_ALIKE)


def _may_nest(data: bytes) -> bool:
    return data.count(b"[") + data.count(b"{") > MOST_DEPTH


_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * MOST_DIGITS
# With an exponent, or so long that it may be too large.
_UNUSUAL_NUMBER = re.compile(rb"[0-9][eE]|[0-9]{%d}" % MOST_DIGITS)


_DEEP = f"it is nested deeper than {MOST_DEPTH} levels"
_KEY_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
_DEEP_KEY = re.compile(rf"^[ \t\[]*{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART}){{{MOST_DEPTH},}}", re.M)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text.replace("_", ""))
    if not math.isfinite(number):
        raise ValueError(f"{shortened(text, 20)} is too large for a number")
    return number


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS + 1:
        raise ValueError(f"{shortened(text, 20)} has more than {MOST_DIGITS} digits")
    return int(text)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("an object has a name twice")
    return values


def _check_nesting(value: Any) -> None:
    """Depth, text and numbers of all that is in a value, without calling itself for what is
    inside."""
    level, depth = [value], 0
    while level:
        inside: list[Any] = []
        if depth == MOST_DEPTH and any(isinstance(item, dict | list) for item in level):
            raise ValueError(_DEEP)
        for item in level:
            if isinstance(item, dict):
                inside += item
                inside += item.values()
            elif isinstance(item, list):
                inside += item
            elif isinstance(item, str) and not is_text(item):
                raise ValueError("it holds half of a character, a lone surrogate")
            elif isinstance(item, int) and abs(item) >= 10**MOST_DIGITS:
                raise ValueError(f"a number has more than {MOST_DIGITS} digits")
        level, depth = inside, depth + 1


def is_text(value: str) -> bool:
    """Whether text can be written as UTF-8: lone surrogates cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
