"""Job files on a twin and in real fio with its null engine: the same requests.

What is decided (counts, bytes, sequential offsets, every block once) has to be equal; what is drawn
has to come from the same distribution, by chi-square at 1 %. Both sides draw from fixed seeds, so
an answer does not change from run to run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abuse.fio_beside import DIRECTIONS, Stream, logged, read_log, stream_of
from scipy import stats
from thinning import thinned

from flashtwin.catalogue.loader import load
from flashtwin.fio.language.script import script
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.fio.report.formats import Shape, rendered
from flashtwin.fio.report.groups import all_of
from flashtwin.fio.run import FioTwin, run_plan

FIO = shutil.which("fio")
pytestmark = pytest.mark.skipif(FIO is None, reason="fio is not installed")

JOBS = Path(__file__).parent / "jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.fio"))
# With these fio is busy for a second.
LONG = ("percent-random", "ragged-rand", "zones-short")
ENVIRONMENT = {"BLOCK": "8k"}
LEVEL = 0.01
BINS = 16
# Where popular blocks lie is each generator's own; how popular they are is not.
BY_RANK = ("zipf", "zipf-flat", "pareto")
# Real time decides how many requests there are.
TIMED = ("rate-directions",)
# What the copies of a job write into one iolog cannot be told apart.
SHARED_LOG = (
    *("clones-seq", "clones-rand-grouped", "offset-increment-percent"),
    *("wait-for", "wait-for-one"),
)


# Jobs that are waited for by name: fio takes no second job of that name in one start.
ALONE = ("wait-for", "wait-for-one")
AT_ONCE = 16

Answer = tuple[dict[str, Any], list[Stream]]


@pytest.fixture(scope="module")
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Answer]:
    """fio's JSON of a job file and the streams that its iologs tell; one start of fio for several
    of the files that this run of the tests asks for, one after another."""
    cases = [item for item in request.session.items if item.parent == request.node]
    names = {case.callspec.params["name"] for case in cases if isinstance(case, pytest.Function)}
    together = sorted(names - set(ALONE))
    batches = [[name] for name in ALONE]
    batches += [together[at : at + AT_ONCE] for at in range(0, len(together), AT_ONCE)]
    answers: dict[str, Answer] = {}

    def answer(name: str) -> Answer:
        if name not in answers:
            batch = next(batch for batch in batches if name in batch)
            answers.update(fio_answers(batch, tmp_path_factory.mktemp("fio")))
        return answers[name]

    return answer


def fio_answers(names: Sequence[str], folder: Path) -> dict[str, Answer]:
    logs = {name: with_iologs(name, folder) for name in names}
    shutil.copy(JOBS / "shared.inc", folder)
    out = subprocess.run(
        [str(FIO), "--output-format=json", *(f"{name}.fio" for name in names)],
        cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, **ENVIRONMENT},
    ).stdout  # fmt: skip
    jobs = json.loads(out[out.index("{") :])["jobs"]
    answers = {}
    for name in names:
        own = [job for job in jobs if job["job options"]["write_iolog"] in logs[name]]
        streams = [] if name in SHARED_LOG else [read_log(folder / log) for log in logs[name]]
        for job, stream in zip(own if streams else [], streams, strict=True):
            if len(stream.rows) > sum(job[one]["total_ios"] for one in DIRECTIONS):
                # fio logs a request anew that its engine had no room for.
                stream.rows = [row for row, _ in groupby(stream.rows)]
        answers[name] = ({"jobs": own}, streams)
    return answers


def with_iologs(name: str, folder: Path) -> list[str]:
    """Copy a job file, each of whose jobs then logs its requests; the names of the logs."""
    text = (JOBS / f"{name}.fio").read_text()
    sections = [line for line in text.splitlines() if line.startswith("[") and line != "[global]"]
    logs = [f"{name}.{number}.log" for number in range(len(sections))]
    for section, log in zip(sections, logs, strict=True):
        text = text.replace(f"\n{section}\n", f"\n{section}\nwrite_iolog={log}\n")
    (folder / f"{name}.fio").write_text(text)
    return logs


def simulated(name: str, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """The same of a twin."""
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)
    read = script([str(JOBS / f"{name}.fio")])
    spec = load("bx500-240", scale="1/16")
    made = logged(plan(read.jobs, Target(name="bx500-240", bytes=spec.capacity_bytes)))
    phases = run_plan(FioTwin(spec, seed=1), made, lambda progress: True)
    rows = [pair for one in phases for pair in one.ran]
    told = all_of(phases)
    answer: dict[str, Any] = json.loads(rendered(told, Shape(formats=("json",))))
    rows.sort(key=lambda pair: pair[0].clone.thread)
    return answer, [stream_of(row["requests"]) for _, row in rows]


@pytest.mark.parametrize(
    "name",
    [
        *thinned([name for name in NAMES if name not in LONG], every=5),
        *(pytest.param(name, marks=pytest.mark.full) for name in LONG),
    ],
)
def test_the_same_requests(
    name: str, real: Callable[[str], Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, their_streams = real(name)
    ours, our_streams = simulated(name, monkeypatch)
    assert [job["jobname"] for job in ours["jobs"]] == [job["jobname"] for job in theirs["jobs"]]
    for mine, its in zip(ours["jobs"], theirs["jobs"], strict=True):
        same_shape(mine, its, "")
        if name not in TIMED:
            same_totals(name, mine, its)
    if name in SHARED_LOG:
        return
    for mine_stream, its_stream in zip(our_streams, their_streams, strict=True):
        if name in TIMED:
            n = min(len(mine_stream.rows), len(its_stream.rows))
            mine_stream, its_stream = (Stream(one.rows[:n]) for one in (mine_stream, its_stream))
        same_stream(name, mine_stream, its_stream)


def same_shape(mine: Any, its: Any, where: str) -> None:
    """The same keys, in the same order, with values of the same types."""
    if where in (".job options", ".read.clat_ns.percentile", ".write.clat_ns.percentile"):
        return
    if isinstance(its, dict):
        # Percentiles are there where something was counted, by chance not on both sides.
        keys = [[key for key in one if key != "percentile"] for one in (mine, its)]
        assert keys[0] == keys[1], f"{where}: {keys[0]} is not {keys[1]}"
        for key in keys[0]:
            same_shape(mine[key], its[key], f"{where}.{key}")
    else:
        assert type(mine) is type(its), f"{where}: {mine!r} beside {its!r}"


def same_totals(name: str, mine: Mapping[str, Any], its: Mapping[str, Any]) -> None:
    """Requests and bytes: equal, or where sizes and directions are drawn alike in sum."""
    ios = [[job[one]["total_ios"] for one in DIRECTIONS] for job in (mine, its)]
    sizes = [[job[one]["io_bytes"] for one in DIRECTIONS] for job in (mine, its)]
    if "mix" in name or name.startswith(("block-", "rand-mix", "zoned-directions")):
        # One request more or less of the largest size.
        assert abs(sum(sizes[0]) - sum(sizes[1])) <= 3 * 65536 + 0.05 * sum(sizes[1])
        assert_alike(np.array(ios), f"{name}: directions")
    else:
        assert ios[0] == ios[1]
        assert sizes[0] == sizes[1]
    # Which request is a write is drawn; over seeds the count of syncs has a deviation of 7 %, ours
    # and fio's alike, so that two counts differ by less than three deviations of their difference.
    assert abs(mine["sync"]["total_ios"] - its["sync"]["total_ios"]) <= (
        0.3 * its["sync"]["total_ios"] if "mix" in name else 0
    )


def same_stream(name: str, mine: Stream, its: Stream) -> None:
    """Equal in order; or the same requests in another order; or the same distributions."""
    if mine.rows == its.rows or Counter(mine.rows) == Counter(its.rows):
        return
    for direction in DIRECTIONS:
        pair = [[row for row in one.rows if row[1] == direction] for one in (mine, its)]
        jumps = [jumps_of(rows) for rows in pair]
        if len(jumps[1]) <= 1:
            # In order: only how many there are and how long each is may have been drawn.
            assert len(jumps[0]) <= 1, f"{name}: {jumps[0][:3]} does not follow"
            if len({row[3] for row in pair[1]}) > 1:
                sizes = counts_of([[row[3] for row in rows] for rows in pair])
                assert_alike(sizes, f"{name}: sizes")
                continue
            n = min(map(len, pair))
            assert pair[0][:n] == pair[1][:n], f"{name}: {pair[0][:6]} … is not {pair[1][:6]} …"
        elif all(len(rows) >= 5 * BINS for rows in pair):
            assert_alike(counts_of([[row[3] for row in rows] for rows in pair]), f"{name}: sizes")
            moves = np.array(
                [[len(jump), len(rows) - len(jump)] for jump, rows in zip(jumps, pair, strict=True)]
            )
            assert_alike(moves, f"{name}: jumps")
            places = [np.array([row[2] for row in rows]) for rows in jumps]
            if name in BY_RANK:
                assert_alike(ranks(places), f"{name}: ranks")
            else:
                assert_alike(binned(places), f"{name}: offsets")
    assert_alike(counts_of([[row[0] for row in one.rows] for one in (mine, its)]), f"{name}: files")


def jumps_of(rows: list[tuple[int, str, int, int]]) -> list[tuple[int, str, int, int]]:
    """The requests that neither follow the last one of their file nor repeat it."""
    last: dict[int, tuple[int, int]] = {}
    found = []
    for row in rows:
        file, _, offset, size = row
        if offset not in last.get(file, ()):
            found.append(row)
        last[file] = (offset, offset + size)
    return found


def counts_of(pair: list[list[int]]) -> Any:
    """How often each value comes on each side; rare ones together."""
    values = sorted(set(pair[0]) | set(pair[1]))
    counts = np.array([[Counter(side)[value] for value in values] for side in pair])
    if len(values) > BINS:
        edges = np.array_split(np.arange(len(values)), BINS)
        counts = np.stack([counts[:, one].sum(axis=1) for one in edges], axis=1)
    rare = counts.sum(axis=0) < 10
    if rare.any() and not rare.all():
        counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    return counts[:, counts.sum(axis=0) > 0]


def binned(places: list[Any]) -> Any:
    """Offsets in bins of equal width over what either side touches."""
    top = max(int(one.max()) for one in places) + 1
    return np.array([np.histogram(one, bins=BINS, range=(0, top))[0] for one in places])


def ranks(places: list[Any]) -> Any:
    """How many requests the most, second most, … popular blocks got, in groups of about a tenth."""
    spectra = [np.sort(np.unique(one, return_counts=True)[1])[::-1] for one in places]
    edges = (0, 1, 4, 16, 64, 256, 1024, 1 << 30)
    return np.array(
        [[int(one[low:high].sum()) for low, high in pairwise(edges)] for one in spectra]
    )


def assert_alike(counts: Any, what: str) -> None:
    """Two rows of counts from one distribution, at 1 %."""
    used = counts[:, counts.sum(axis=0) > 0]
    if used.shape[1] > 1:
        found = stats.chi2_contingency(used).pvalue
        assert found >= LEVEL, f"{what}: p = {found:.2g} for {used.tolist()}"
