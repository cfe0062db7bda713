"""Some of `./dev abuse --kind beside`, from seeds that stay: fio's null engine beside a twin."""

from __future__ import annotations

from pathlib import Path

import fio_beside
import pytest
from beside_cases import case
from fio_beside import TRACE, Case
from thinning import thinned

pytestmark = pytest.mark.skipif(fio_beside.FIO is None, reason="fio is not installed")

SEEDS = thinned(range(1, 15), every=4)
JOBS = Path(__file__).parents[1] / "fio" / "jobs"
# What once differed: a job file each, without its section.
DIFFERED = {
    "lfsr-of-two-sizes": "rw=randtrim:12k size=65536 bsrange=4k-8k,8k-8k random_generator=lfsr",
    "trims-and-writes-by-order": (
        "rw=trimwrite size=128k io_size=300k bsrange=4k-16k bs_is_seq_rand=1"
    ),
    "passes-that-go-on": (
        "rw=trimwrite:512 size=300000 io_size=2m bsrange=512-8k ba=16k offset=1000 offset_align=4k"
        " offset_increment=33% numjobs=3 nrfiles=2 randrepeat=0"
    ),
}
# Job files with copies: their requests stand in latency logs, one for each.
COPIES = ("offset-increment-percent", "clones-seq")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_job_file_from_a_seed_asks_for_what_fio_does(seed: int) -> None:
    fio_beside.compare(case(seed))


@pytest.mark.parametrize("name", DIFFERED)
def test_what_once_differed(name: str) -> None:
    lines = [f"[{name}]", "ioengine=null", *DIFFERED[name].split()]
    assert fio_beside.outcome(Case(text="\n".join(lines) + "\n")) == "equal"


def test_a_replay_asks_for_what_fio_does() -> None:
    """What begins or ends within a sector keeps its bytes."""
    trace = "fio version 2 iolog\na add\na open\na write 100000 3000\na read 777 512\na close\n"
    text = f"[replay]\nioengine=null\nread_iolog={TRACE}\nreplay_scale=3\n"
    assert fio_beside.outcome(Case(text=text, trace=trace)) == "equal"


@pytest.mark.parametrize("name", COPIES)
def test_copies_ask_for_what_those_of_fio_do(name: str) -> None:
    assert fio_beside.outcome(Case(text=(JOBS / f"{name}.fio").read_text())) == "equal"
