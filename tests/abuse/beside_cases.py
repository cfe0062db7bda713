"""Job files at random, for real fio and a twin side by side (see `fio_beside`).

`case` makes a small job file from a seed: options of some kinds (`KINDS`, each a function that
draws lines), combined as no person would, or the replay of an iolog that is drawn too.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

from fio_beside import TRACE, Case, outcome


def _modes(draw: random.Random) -> list[str]:
    mode = draw.choice(["read", "write", "trim", "rw", "trimwrite"])
    mode = draw.choice(["", "rand"]) + mode
    every = draw.choice(["", "", "", ":4", ":2", ":8k", ":-8k", ":-4k", ":512", ":-512", ":12k"])
    lines = [f"rw={mode}{every}"]
    if draw.random() < 0.15:
        lines.append(f"rw_sequencer={draw.choice(['sequential', 'identical'])}")
    if draw.random() < 0.15:
        lines.append(f"percentage_random={draw.choice([0, 30, 70])}")
    return lines


def _blocks(draw: random.Random) -> list[str]:
    lines = [
        draw.choice(
            [
                *[
                    "bs=4k",
                    "bs=512",
                    "bs=8k",
                    "bs=16k",
                    "bs=1k,2k,4k",
                    "bs=5k",
                    "bs=3000",
                    "bs=64k",
                ],
                *["bsrange=4k-16k", "bsrange=512-8k", "bsrange=4k-8k,8k-8k", "bsrange=1k-3k"],
                *[
                    "bssplit=4k/50:16k/",
                    "bssplit=4k/10:64k/",
                    "bssplit=4k/:8k/50",
                    "bssplit=8k/:4k/",
                ],
                *["bssplit=4k/60:8k/40,16k/", "bssplit=512/20:5k/80", "bssplit=4k/100"],
            ]
        )
    ]
    if draw.random() < 0.15:
        lines.append(f"ba={draw.choice(['512', '4k', '8k', '16k', '6k', '4k,8k'])}")
    lines += [f"{name}=1" for name in ("bs_unaligned", "bs_is_seq_rand") if draw.random() < 0.1]
    return lines


def _sizes(draw: random.Random) -> list[str]:
    sizes = ["1m", "256k", "300000", "1000k", "100001", "65536", "262145", "512k"]
    lines = [f"size={draw.choice(sizes)}"]
    if draw.random() < 0.25:
        lines = [f"filesize={draw.choice(sizes)}"]
        lines += draw.choice([[], ["size=50%"], ["size=33%"], ["size=128k"], ["size=100%"]])
    if draw.random() < 0.25:
        lines.append(f"io_size={draw.choice(['64k', '2m', '100000', '50%', '300k', '1500k'])}")
    return lines


def _offsets(draw: random.Random) -> list[str]:
    lines = []
    if draw.random() < 0.7:
        offsets = ["4k", "64k", "10%", "33%", "50%", "1000", "5k", "512", "99%", "12345"]
        lines.append(f"offset={draw.choice(offsets)}")
    if draw.random() < 0.3:
        lines.append(f"offset_align={draw.choice(['4k', '512', '64k', '3000'])}")
    if draw.random() < 0.4:
        steps = ["10%", "7%", "33%", "4k", "100000", "64k", "1%"]
        lines += [f"offset_increment={draw.choice(steps)}", f"numjobs={draw.randint(1, 3)}"]
    return lines


def _ends(draw: random.Random) -> list[str]:
    lines = []
    if draw.random() < 0.5:
        lines.append(f"number_ios={draw.choice([1, 2, 7, 50, 301])}")
    if draw.random() < 0.6:
        lines.append(f"loops={draw.choice([2, 3])}")
    return lines


def _files(draw: random.Random) -> list[str]:
    lines = [f"nrfiles={draw.randint(1, 5)}"]
    if draw.random() < 0.5:
        service = ["roundrobin", "sequential", "random", "roundrobin:3", "random:2"]
        laws = ["zipf:1.2", "pareto:0.3", "normal:20"]
        lines.append(f"file_service_type={draw.choice([*service, *laws])}")
    return lines


def _maps(draw: random.Random) -> list[str]:
    lines = [line for line in ("norandommap", "randrepeat=0") if draw.random() < 0.4]
    if draw.random() < 0.3:
        kind = draw.choice(["lfsr", "tausworthe64"])
        lines.append(f"random_generator={kind}")
    if draw.random() < 0.2:
        lines.append(f"random_distribution={draw.choice(['zipf:1.2', 'normal:20', 'pareto:0.3'])}")
    return lines


def _open_files(draw: random.Random) -> list[str]:
    return [f"openfiles={draw.randint(1, 3)}"]


def _syncs(draw: random.Random) -> list[str]:
    every = [name for name in ("fsync", "fdatasync") if draw.random() < 0.5]
    lines = [f"{name}={draw.choice([1, 2, 5, 16])}" for name in every]
    return lines + [f"{name}=1" for name in ("end_fsync", "fsync_on_close") if draw.random() < 0.4]


def _zones(draw: random.Random) -> list[str]:
    lines = [f"zonemode={draw.choice(['strided', 'strided', 'strided', 'none'])}"]
    lines.append(f"zonesize={draw.choice(['16k', '64k', '20k', '512'])}")
    if draw.random() < 0.5:
        lines.append(f"zonerange={draw.choice(['64k', '128k', '16k'])}")
    if draw.random() < 0.5:
        lines.append(f"zoneskip={draw.choice(['4k', '64k', '0'])}")
    return lines


def _paces(draw: random.Random) -> list[str]:
    """Rates that a case keeps within a second, and pauses of some milliseconds together."""
    paces = ["rate=100m", "rate=200m,50m", "rate_iops=20k", "rate_process=poisson\nrate_iops=20k"]
    pauses = ["thinktime=20", "thinktime=100\nthinktime_blocks=7", "thinktime=20\nthinktime_spin=9"]
    return [draw.choice([*paces, *pauses])]


# What a case is drawn from: a name, how often it is there, and the lines that it draws.
Kind = tuple[float, Callable[[random.Random], list[str]]]
KINDS: dict[str, Kind] = {
    "modes": (1.0, _modes),
    "sizes": (1.0, _sizes),
    "blocks": (0.8, _blocks),
    "offsets": (0.5, _offsets),
    "ends": (0.3, _ends),
    "files": (0.2, _files),
    "maps": (0.25, _maps),
    "openfiles": (0.15, _open_files),
    "syncs": (0.2, _syncs),
    "zones": (0.15, _zones),
    "paces": (0.1, _paces),
}


# So many cases replay an iolog.
REPLAYS = 0.1


def case(seed: int, kinds: Collection[str] | None = None) -> Case:
    """The case of a seed; `kinds` are those that it may be drawn from (all without)."""
    draw = random.Random(seed)
    lines = [f"[case{seed}]", "ioengine=null"]
    if ("replays" in kinds) if kinds else draw.random() < REPLAYS:
        return Case(text="\n".join([*lines, *_replay(draw)]) + "\n", trace=_iolog(draw))
    for name, (share, kind) in KINDS.items():
        if kinds is None or name in kinds:
            there = share == 1.0 or draw.random() < share
            lines += kind(draw) if there else []
    if any(line.startswith(("rw=rw", "rw=randrw")) for line in lines):
        # Which direction waits for its rate, real time decides.
        lines = [line for line in lines if "rate_iops" not in line and "rate=" not in line]
    return Case(text="\n".join(lines) + "\n")


def _replay(draw: random.Random) -> list[str]:
    """Options of a replay, and some of those that do nothing for one."""
    shapes = ["replay_scale=2", "replay_scale=3", "replay_scale=0", "replay_align=512"]
    shapes += ["replay_align=4k", "replay_redirect=else", "replay_no_stall=1"]
    shapes += ["replay_time_scale=200", "replay_time_scale=50", "numjobs=2", "read_iolog_chunked=1"]
    idle = ["loops=2", "number_ios=3", "size=8k", "io_size=4k", "bs=512", "rw=randwrite", "fsync=1"]
    idle += ["nrfiles=3", "offset=4k", "rate=1m", "thinktime=10", "randrepeat=0", "rw=trimwrite"]
    chosen = draw.sample(shapes, draw.choice([0, 1, 2])) + draw.sample(idle, draw.choice([0, 0, 1]))
    return [f"read_iolog={TRACE}", *chosen]


def _iolog(draw: random.Random) -> str:
    """An iolog of some milliseconds; without trims, which fio 3.33 leaves out."""
    version, names, lines, stamp = draw.choice([2, 3]), draw.choice([["a"], ["a", "b"]]), [], 0
    words = [f"{name} {act}" for act in ("add", "open") for name in names]
    for _ in range(draw.choice([1, 5, 40])):
        what = draw.choice(["read", "write", "read", "write", "read", "write", "sync", "datasync"])
        place = draw.choice([draw.randrange(256) * 4096, draw.randrange(1 << 20)])
        size = draw.choice([512, 4096, 4096, 65536, 3000, draw.randint(1, 100_000)])
        bounds = "0 0" if "sync" in what else f"{place} {size}"
        words.append(f"{draw.choice(names)} {what} {bounds}")
        if version == 2 and draw.random() < 0.1:
            words.append(f"{draw.choice(names)} wait {draw.randrange(3)} 0")
    words += [f"{name} close" for name in names]
    for line in words:
        stamp += draw.randrange(200)
        lines.append(line if version == 2 else f"{stamp} {line}")
    return "\n".join([f"fio version {version} iolog", *lines]) + "\n"


def _read(path: Path) -> Case:
    """A job file, and the iolog beside it."""
    trace = path.with_name(TRACE)
    return Case(text=path.read_text(), trace=trace.read_text() if trace.is_file() else "")


def main(words: list[str]) -> int:
    """Cases by seed: `N` or `FROM-TO [KIND…]`, or job files; prints what differs."""
    differ: list[str] = []
    told: Counter[str] = Counter()
    first, *kinds = words
    if Path(first).is_file():
        cases = [_read(Path(name)) for name in words]
    else:
        low, _, high = first.partition("-")
        cases = [case(seed, kinds or None) for seed in range(int(low), int(high or low) + 1)]
    for one in cases:
        try:
            told[outcome(one).splitlines()[0]] += 1
        except AssertionError as found:
            differ.append(str(found))
            print(found, flush=True)
    for what, count in told.most_common():
        print(f"{count:6} {what}")
    print(f"{len(cases)} cases, {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
