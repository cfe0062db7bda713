"""crystaldiskmark follows the tool: cells, order, counts, times, scoring."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import GB, FakeDrive, Law, labels, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.crystaldiskmark.score import Cell, Scoring, score
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import Fill, JobTotals, Mark, NotPossible, Purge, Rest, Result, Run, Step
from flashtwin.model.target import DriveInfo, Watch

ARTICLE = [
    "SEQ1M-Q8T1",
    "RND4K-Q1T1",
    "RND4K-Q1T2",
    "RND4K-Q1T4",
    "RND4K-Q1T8",
    "RND4K-Q1T16",
]

GIB = {"size": "1GiB"}


def play(drive: FakeDrive | None = None, **parameters: str) -> tuple[list[Step], list[Finding]]:
    drive = drive or FakeDrive()
    request = registry.request("crystaldiskmark", parameters)
    return played(request, drive)


def cells(steps: list[Step]) -> list[tuple[str, str]]:
    """(cell, direction) in order, once each."""
    seen: list[tuple[str, str]] = []
    for step in steps:
        if isinstance(step, Run):
            _, cell, direction, _ = step.label.split("/")
            if (cell, direction) not in seen:
                seen.append((cell, direction))
    return seen


class Scaled(FakeDrive):
    """A drive on paper that is `scale` times smaller than the one that it stands for."""

    scale = 1

    @property
    def info(self) -> DriveInfo:
        info = super().info
        return replace(info, identity={**info.identity, "scale": self.scale})


def test_all_reads_then_all_writes_then_all_mixes() -> None:
    steps, _ = play()
    assert cells(steps) == [(c, d) for d in ("read", "write", "mix") for c in ARTICLE]


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("article", ARTICLE),
        ("default", ["SEQ1M-Q8T1", "SEQ1M-Q1T1", "RND4K-Q32T1", "RND4K-Q1T1"]),
        ("nvme", ["SEQ1M-Q8T1", "SEQ128K-Q32T1", "RND4K-Q32T16", "RND4K-Q1T1"]),
        ("real", ["SEQ1M-Q1T1", "RND4K-Q1T1"]),
    ],
)
def test_the_profiles_are_the_tools(profile: str, expected: list[str]) -> None:
    steps, _ = play(profile=profile, mix="off")
    assert cells(steps) == [(c, d) for d in ("read", "write") for c in expected]


def test_each_cell_runs_once_unscored_then_its_loops_for_five_seconds() -> None:
    steps, _ = play(profile="real", mix="off")
    assert list(labels(steps)) == [
        "cdm/purge",
        "cdm/prepare",
        *(f"cdm/SEQ1M-Q1T1/read/{name}" for name in ("warm", "1", "2", "3")),
        "cdm/rest-1",
        *(f"cdm/RND4K-Q1T1/read/{name}" for name in ("warm", "1", "2", "3")),
        "cdm/rest-2",
        *(f"cdm/SEQ1M-Q1T1/write/{name}" for name in ("warm", "1", "2", "3")),
        "cdm/rest-3",
        *(f"cdm/RND4K-Q1T1/write/{name}" for name in ("warm", "1", "2", "3")),
    ]
    assert {step.jobs[0].runtime_s for step in steps if isinstance(step, Run)} == {5.0}
    assert {step.seconds for step in steps if isinstance(step, Rest)} == {5.0}


def test_the_articles_two_runs_a_cell_and_the_tools_three() -> None:
    def scored(**parameters: str) -> int:
        steps, _ = play(None, mix="off", **parameters)
        return sum(step.label.startswith("cdm/SEQ1M-Q8T1/read/") for step in steps) - 2

    # Two less: the unscored run and the mark that carries the findings.
    assert scored() == 2
    assert scored(profile="default") == 3
    assert scored(loops="7") == 7


def test_the_file_is_written_once_in_mebibytes_at_the_start_of_an_erased_drive() -> None:
    steps, _ = play(mix="off")
    purge, prepare = steps[:2]
    assert isinstance(purge, Purge)
    assert isinstance(prepare, Fill)
    assert (prepare.offset, prepare.size, prepare.block_bytes, prepare.depth) == (
        0,
        1 << 30,
        1 << 20,
        1,
    )
    assert sum(isinstance(step, Fill) for step in steps) == 1


@pytest.mark.parametrize(
    ("capacity", "kind", "scale", "mib"),
    [
        (240 * GB, "twin", 1, 1024),
        (15 * GB, "twin", 1, 1024),
        (15 * GB, "twin", 16, 64),
        (2 * GB, "twin", 512, 16),
        (4 * GB, "file", 1, 1024),
        (10**9, "file", 1, 512),
    ],
)
def test_the_file_fits_a_scaled_drive_and_a_small_file(
    capacity: int, kind: str, scale: int, mib: int
) -> None:
    drive = Scaled(law=Law(capacity_bytes=capacity), kind=kind)
    drive.scale = scale
    request = registry.request("crystaldiskmark", {"profile": "real", "mix": "off"})
    steps, _ = played(request, drive)
    (prepare,) = [step for step in steps if isinstance(step, Fill)]
    assert prepare.size == mib << 20
    departures = request.battery.departures(request.parameters, drive.info)
    assert any("instead of 1 GiB" in text for text in departures) == (mib < 1024)


def test_a_drive_in_use_is_filled_first_and_the_file_lies_behind() -> None:
    drive = FakeDrive(law=Law(capacity_bytes=240 * GB))
    steps, _ = play(drive, fill_percent="50", mix="off", profile="real")
    purge, fill, settle, prepare = steps[:4]
    assert isinstance(purge, Purge)
    assert isinstance(fill, Fill) and isinstance(prepare, Fill) and isinstance(settle, Rest)
    assert fill.offset == 0 and fill.size == 120 * GB // (1 << 20) * (1 << 20)
    assert settle.seconds == 600
    assert prepare.offset == fill.size
    assert {step.jobs[0].offset for step in steps if isinstance(step, Run)} == {fill.size}


def test_jobs_are_what_the_cell_says() -> None:
    steps, _ = play()
    jobs = {step.label: step.jobs[0] for step in steps if isinstance(step, Run)}
    write = jobs["cdm/RND4K-Q1T16/write/1"]
    assert (write.rw, write.block_bytes, write.depth, write.threads) == ("randwrite", 4096, 1, 16)
    assert (write.size, write.host_ns, write.shared_stream) == (1 << 30, 30_000, False)
    assert jobs["cdm/SEQ1M-Q8T1/read/warm"].rw == "read"
    mixed = jobs["cdm/RND4K-Q1T1/mix/2"]
    assert (mixed.rw, mixed.read_percent) == ("randrw", 70)
    assert jobs["cdm/SEQ1M-Q8T1/mix/1"].rw == "rw"
    seeds = {job.seed for label, job in jobs.items() if label.startswith("cdm/RND4K-Q1T1/read")}
    assert len(seeds) == 3


def test_kdiskmark_has_no_unscored_run_five_loops_and_one_pass_a_run() -> None:
    steps, _ = play(variant="kdiskmark", profile="nvme", mix="off")
    runs = [step for step in steps if isinstance(step, Run)]
    first = [step.label for step in runs if "SEQ128K-Q32T1/read" in step.label]
    assert first == [f"cdm/SEQ128K-Q32T1/read/{n}" for n in range(1, 6)]
    by_label = {step.label: step.jobs[0] for step in runs}
    assert by_label["cdm/SEQ1M-Q8T1/read/1"].io_bytes == 1 << 30
    assert by_label["cdm/RND4K-Q32T16/read/1"].io_bytes == 16 << 30


def totals(bytes_: int, latency_us: float, *, ios: int = 1000, errors: int = 0) -> JobTotals:
    return JobTotals(
        name="x",
        ios=ios,
        bytes=bytes_,
        duration_ns=5 * 10**9,
        latency_mean_ns=latency_us * 1000,
        latency_min_ns=1,
        latency_max_ns=10**9,
        mean_depth=1.0,
        errors=errors,
    )


CELL = Cell(sequential=False, block_bytes=4096, depth=1, threads=1)
RUNS = [
    ("one", totals(500_000_000, 50.0)),
    ("two", totals(1_000_000_000, 45.0, ios=2000)),
    ("three", totals(750_000_000, 40.0)),
]


def test_the_score_is_the_best_run_and_the_latency_the_least_mean() -> None:
    speed, latency, rate = score(CELL, "write", RUNS, Scoring())
    assert (speed.id, speed.value, speed.unit) == (
        "crystaldiskmark.write[RND4K-Q1T1]",
        200.0,
        "MB/s",
    )
    assert (speed.low, speed.high) == (100.0, 200.0)
    assert speed.evidence is not None and speed.evidence.label == "two"
    assert (latency.id, latency.value) == ("crystaldiskmark.write.latency[RND4K-Q1T1]", 40.0)
    assert latency.unit == "us" and "least mean" in (latency.note or "")
    assert latency.evidence is not None and latency.evidence.label == "three"
    assert (rate.id, rate.value, rate.unit) == (
        "crystaldiskmark.write.iops[RND4K-Q1T1]",
        400.0,
        "IOPS",
    )


def test_kdiskmark_scores_the_mean_in_its_own_megabytes() -> None:
    speed, latency, _ = score(CELL, "write", RUNS, Scoring(mean=True))
    assert speed.value == pytest.approx(150e6 / 1024 / 1000, rel=1e-5)
    assert "mean of the runs" in (speed.note or "")
    assert latency.value == pytest.approx(45.0)


def test_failed_requests_are_told_and_empty_runs_left_out() -> None:
    broken = [("one", totals(500_000_000, 50.0, errors=3)), ("none", totals(0, 0.0, ios=0))]
    speed, *_ = score(CELL, "read", broken, Scoring())
    assert speed.value == 100.0
    assert "3 requests failed" in (speed.note or "")
    assert score(CELL, "read", broken[1:], Scoring()) == []


class WarmIsFast(FakeDrive):
    """Nine times as fast in the runs that do not count."""

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        answer = super().do(step, watch)
        if step.label.endswith("/warm") and isinstance(answer, Result):
            fast = replace(answer.jobs[0], bytes=answer.jobs[0].bytes * 9)
            return replace(answer, jobs=(fast,))
        return answer


def test_the_unscored_run_does_not_score() -> None:
    _, found = play(profile="real", mix="off")
    _, same = play(WarmIsFast(), profile="real", mix="off")
    assert same == found


def test_findings_of_every_cell_and_direction() -> None:
    steps, found = play()
    expected = [
        f"crystaldiskmark.{direction}{suffix}[{cell}]"
        for direction in ("read", "write", "mix")
        for cell in ARTICLE
        for suffix in ("", ".latency", ".iops")
    ]
    assert [one.id for one in found] == expected
    assert sum(isinstance(step, Mark) for step in steps) == len(found) // 3


@pytest.mark.parametrize(
    ("capacity", "parameters", "message"),
    [
        (
            512 << 20,
            {"size": "1GiB"},
            "a test file of 1.074 GB does not fit on paper: 536.9 MB are left",
        ),
        (
            4 << 30,
            {"size": "1GiB", "fill_percent": "80"},
            "does not fit on paper past the filled part",
        ),
        (4 << 30, {"size": "64KiB"}, "a test file of 64KiB is too small"),
    ],
)
def test_a_target_that_does_not_suit_is_refused(
    capacity: int, parameters: dict[str, str], message: str
) -> None:
    drive = FakeDrive(law=Law(capacity_bytes=capacity))
    with pytest.raises(FlashtwinError, match=message) as error:
        play(drive, **parameters)
    assert error.value.exit_code == 2 and error.value.hint
    assert drive.done == []
