"""Hostile input from what is right: bytes, lines, numbers, and fio's options with values at bounds.

Everything is drawn from the `rng` that is handed in, so that a seed gives the same input each time.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
JOB_FILES = (ROOT / "examples" / "fio", ROOT / "tests" / "fio" / "jobs")
SPECS = (ROOT / "python" / "flashtwin" / "catalogue", ROOT / "examples" / "designs")

NUMBERS = (
    *("0", "1", "-1", "2", "3", "7", "100", "101", "511", "512", "4095", "4096", "65536"),
    *("2147483647", "4294967296", "9223372036854775807", "18446744073709551615", "1" + "0" * 30),
    *("1e3", "1e308", "1e-300", "1e999", "nan", "inf", "-inf", "0x10", "0xffffffffffffffff", "010"),
    *("4k", "1m", "1g", "1t", "1p", "1e", "0.5", ".5", "5.", "50%", "100%", "101%", "1%%", "-1%"),
    *("(2*3)", "(1/0)", "((((9^64)^64)^64)^64)", "(2^200)", "(" * 400 + "1" + ")" * 400, "1-", "-"),
    *(
        "٣",
        "\uff11\uff12",
        "²",
        "1_000",
        " 1",
        "+1",
        "1,",
        ",1",
        "1:2",
        "1,2,3,4",
        "4k-8k",
        "8k-4k",
        "",
    ),
    *("1s", "1us", "1ns", "0s", "1d", "99999d", "1h30", "9" * 5000, "4k/50:8k/50", "4k/101", "/:/"),
)
_TEXTS = (
    *(
        "",
        " ",
        "a",
        "x" * 300,
        "x" * 5000,
        "a b",
        "'",
        '"',
        "\\",
        "a\\",
        "$",
        "${HOME}",
        "$jobname",
    ),
    *("%", "%s%n", "../x", "../../x", "/", ".", "..", "~", "a:b", ":", "::", "a,b", "{", "[", "]"),
    *(
        "[global]",
        "#",
        ";",
        "=",
        "a=b",
        "\x1b[31mred",
        "\x07",
        "\u202e",
        "\ufeff",
        "ä",
        "\U0001d54f",
        "\x7f",
    ),
    *("-", "--", "none", "null", "true", "false", "yes", "no", "random", "all", "0", "1"),
)
_BYTES = (
    b"\0",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\x1b[2J",
    b"[",
    b"=",
    b"#",
)


def seeds(folders: Sequence[Path], suffix: str) -> list[Path]:
    """The files of some folders, in an order that is always the same."""
    return sorted(path for folder in folders for path in folder.glob(f"*{suffix}"))


@functools.cache
def _contents(suffix: str) -> tuple[bytes, ...]:
    folders = JOB_FILES if suffix == ".fio" else SPECS
    return tuple(path.read_bytes() for path in seeds(folders, suffix))


def number(rng: random.Random) -> str:
    """A number at some bound, or none at all."""
    return rng.choice(NUMBERS)


def text(rng: random.Random, paths: Sequence[str] = ()) -> str:
    """A word that somebody may stumble over, or the path of something that is somebody else's."""
    return rng.choice(paths) if paths and rng.random() < 0.4 else rng.choice(_TEXTS)


def of_bytes(rng: random.Random, data: bytes) -> bytes:
    """One to a few changes that know nothing of what the bytes mean."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at, to = sorted(rng.randrange(len(found) + 1) for _ in "ab")
        to = min(to, at + rng.choice((1, 4, 40, 4000)))
        change = rng.randrange(7)
        if change == 0 and found:
            found[at % len(found)] ^= 1 << rng.randrange(8)
        elif change == 1:
            found[at:at] = rng.choice(_BYTES) * rng.choice((1, 1, 3, 200))
        elif change == 2:
            del found[at:to]
        elif change == 3:
            found[at:at] = found[at:to] * rng.choice((1, 2, 50))
        elif change == 4:
            del found[at:]
        elif change == 5:
            found[at:to] = rng.randbytes(to - at)
        else:
            found[at:to] = number(rng).encode()
    return bytes(found)


def of_numbers(rng: random.Random, content: str) -> str:
    """Some runs of digits in a text become numbers at bounds."""
    parts = _split_numbers(content)
    places = [at for at, part in enumerate(parts) if part[:1].isdigit()]
    for at in rng.sample(places, min(len(places), rng.choice((1, 1, 2, 3)))):
        parts[at] = number(rng)
    return "".join(parts)


def of_lines(rng: random.Random, content: str) -> str:
    """Lines lost, said twice, in another order, joined, indented."""
    lines = content.split("\n")
    for _ in range(rng.choice((1, 2, 3))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        change = rng.randrange(6)
        if change == 0 and len(lines) > 1:
            del lines[at]
        elif change == 1:
            lines[at:at] = [lines[other]] * rng.choice((1, 1, 2, 300))
        elif change == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif change == 3 and at + 1 < len(lines):
            lines[at : at + 2] = [lines[at] + lines[at + 1]]
        elif change == 4:
            lines[at] = rng.choice((" ", "\t", "\\", "\r", "#")) + lines[at]
        else:
            lines[at] += rng.choice(("\\", " ", "=", " # a", "\r", "\x00", "=" * 3000))
    return "\n".join(lines)


# ------------------------------------------------------------------------------------- job files


@functools.cache
def _options() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Name, kind and words of every option that fio has, aliases too."""
    from flashtwin.fio.language.table import by_name

    return tuple(
        (name, row.kind.name, tuple(getattr(row.kind, "words", ())))
        for name, row in sorted(by_name().items())
    )


def option(rng: random.Random, paths: Sequence[str] = ()) -> str:
    """A line `option=value`, its value one of its words, a number at a bound, a path, or odd."""
    name, _, words = rng.choice(_options())
    draw = rng.random()
    if words and draw < 0.5:
        value = rng.choice(words)
        if rng.random() < 0.3:
            value += ":" + text(rng, paths)
    elif draw < 0.1:
        return name
    else:
        value = number(rng) if draw < 0.6 else text(rng, paths)
    return f"{name}={value}"


def job_file(rng: random.Random, paths: Sequence[str] = ()) -> bytes:
    """A job file that was right, changed by what knows jobs, lines, numbers or nothing."""
    content = rng.choice(_contents(".fio")).decode()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.random()
        if change < 0.45:
            lines = content.split("\n")
            for _ in range(rng.choice((1, 1, 2, 5))):
                lines.insert(rng.randrange(len(lines) + 1), option(rng, paths))
            content = "\n".join(lines)
        elif change < 0.65:
            content = of_numbers(rng, content)
        elif change < 0.8:
            content = of_lines(rng, content)
        elif change < 0.85:
            content += "\n" + rng.choice(_contents(".fio")).decode()
        elif change < 0.88:
            content += f"\n[{text(rng)}]\ninclude {text(rng, paths)}\n"
        else:
            content = of_bytes(rng, content.encode("utf-8", "surrogateescape")).decode(
                "utf-8", "surrogateescape"
            )
    return content.encode("utf-8", "surrogateescape")


def job_words(rng: random.Random, paths: Sequence[str] = ()) -> list[str]:
    """Words of a command line in fio's language; a shell hands over anything but NUL."""
    words = [f"--name={text(rng) if rng.random() < 0.2 else 'a'}", "--rw=randread", "--size=1m"]
    for _ in range(rng.choice((1, 1, 2, 4))):
        dash = rng.choice(("--", "--", "--", "-", ""))
        word = dash + option(rng, paths)
        if "write_" in word and "/" in word:
            continue  # A log may go wherever somebody types.
        parts = word.split("=", 1) if rng.random() < 0.1 else [word]
        at = rng.randrange(len(words) + 1)
        words[at:at] = parts
    return [word.replace("\0", "") for word in words]


# ---------------------------------------------------------------------------------------- traces


def trace(rng: random.Random, paths: Sequence[str] = ()) -> tuple[bytes, str]:
    """A trace, mutated three times in four, and the format that it is in."""
    form = rng.choice(FORMS)
    if form == "iolog":
        made = _iolog(rng, paths)
    elif form == "blkparse":
        made = _blkparse(rng)
    else:
        made = _rows(rng, form)
    changes: list[Callable[[str], bytes]] = [
        lambda told: told.encode(),
        lambda told: of_numbers(rng, told).encode(),
        lambda told: of_lines(rng, told).encode(),
        lambda told: of_bytes(rng, told.encode()),
    ]
    return rng.choice(changes)(made), form


def _iolog(rng: random.Random, paths: Sequence[str]) -> str:
    names = ["a", "b"] + ([text(rng, paths)] if rng.random() < 0.2 else [])
    version = rng.choice((2, 2, 2, 3, 1, 9))
    lines = [f"fio version {version} iolog"]
    stamp = 0
    for name in names:
        lines += [f"{name} add", f"{name} open"]
    for _ in range(rng.choice((0, 3, 30))):
        stamp += rng.choice((0, 1, 1000, 10**6))
        lead = f"{stamp} " if version == 3 else ""
        what = rng.choice(("read", "write", "trim", "read", "write", "sync", "wait", "datasync"))
        bounds = rng.choice(
            (f"{rng.randrange(1000) * 4096} {rng.choice((512, 4096, 1 << 20))}", "0 0")
        )
        lines.append(f"{lead}{rng.choice(names)} {what} {bounds}")
    lines += [f"{name} close" for name in names]
    return "\n".join(lines) + "\n"


def _blkparse(rng: random.Random) -> str:
    return "".join(
        f"  8,{rng.choice((0, 0, 1))}    {rng.choice((0, 1))} {row:8d}     {row // 900}."
        f"{row % 900:06d}000  4711  {rng.choice('QGDCD')}  "
        f"{rng.choice(('R', 'WS', 'D', 'FWS', 'N'))} "
        f"{rng.randrange(10**6)} + {rng.choice((0, 8, 2048))} [x]\n"
        for row in range(rng.choice((1, 5, 40)))
    )


# Traces of a line a request: a heading, and a line of a time in microseconds, disk, R or W, first
# sector and sectors.
ROWS: dict[str, tuple[str, Callable[[int, int, str, int, int], str]]] = {
    "msr": (
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        lambda us, disk, way, lba, size: (
            f"{128166372003061629 + 10 * us},hm,{disk},{'Read' if way == 'R' else 'Write'},"
            f"{lba * 512},{size * 512},100"
        ),
    ),
    "systor": (
        "Timestamp,Response,IOType,LUN,Offset,Size",
        lambda us, disk, way, lba, size: (
            f"{1700000000 + us / 1e6:.9f},0.0001,{way},{disk},{lba * 512},{size * 512}"
        ),
    ),
    "alibaba": (
        "device_id,opcode,offset,length,timestamp",
        lambda us, disk, way, lba, size: (
            f"{disk},{way},{lba * 512},{size * 512},{1700000000000000 + us}"
        ),
    ),
    "tencent": (
        "Timestamp,Offset,Size,IOType,VolumeID",
        lambda us, disk, way, lba, size: (
            f"{1538323200 + us // 10**6},{lba},{size},{'RW'.index(way)},{disk}"
        ),
    ),
    "fiu": (
        "",
        lambda us, disk, way, lba, size: f"{us * 1000} 1 sh {lba} {size} {way} 8 {disk} 56f11b",
    ),
    "spc": (
        "ASU,LBA,Size,Opcode,Timestamp",
        lambda us, disk, way, lba, size: f"{disk},{lba},{size * 512},{way},{us / 1e6:.6f}",
    ),
    "disksim": (
        "",
        lambda us, disk, way, lba, size: f"{us / 1e3:.6f} {disk} {lba} {size} {'WR'.index(way)}",
    ),
    "mqsim": (
        "",
        lambda us, disk, way, lba, size: f"{us * 1000} {disk} {lba} {size} {'WR'.index(way)}",
    ),
    "vscsi": (
        "#Vscsi Cmd Trace. (Trace Format Version 1)",
        lambda us, disk, way, lba, size: (
            f"{2147483692 + disk},{size * 512},1,{'read' if way == 'R' else 'write'},{lba},{us}"
        ),
    ),
    "biosnoop": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)",
        lambda us, disk, way, lba, size: (
            f"{us / 1e6:.6f} my app 1 sd{'ab'[disk]} {way} {lba} {size * 512} 0.75"
        ),
    ),
}
FORMS = ("iolog", "blkparse", *ROWS)


def _rows(rng: random.Random, form: str) -> str:
    heading, line = ROWS[form]
    lines = [heading] if heading and rng.random() < 0.7 else []
    for row in range(rng.choice((1, 5, 40))):
        us = 1_000_000 * row + rng.randrange(2_000_000)
        sectors = rng.choice((0, 1, 8, 8, 2048))
        lines.append(line(us, rng.choice((0, 1)), rng.choice("RW"), rng.randrange(10**5), sectors))
    return "\n".join(lines) + "\n"


# ----------------------------------------------------------------------------------------- specs


@functools.cache
def _keys() -> tuple[str, ...]:
    """Keys of the format with their sections, from the published schema."""
    import json

    told = json.loads((ROOT / "docs" / "reference" / "spec.schema.json").read_text())
    found = []
    for section, about in told.get("properties", {}).items():
        for key in about.get("properties", {}):
            found.append(f"{section}.{key}")
    return tuple(sorted(found)) or ("drive.capacity",)


_VALUES = (
    "1 GB",
    "0 GB",
    "4 KiB",
    "100 us",
    "0 us",
    "1e9 s",
    "true",
    "false",
    "none",
    "auto",
    "[]",
)


def spec(rng: random.Random) -> bytes:
    """A spec that was right, or one that extends a drive, with values at bounds."""
    if rng.random() < 0.4:
        rows = [spec_set(rng).partition("=") for _ in range(rng.choice((1, 2, 5)))]
        lines = ['extends = "bx500-240"', "schema = 1", 'id = "x"', f'name = "{text(rng)}"']
        lines += [f"{key} = {value}" for key, _, value in rows]
        content = "\n".join(lines) + "\n"
    else:
        content = rng.choice(_contents(".toml")).decode()
    change = rng.random()
    if change < 0.35:
        content = of_numbers(rng, content)
    elif change < 0.5:
        content = of_lines(rng, content)
    elif change < 0.6:
        key = rng.choice(_keys())
        content += f"\n{key} = {rng.choice((number(rng), *_VALUES))!r}\n" * rng.choice((1, 2, 3000))
    elif change < 0.65:
        content += "\n" + "a = " + "[" * rng.choice((10, 5000)) + "\n"
    elif change < 0.9:
        return of_bytes(rng, content.encode())
    return content.encode("utf-8", "surrogateescape")


def spec_set(rng: random.Random) -> str:
    """KEY=VALUE for `--set`."""
    key = rng.choice(_keys()) if rng.random() < 0.9 else text(rng)
    value = rng.choice((*_VALUES, number(rng), number(rng), text(rng), f"{number(rng)} GB"))
    return f"{key}={value}".replace("\0", "")


# ----------------------------------------------------------------------------------- conditions

_COLUMNS = (
    "target",
    "seed",
    "state",
    "started",
    "size",
    "path",
    "cache_size",
    "wall_s",
    '"fill.mean"',
)
_ATOMS = (
    *(
        "1",
        "0",
        "-1",
        "NULL",
        "'abc'",
        "''",
        "'2026-01-01'",
        "1e308",
        "1/0",
        "true",
        "9" * 400,
        "'%'",
    ),
    *("target", "seed", "cache_size", "cache_size.low", "nothing", '"', "(", ")", ";", "--", "/*"),
)
_SQL = (
    *("SELECT 1", "(SELECT count(*) FROM runs)", "read_text('/etc/passwd')", "getenv('HOME')"),
    *("1; DROP TABLE runs", "1) OR (1=1", "COPY runs TO 'x'", "ATTACH 'x'", "range(1000000000)"),
    *(
        "repeat('a', 1000000000)",
        "array_agg(target)",
        "count(*)",
        "list_value(1,2)",
        "random() < 0.5",
    ),
    *("exists(select * from range(100000000) a, range(100000000) b)", "target, seed", "true, true"),
    "(WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t) > 1",
    *("regexp_matches(target, '" + "(a+)+" * 20 + "$')", "sniff_csv('x')", "PRAGMA version"),
    *(
        "seed::VARCHAR",
        "error('x')",
        "(" * 2000 + "1" + ")" * 2000,
        "getvariable('x')",
        "nextval('x')",
    ),
)


def condition(rng: random.Random) -> str:
    """What stands after `--where`."""
    if rng.random() < 0.3:
        told = rng.choice(_SQL)
    else:
        parts = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            words = ("=", "<>", "<", ">", "like", "in", "is", "between", "+", "and", "||", "::")
            parts.append(f"{rng.choice(_COLUMNS)} {rng.choice(words)} {rng.choice(_ATOMS)}")
        told = rng.choice((" and ", " or ", " ", ", ", " union ")).join(parts)
    if rng.random() < 0.2:
        told = of_bytes(rng, told.encode()).decode("utf-8", "surrogateescape")
    return told.replace("\0", "")


def _split_numbers(content: str) -> list[str]:
    import re

    return re.split(r"(\d+)", content)
