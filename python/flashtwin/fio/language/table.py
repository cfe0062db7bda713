"""The table of all options, `options.csv`: by name or alias, and what another name probably means.

A row says what an option takes (`value`), fio's default, what the option does on a simulated drive
(`role` and `says`), and what becomes of it where fio itself runs the jobs (`path`). An option is
noted where a reader could expect something of it; it is refused where leaving it out would give
another stream of requests than the one that was asked for. Values in the table are written as in a
job file.

Engines that reach a drive or a file are all the same here: the twin answers. Those that do
something else (network, processor, file tables) are refused, as their requests reach no drive.

On a path fio's options reach far beyond the file under test: they overwrite other files
(`mem=mmapshared:`), change the host (`ioscheduler`), start programs (`exec_prerun`), pin memory
(`lockmem`). So nothing is passed on because it is not known to do harm. An option is passed on
because somebody looked at what fio does with it and wrote it down (`path`); one that is not listed
is refused. fio gets a line that we print from the typed value, never the text of a job file; text
is passed on only where all of it follows a grammar that has no `$`, `;`, `#`, `\\` or control
character, and no path: those are what fio reads within a value.

Invariant: every option that fio 3.33 tells of (`--cmdhelp=all`) has exactly one row, and a name
stands in one row only; `tests/fio` asks fio, and that every row is ruled upon (`ruling`).
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from flashtwin.fio.language import kinds, patterns
from flashtwin.fio.language.kinds import Kind
from flashtwin.fio.language.numbers import MOST, Reading


class Role(Enum):
    """What an option does on a simulated drive."""

    STREAM = "changes the requests"
    OUTPUT = "changes what is reported"
    SILENT = "no effect"
    NOTED = "no effect, with a note"
    REFUSED = "refused"


class Fate(Enum):
    """What becomes of an option on a path."""

    PASSED = "passed on"
    SET = "set by flashtwin"
    LOG = "moved"
    LEFT_OUT = "left out, with a note"
    REFUSED = "refused"
    HARMFUL = "refused for safety"


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """The fate of an option, and why.

    `only`: the values that are passed on where all others are refused. `grammar`: what text that is
    passed on has to match.
    """

    fate: Fate
    says: str = ""
    only: tuple[Any, ...] = ()
    grammar: str | None = None


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: `says` is what it does here, why it does nothing, or why it is refused.

    `inert` are values at which a noted or refused option says or refuses nothing, as fio's own
    defaults. `engines` names the engines that an option belongs to; fio knows it under no other.
    `on_path`: none where nobody has looked at what the option does to a host.
    """

    name: str
    kind: Kind
    role: Role
    says: str
    aliases: tuple[str, ...] = ()
    default: Any = None
    inert: tuple[Any, ...] = ()
    engines: tuple[str, ...] = ()
    on_path: Ruling | None = None


# One request a thread, whatever iodepth says.
SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"})

ASYNCHRONOUS = frozenset(
    {
        "libaio",
        "io_uring",
        "io_uring_cmd",
        "posixaio",
        "solarisaio",
        "windowsaio",
        "rbd",
        "rados",
        "sg",
        "null",
        "nbd",
        "gfapi",
        "gfapi_async",
        "pmemblk",
        "dev-dax",
        "libpmem",
        "libpmem2",
        "libblkio",
        "libiscsi",
        "libzbc",
        "mtd",
        "nfs",
        "http",
        "libhdfs",
        "xnvme",
        "ime_psync",
        "ime_psyncv",
        "ime_aio",
        "dfs",
    }
)

# Engines that lay no files out, as what they reach is no file system (FIO_DISKLESSIO in fio), and
# those that write to no file that is shorter than their jobs (FIO_NOEXTEND): a job that only writes
# has its file laid out too.
LAY_NOTHING_OUT = frozenset(
    {
        "null",
        "rbd",
        "rados",
        "nbd",
        "pmemblk",
        "dev-dax",
        "libpmem",
        "libblkio",
        "libiscsi",
        "nfs",
        "http",
        "xnvme",
        "ime_psync",
        "ime_psyncv",
        "ime_aio",
        "dfs",
    }
)
NEVER_EXTEND = frozenset({"mmap", "libpmem2", "mtd", "libzbc"})

# Engines that are loaded from elsewhere, whose source has job files of its own.
PLUGINS = frozenset({"external", "spdk", "spdk_bdev"})

ELSEWHERE = {
    "net": "a network connection",
    "netsplice": "a network connection",
    "rdma": "a network connection",
    "librpma_apm_client": "a network connection",
    "librpma_apm_server": "a network connection",
    "librpma_gpspm_client": "a network connection",
    "librpma_gpspm_server": "a network connection",
    "libcufile": "a graphics processor",
    "cpuio": "the processor",
    "exec": "a program",
    "e4defrag": "a file system's tables",
    "falloc": "a file system's tables",
    "ftruncate": "a file system's tables",
    "filecreate": "a file system's tables",
    "filestat": "a file system's tables",
    "filedelete": "a file system's tables",
    "fileoperation": "a file system's tables",
    "dircreate": "a file system's tables",
    "dirstat": "a file system's tables",
    "dirdelete": "a file system's tables",
}


def plain_engine(written: str) -> str:
    """fio's name of an engine: Linux's own asynchronous I/O has two more, whatever follows them."""
    return "libaio" if written.startswith(("linuxaio", "aio")) else written


def engine_of(written: str) -> str:
    """The engine's name; a path to a plug-in is `external`."""
    name = written.partition(":")[0]
    return "external" if "/" in name or name.endswith(".so") else name


# Engines that reach a file by its name.
LOCAL = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring", "posixaio")

# What is written for a reader: no character that fio reads, and short of the lines that fio takes.
PLAIN = r"(?! )(?:(?![$;#\\])[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029])+(?<! )"

_KINDS: dict[str, Callable[[], Kind]] = {
    "text": kinds.Text,
    "names": kinds.Names,
    "prefix": kinds.Prefix,
    "flag": kinds.Flag,
    "bare flag": lambda: kinds.Flag(bare=True),
    "size": kinds.Size,
    "times": kinds.TimeRange,
    "pattern": patterns.PatternKind,
    "ranges": patterns.RangeKind,
    "split": patterns.SplitKind,
    "file size": patterns.FileSizeKind,
    "distribution": patterns.DistributionKind,
    "service": patterns.ServiceKind,
    "threshold": patterns.ThresholdKind,
}
_UINT_MOST = 2**32 - 1
_INTEGER = re.compile(r"(whole|uint)(?: (-?\d+)\.\.(\d*))?( power)?(?: \((.+)\))?")


@cache
def kind_of(text: str) -> Kind:
    """What a row's `value` says: a word, `whole LEAST..MOST (NAME)`, `time UNIT`, `words A B C=B`,
    `real LEAST..MOST`, or `each` before one of these for a value by direction."""
    if text in _KINDS:
        return _KINDS[text]()
    word, _, rest = text.partition(" ")
    match word:
        case "time":
            return kinds.Time(unit=rest)
        case "words":
            words = rest.split()
            aliases = tuple(
                (key, word) for key, _, word in (w.partition("=") for w in words) if word
            )
            return kinds.Choice(words=tuple(w for w in words if "=" not in w), others=aliases)
        case "real" | "reals":
            least, _, most = rest.partition("..")
            kind = kinds.Real if word == "real" else kinds.Reals
            return kind(least=float(least), most=float(most))
        case "each":
            single = kind_of(rest)
            assert isinstance(single, kinds.Integer | kinds.Size | kinds.Time), f"each {rest}"
            return kinds.Directions(each=single)
    return _integer(text)


def _integer(text: str) -> kinds.Integer:
    match = _INTEGER.fullmatch(text)
    assert match is not None, f"{text} is not a kind of values"
    most = _UINT_MOST if match[1] == "uint" else MOST
    return kinds.Integer(
        least=int(match[2] or 0),
        most=int(match[3]) if match[3] else most,
        power=bool(match[4]),
        name=match[5] or kinds.Integer().name,
    )


def _option(row: Mapping[str, str]) -> Option:
    kind, ruling = kind_of(row["value"]), None

    def values(text: str) -> tuple[Any, ...]:
        return tuple(kind.parse(word, Reading()) for word in text.split())

    if row["path"]:
        ruling = Ruling(
            fate=Fate[row["path"].replace(" ", "_").upper()],
            says=row["path_says"],
            only=LOCAL if row["path_only"] == "files" else values(row["path_only"]),
            grammar=PLAIN if row["path_text"] == "plain" else row["path_text"] or None,
        )
    return Option(
        name=row["name"],
        kind=kind,
        role=Role[row["role"].upper()],
        says=row["says"],
        aliases=tuple(row["aliases"].split()),
        default=_default(kind, row["default"]),
        inert=values(row["inert"]),
        engines=tuple(row["engines"].split()),
        on_path=ruling,
    )


def _default(kind: Kind, text: str) -> Any:
    """fio's default; 0 may stand for none, where values that are written begin above it."""
    if not text:
        return None
    return int(text) if isinstance(kind, kinds.Integer) else kind.parse(text, Reading())


def _rows() -> tuple[Option, ...]:
    with Path(__file__).with_name("options.csv").open(newline="") as file:
        return tuple(map(_option, csv.DictReader(file)))


ROWS = _rows()
# fio's defaults, by the options' own names.
DEFAULTS = {option.name: option.default for option in ROWS}


@cache
def by_name() -> dict[str, Option]:
    """Rows by name and by alias."""
    options: dict[str, Option] = {}
    for option in ROWS:
        for name in (option.name, *option.aliases):
            assert name not in options, f"{name} stands in two rows"
            options[name] = option
    return options


def find(name: str) -> Option | None:
    """The row of an option, also by its alias."""
    return by_name().get(name)


def meant(name: str) -> str | None:
    """A hint for a name that fio does not know."""
    if name.lower() in by_name():
        return f"fio's options are in small letters: {name.lower()}"
    plain = name.replace("-", "_").lower()
    near = difflib.get_close_matches(plain, list(by_name()), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else "fio 3.33 has no such option: fio --cmdhelp=all"


_UNRULED = Ruling(fate=Fate.REFUSED, says="nobody has looked at what it does to a host")
_ELSEWHERE = Ruling(fate=Fate.REFUSED, says="belongs to an engine that reaches no file")


def ruling(option: Option) -> Ruling:
    """What becomes of an option on a path; an option without a ruling is refused."""
    if option.engines and not set(option.engines) & set(LOCAL):
        return _ELSEWHERE
    return option.on_path or _UNRULED


def undecided() -> set[str]:
    """Rows of the table that reach a file and have no ruling."""
    return {row.name for row in ROWS if ruling(row) is _UNRULED}
