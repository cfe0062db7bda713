"""Tables and fio's logs: which columns are read, what is refused by its line, how much memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from thinning import thinned

from flashtwin.errors import FlashtwinError
from flashtwin.study.infer.infer import infer
from flashtwin.study.infer.pauses import without_pauses
from flashtwin.study.infer.read import Choices, read, read_all
from flashtwin.study.infer.read.series import MOST
from flashtwin.study.infer.samples import Samples

RATES = [*[3000.0] * 40, *[500.0] * 200]
TOTAL = sum(RATES) * 1e6


def written(tmp_path: Path, text: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@dataclass(frozen=True, kw_only=True)
class At:
    """A row: second `n`, rate `r` in MB/s, time of day `t` on a `day`, bytes `b` so far in GB."""

    n: int
    r: float
    t: str
    day: int
    b: float


Row = Callable[[At], str]


def plain(at: At) -> str:
    return f"{at.n},{at.r}"


def table(header: str, row: Row) -> str:
    """A header, and a row for each of `RATES`; the first minute is the last one of a day."""
    rows, done = [], 0.0
    for n, r in enumerate(RATES, 1):
        done += r / 1000
        day, second = divmod(86_340 + n, 86_400)
        t = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        rows.append(row(At(n=n, r=r, t=t, day=1 + day, b=done)))
    return "\n".join([header, *rows])


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("read_MB_s,write_MB_s,second", lambda at: f"{at.n / 100},{at.r},{at.n}"),
        ("avg_latency_ms,elapsed_s,write_MB_s", lambda at: f"{at.n / 7},{at.n},{at.r}"),
        ("block_size_KB,second,write_MB_s", lambda at: f"128,{at.n},{at.r}"),
        ("second,block_size_KB,write_MB_s", lambda at: f"{at.n},128,{at.r}"),
        ("second,write Mbps", lambda at: f"{at.n},{at.r * 8}"),
        ("time_min,write MB/s", lambda at: f"{at.n / 60},{at.r}"),
        ("epoch,write MB/S", lambda at: f"{1777000000 + at.n},{at.r}"),
        ("second,write Mb/s", lambda at: f"{at.n},{at.r * 8}"),
        ("second,write Mbit/s", lambda at: f"{at.n},{at.r * 8}"),
        ("second,write Gbps", lambda at: f"{at.n},{at.r / 125}"),
        ("second;write MB/s", lambda at: f"{at.n};{at.r:.6f}"),
        ("time (s)\twrite MB/s", lambda at: f"{at.n}\t{at.r}"),
        ("time|write MB/s", lambda at: f"{at.t}.500|{at.r}"),
        ("time,write MB/s", lambda at: f"{at.t},{at.r}"),
        ("timestamp,write MB/s", lambda at: f"2026-05-0{at.day}T{at.t}+02:00,{at.r}"),
        ("Date,Time,write MB/s", lambda at: f"{at.day:02d}.05.2026,{at.t},{at.r}"),
        ("when (date),write MB/s", lambda at: f"05/{at.day:02d}/2026 {at.t},{at.r}"),
        ("timestamp,write MB/s", lambda at: f"{1777000000 + at.n},{at.r}"),
        ("timestamp,write MB/s", lambda at: f"{1777000000000 + at.n * 1000},{at.r}"),
        ("# a comment\nsecond,write_MB_s", plain),
        ("# second write_MB_s", lambda at: f"{at.n} {at.r}"),
        ("A title\n\nsecond,write\ns,MB/s", plain),
        ("second,written_GB", lambda at: f"{at.n},{at.b}"),
        ("second,write_bytes", lambda at: f"{at.n},{at.r * 1e6:.0f}"),
        ("second,sectors written", lambda at: f"{at.n},{at.b * 1e9 / 512:.0f}"),
        ("GB,MB/s", lambda at: f"{at.b},{at.r}"),
        ('"second","write_MB_s"', lambda at: f'"{at.n}","{at.r}"'),
        ("second,write_MB_s,", lambda at: f"{at.n},{at.r},"),
        ("second,write_MB_s", lambda at: f'{at.n},"{at.r:,.2f}"'),
        ("Zeitpunkt;MB/s", lambda at: f"2024-05-0{at.day}T{at.t}+02:00;{at.r}"),
        ("MB/s,when", lambda at: f"{at.r},0{at.day}.05.2024 {at.t}"),
    ],
)
def test_the_clock_the_rate_and_the_unit_are_found(tmp_path: Path, header: str, row: Row) -> None:
    samples = read(written(tmp_path, table(header, row)))
    assert samples.size.sum() == pytest.approx(TOTAL, rel=1e-6)
    assert samples.dt_s.sum() == pytest.approx(len(RATES))


@pytest.mark.parametrize(
    ("header", "row", "message", "hint"),
    [
        (
            "elapsed_s,time_ms,write_MB_s",
            lambda at: f"{at.n},{at.n * 1000},{at.r}",
            "elapsed_s, time_ms",
            "--time-col",
        ),
        (
            "second,write_MB_s,write_MiB_s",
            lambda at: f"{at.n},{at.r},{at.r}",
            "write_MB_s, write_MiB_s",
            "--rate-col",
        ),
        ("second,write mb/s", plain, "bits or bytes", "Mbit/s"),
        ("second,MBPS", plain, "bits or bytes", "Mbit/s"),
        ("time,write_MB_s", plain, "time without a unit", "second"),
        (
            "time,write_MB_s",
            lambda at: f"00:{at.n % 60:02d},{at.r}",
            "is no time",
            "minutes and seconds",
        ),
        ("second,write_MB_s", lambda at: f"{at.n},450,5", "3 cells in line 2", "semicolons"),
        ("second,write_MB_s", lambda at: f"{at.n};{at.r}", "1 cell in line 2", "semicolons"),
        ("second,write_MB_s", lambda at: f"1_000,{at.r}", "'1_000' in line 2", "without _"),
        ("second,write_MB_s", lambda at: f"{at.n},nan", "not a number", "remove"),
        ("second,write_MB_s", lambda at: f"{at.n},1e999", "not a number", "large"),
        ("second,write_MB_s", lambda at: f"{at.n},{'9' * 5000}", "not a number", "remove"),
        ("second,write_MB_s", lambda at: f"{at.n * 1e-300},1", "closer than any program", "unit"),
        ("second;write MB/s", lambda at: f"{at.n};3,000", "fraction or thousands", "--decimal"),
        ("second,read_MB_s", plain, "reads alone", "written"),
        ("second,w/s", plain, "requests a second", "--block-size"),
        (
            "second,write_GB",
            lambda at: f"{at.n},{1 + at.n // 200}",
            "each interval or since the start",
            "total",
        ),
    ],
)
def test_two_readings_and_odd_rows_are_refused_by_name(
    tmp_path: Path, header: str, row: Row, message: str, hint: str
) -> None:
    with pytest.raises(FlashtwinError, match=message) as refused:
        read(written(tmp_path, table(header, row)))
    assert hint in (refused.value.hint or "")


def test_one_line_with_another_separator_is_refused_by_its_line(tmp_path: Path) -> None:
    text = table("second,write_MB_s", plain).replace("\n77,", "\n77;")
    with pytest.raises(FlashtwinError, match="line 78") as refused:
        read(written(tmp_path, text))
    assert "semicolons" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[" * 200_000, 1),
        ("second,write_MB_s\n" + "1" * 3_000_000 + ",5\n", 2),
        ("second," + "x" * 40_000, 1),
        ("# a comment\n\n" + "x," * 40_000, 3),
    ],
)
def test_a_line_without_end_is_refused_by_its_number(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(FlashtwinError, match=rf"more than [0-9,]+ characters, line {line}\n"):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("header", "row", "choices"),
    [
        (
            "elapsed_s,time_ms,write_MB_s",
            lambda at: f"{at.n},{at.n * 7},{at.r}",
            Choices(time_column="elapsed_s"),
        ),
        (
            "a,b",
            lambda at: f"{at.n * 1000},{at.r}",
            Choices(time_column="a=ms", rate_column="b=MB/s"),
        ),
        ("second,x,x", lambda at: f"{at.n},7,{at.r}", Choices(rate_column="3=MB/s")),
        (
            "second,write mb/s",
            lambda at: f"{at.n},{at.r * 8}",
            Choices(rate_column="write mb/s=Mbit/s"),
        ),
        ("write_MB_s,x", lambda at: f"{at.r},7", Choices(interval_s=1.0)),
        ("second,w/s", plain, Choices(block_bytes=1_000_000)),
        ("second;write GB/s", lambda at: f"{at.n};{at.r / 1000:.3f}", Choices()),
    ],
)
def test_what_was_typed_decides(tmp_path: Path, header: str, row: Row, choices: Choices) -> None:
    samples = read(written(tmp_path, table(header, row)), choices)
    assert samples.size.sum() == pytest.approx(TOTAL, rel=1e-6)


@pytest.mark.parametrize(
    ("header", "choices", "columns"),
    [
        ("second,write Mbit/s", Choices(), "second and write Mbit/s (bits)"),
        ("second,write MB/s", Choices(), "second and write MB/s"),
        ("second,wMB/s", Choices(), "second and wMB/s (of 1,048,576 bytes, as iostat counts)"),
        ("second,w/s", Choices(block_bytes=500), "second and w/s (requests of 500 bytes)"),
        (
            "second,w/s",
            Choices(block_bytes=1 << 20),
            "second and w/s (requests of 1,048,576 bytes)",
        ),
        ("second,w/s", Choices(rate_column="w/s=MB/s"), "second and w/s"),
    ],
)
def test_the_columns_are_told_with_a_unit_that_may_be_taken_for_another(
    tmp_path: Path, header: str, choices: Choices, columns: str
) -> None:
    assert read(written(tmp_path, table(header, plain)), choices).columns == columns


def log(value: float = 1e6 / 1024, block: int = 0) -> str:
    return "\n".join(f"{1000 * n}, {r * value:.0f}, 1, {block}, 0" for n, r in enumerate(RATES, 1))


@pytest.mark.parametrize(
    "name", ["f_lat.1.log", "f_clat.log", "f_slat.2.log", "f_clat_hist.1.log", "a-lat.log.host"]
)
def test_logs_of_latencies_are_refused_by_their_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(FlashtwinError, match=r"by its name") as refused:
        read(written(tmp_path, log(), name))
    assert "--write_bw_log" in (refused.value.hint or "")


def test_a_log_of_requests_a_second_wants_their_size(tmp_path: Path) -> None:
    path = written(tmp_path, log(value=1.0), "f_iops.1.log")
    with pytest.raises(FlashtwinError, match="requests a second") as refused:
        read(path)
    assert "--block-size" in (refused.value.hint or "")
    assert read(path, Choices(block_bytes=1_000_000)).size.sum() == pytest.approx(TOTAL)


@pytest.mark.parametrize("name", ["one_bw.1.log", "one_iops.1.log", "one_lat.1.log", "one.log"])
def test_single_requests_are_summed_by_time(tmp_path: Path, name: str) -> None:
    """20 requests a millisecond, then 5: each with its own bandwidth or latency, which is no rate
    of the drive."""
    rows = [f"{ms}, 12345, 1, 131072, 0" for ms in range(400) for _ in range(20)]
    rows += [f"{ms}, 12345, 1, 131072, 0" for ms in range(400, 2000) for _ in range(5)]
    path = written(tmp_path, "\n".join(rows), name)
    samples = read(path)
    assert samples.size.sum() == 131072 * len(rows)
    assert any("requests, summed" in note for note in samples.notes)
    speeds = [speed.value for _, _, speed in infer(samples).plateaus]
    assert speeds == pytest.approx([20 * 131072e3, 5 * 131072e3], rel=0.03)
    with pytest.raises(FlashtwinError, match="single requests"):
        read(path, Choices(doubled=True))


def test_a_log_without_writes_is_left_out_of_a_set(tmp_path: Path) -> None:
    one = written(tmp_path, log(), "mix_bw.1.log")
    reader = written(tmp_path, log().replace(", 1, 0", ", 0, 0"), "mix_bw.2.log")
    for files in ([one, reader], [reader, one]):
        samples = read_all(files)
        assert isinstance(samples, Samples) and samples.size.sum() == pytest.approx(TOTAL)
        assert samples.reads and any("mix_bw.2.log" in note for note in samples.notes)
    for alone in ([reader], [reader, reader]):
        with pytest.raises(FlashtwinError, match="0 samples of writes"):
            read_all(alone)


@pytest.mark.parametrize("direction", ["0", "1"])
def test_rows_of_zeros_at_the_end_are_left_out(tmp_path: Path, direction: str) -> None:
    samples = read(written(tmp_path, log() + f"\n0, 0, {direction}, 0, 0" * 7))
    assert samples.size.sum() == pytest.approx(TOTAL) and not samples.reads
    assert samples.notes == ("7 rows of zeros at the end: left out",)
    between = log().replace("\n90000,", "\n0, 0, 1, 0, 0\n90000,")
    with pytest.raises(FlashtwinError, match="between its samples"):
        read(written(tmp_path, between))


def test_a_log_with_mean_and_maximum_is_read_by_its_mean(tmp_path: Path) -> None:
    text = "\n".join(
        f"{1000 * n}, {r * 1e6 / 1024:.0f}, 9999999, 1, 0, 0, 0" for n, r in enumerate(RATES, 1)
    )
    assert read(written(tmp_path, text)).size.sum() == pytest.approx(TOTAL, rel=1e-5)


def test_jobs_that_end_apart_lose_no_bytes(tmp_path: Path) -> None:
    whole = read(written(tmp_path, log(), "a_bw.1.log"))
    short = written(tmp_path, "\n".join(log().splitlines()[:50]), "a_bw.2.log")
    both = read_all([short, tmp_path / "a_bw.1.log"])
    assert isinstance(both, Samples)
    assert both.size.sum() == pytest.approx(whole.size.sum() + read(short).size.sum())


def test_the_mean_stands_beside_a_speed_that_leaves_something_out(tmp_path: Path) -> None:
    rates = ([2000.0] * 200 + [900.0] * 60) * 9 + [2000.0] * 200
    text = "\n".join(["second,write_MB_s", *(f"{n},{r}" for n, r in enumerate(rates, 1))])
    answer = infer(read(written(tmp_path, text)))
    mean = sum(rates) / len(rates)
    assert f"(mean {mean:,.0f} MB/s)" in answer.sentence
    assert any("slower stretches left out" in note for note in answer.notes)
    plateau = answer.document().plateaus[0]
    assert plateau.mean_bytes_per_s == pytest.approx(mean * 1e6)


def test_a_long_file_is_thinned_and_says_so(tmp_path: Path) -> None:
    count = 5 * MOST + 3
    rows = (f"{n},{3000 if n < count // 5 else 500}" for n in range(1, count + 1))
    samples = read(written(tmp_path, "\n".join(["second,write_MB_s", *rows])))
    assert samples.size.size <= MOST + 1
    assert samples.dt_s.sum() == pytest.approx(count)
    assert samples.size.sum() == pytest.approx(
        1e6 * (3000 * (count // 5 - 1) + 500 * (count - count // 5 + 1))
    )
    assert f"{count:,} samples: 8 neighbours are read as one" in samples.notes


# A small process starts the command: what its parent takes would count as its own.
PEAK = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "flashtwin.cli", *sys.argv[1:]], capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose modules are compiled, as those of an installed program are: compiling
    takes more memory than most files."""
    environment = {key: value for key, value in os.environ.items() if "BYTECODE" not in key}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.mktemp("compiled"))
    path = written(tmp_path_factory.mktemp("first"), table("second,write_MB_s", plain))
    peak_mb(environment, str(path))
    return environment


def peak_mb(environment: dict[str, str], *words: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "infer", *words],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return float(done.stdout)


@pytest.mark.parametrize("kind", thinned(["deep", "rows", "one line"], every=3))
def test_memory_has_a_bound_whatever_the_file(
    tmp_path: Path, compiled: dict[str, str], kind: str
) -> None:
    """32 MB and 20 times the file above what the help takes, and at most 256 MB."""
    text = {
        "rows": "second,MB/s\n" + "\n".join(f"{n},{n % 7}" for n in range(20_000)),
        "one line": "second,MB/s\n" + "1" * 3_000_000,
        "deep": '{"jobs":' + "[" * 3_000_000,
    }[kind]
    path = written(tmp_path, text)
    above = peak_mb(compiled, str(path)) - peak_mb(compiled, "--help")
    assert above <= min(32 + 20 * len(text) / 1e6, 256)


def test_rules_below_and_around_a_header_are_none_of_its_rows(tmp_path: Path) -> None:
    bars = "".join(f"| {second} | {500 if second < 30 else 100} |\n" for second in range(60))
    rows = {
        "markdown": "| second | write_MB_s |\n|---|:---:|\n" + bars,
        "database": "+-----+-----+\n| second | write_MB_s |\n+-----+-----+\n"
        + bars
        + "+---+---+\n",
    }
    for name, text in rows.items():
        (tmp_path / name).write_text(text)
        assert len(read(tmp_path / name).end_s) == 60
    (tmp_path / "nameless").write_text("| a | b |\n|---|---|\n" + bars)
    with pytest.raises(FlashtwinError, match=r"bytes: a, b\n"):
        read(tmp_path / "nameless")


@pytest.mark.parametrize("name", ["iodepth", "Queue Depth", "QD", "outstanding ios"])
def test_a_depth_that_changes_is_told_and_makes_no_fill(tmp_path: Path, name: str) -> None:
    """Ramps of a queue were told as the end of a cache."""

    def at_depth(at: At, changes: bool) -> str:
        return f"{at.n},{at.r},{8 if changes and at.n > 40 else 32}"

    header = f"second,MB/s,{name}"
    ramp = read(written(tmp_path, table(header, lambda at: at_depth(at, True))))
    assert ramp.pattern == "write at depths 32, 8 in turn"
    answer = infer(ramp)
    assert answer.cache == "cannot tell" and "at depths 32, 8 in turn" in answer.sentence
    fill = read(written(tmp_path, table(header, lambda at: at_depth(at, False))))
    assert fill.pattern is None and infer(fill).size is not None


def test_the_queue_that_a_system_measures_is_no_depth(tmp_path: Path) -> None:
    header, row = "second,wMB/s,aqu-sz", lambda at: f"{at.n},{at.r},{at.r / 100:.2f}"
    assert read(written(tmp_path, table(header, row))).pattern is None


def test_a_running_total_counts_a_burst_since_time_0(tmp_path: Path) -> None:
    # The host's memory takes 9 GB in the first second, the drive 3 a second from then on.
    rows = [f"{n},{round((6 + 3 * n) * 1e9)}" for n in range(1, 100)]
    samples = read(written(tmp_path, "\n".join(["time_s,written_bytes", *rows])))
    assert samples.size[0] == pytest.approx(9e9) and "began before" not in samples.columns


def test_a_counter_that_began_before_is_told(tmp_path: Path) -> None:
    rows = [f"{n},{round((8000 + 3 * n) * 1e9)}" for n in range(1, 100)]
    samples = read(written(tmp_path, "\n".join(["time_s,written_bytes", *rows])))
    assert samples.size.sum() == pytest.approx(98 * 3e9)
    assert "began before the file at 8,003 GB" in samples.columns


def test_a_row_written_twice_counts_once(tmp_path: Path) -> None:
    header, *rows = table("second,write_MB_s", plain).split("\n")
    rows[20:20], rows[100:100] = [rows[19]], [rows[99]]
    samples = read(written(tmp_path, "\n".join([header, *rows])))
    assert samples.size.sum() == pytest.approx(TOTAL)
    assert "2 rows that repeat the one before: left out" in samples.notes
    twice = [row for row in rows for _ in range(2)]
    with pytest.raises(FlashtwinError, match="come twice"):
        read(written(tmp_path, "\n".join([header, *twice])))


def test_a_hole_in_the_times_of_rates_is_told_with_its_bytes(tmp_path: Path) -> None:
    rows = [f"{n + 100 * (n > 20)},{r}" for n, r in enumerate(RATES, 1)]
    samples = read(written(tmp_path, "\n".join(["second,write_MB_s", *rows])))
    assert any("up to 101 s apart" in note and "303 GB" in note for note in samples.notes)


def log_without(first: int, last: int) -> str:
    """A fio log of `RATES` without rows for these seconds, which pass without a byte."""
    rows, second = [], 0
    for n, r in enumerate(RATES):
        second += 1 + (last - first if n == first else 0)
        rows.append(f"{1000 * second}, {r * 1e6 / 1024:.0f}, 1, 0")
    return "\n".join(rows)


@pytest.mark.parametrize("seconds", [1, 5, 60])
def test_a_hole_in_a_fio_log_has_no_bytes(tmp_path: Path, seconds: int) -> None:
    samples = read(written(tmp_path, log_without(20, 20 + seconds), "a_bw.1.log"))
    assert samples.size.sum() == pytest.approx(TOTAL, rel=1e-3)
    assert samples.dt_s.sum() == pytest.approx(len(RATES) + seconds)
    assert not samples.notes
    found = infer(samples)
    assert found.size is not None and found.size.value == pytest.approx(120e9, rel=0.01)


def test_a_hole_in_rates_is_in_the_interval_of_the_size(tmp_path: Path) -> None:
    rows = [f"{n + 20 * (n > 20)},{r}" for n, r in enumerate(RATES, 1)]
    found = infer(read(written(tmp_path, "\n".join(["second,write_MB_s", *rows]))))
    assert found.size is not None and found.size.low is not None and found.size.high is not None
    # The rate may have gone on for 20 s, or not.
    assert found.size.low < 120e9 < 180e9 < found.size.high + 1e9


def test_times_without_writes_are_left_out(tmp_path: Path) -> None:
    idle = [0.0] * 300
    rates = [*idle, *RATES[:240], *idle, *[3000.0] * 20, *RATES[40:], *idle]
    rows = [f"{n},{r}" for n, r in enumerate(rates, 1)]
    found = infer(read(written(tmp_path, "\n".join(["second,write_MB_s", *rows]))))
    assert [round(speed.value / 1e6) for _, _, speed in found.plateaus] == [3000, 500, 3000, 500]
    # The fast part that comes back after a pause is no reason against a cache.
    assert found.cache == "likely" and found.size is not None
    assert found.size.value == pytest.approx(120e9, rel=0.01)
    assert found.sentence.count("MB/s to") == 4
    (claim,) = [each for each in found.findings if each.name == "cache_probability"]
    assert claim.number is not None and claim.number > 0.5
    assert any("for 5 min from 220 GB on" in note for note in found.notes)
    assert any("10 min without writes at the ends" in note for note in found.notes)


def test_a_drive_that_stops_again_and_again_keeps_its_stops(tmp_path: Path) -> None:
    rates = [*([500.0] * 60 + [0.0] * 40) * 8]
    rows = [f"{n},{r}" for n, r in enumerate(rates, 1)]
    samples = read(written(tmp_path, "\n".join(["second,write_MB_s", *rows])))
    assert without_pauses(samples).dt_s.sum() == pytest.approx(800 - 40)


def test_a_rounded_total_is_read_in_longer_samples(tmp_path: Path) -> None:
    done = [round(0.0283 * n, 2) for n in range(1, 1200)]
    rows = [f"{n},{b:.2f}" for n, b in enumerate(done, 1)]
    samples = read(written(tmp_path, "\n".join(["elapsed_s,written_total_GB", *rows])))
    assert samples.size.sum() == pytest.approx(done[-1] * 1e9)
    assert any("in steps of 10 MB" in note for note in samples.notes)
    (found,) = infer(samples).plateaus
    assert found[2].value == pytest.approx(28.3e6, rel=0.01)


def test_a_rate_of_0_beside_bytes_takes_no_time(tmp_path: Path) -> None:
    rows = ["1,1000", "2,1000", "2,0", "3,1000", "3.5,0", "4,1000", "5,1000"]
    samples = read(written(tmp_path, "\n".join(["written_GB,write_MB_s", *rows])))
    assert samples.size.sum() == pytest.approx(5e9)
    assert samples.dt_s.sum() == pytest.approx(5.0)
    assert any("1 row with bytes and a rate of 0" in note for note in samples.notes)
    # Also where a block of rows ends with them.
    many = [f"{n},{0 if n % 2048 > 2000 else 1000}" for n in range(1, 5000)]
    samples = read(written(tmp_path, "\n".join(["written_GB,write_MB_s", *many])))
    assert samples.size.sum() == pytest.approx(4999e9)
    with pytest.raises(FlashtwinError, match="fewer bytes in line 5"):
        read(written(tmp_path, "written_GB,write_MB_s\n1,9\n2,9\n3,9\n2.5,9\n4,9"))


def test_one_column_is_read_with_its_interval(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(["Write Speed (MB/s)", *map(str, RATES)]))
    assert read(path, Choices(interval_s=1.0)).size.sum() == pytest.approx(TOTAL)
    with pytest.raises(FlashtwinError, match="no column with a time") as refused:
        read(path)
    assert "--interval" in (refused.value.hint or "")
