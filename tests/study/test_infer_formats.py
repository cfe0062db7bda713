"""What other programs print is read: one fill in each format, figures that are no series, and what
is recognised and not read."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from infer_samples import (
    FIGURES,
    RATES,
    SERIES,
    diskspd_xml,
    fio_json,
    iostat_plain,
    iostat_text,
    pv,
)
from thinning import thinned

from flashtwin.errors import FlashtwinError
from flashtwin.study.infer.infer import infer, of_summary
from flashtwin.study.infer.read import Choices, read, read_all, read_any
from flashtwin.study.infer.read.formats import FORMATS
from flashtwin.study.infer.samples import Samples, Summary


def written(tmp_path: Path, name: str, text: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("kind", SERIES)
def test_one_fill_is_read_in_every_format(tmp_path: Path, kind: str) -> None:
    name, text, unit = SERIES[kind]
    samples = read(written(tmp_path, name, text()))
    # A running total, or a counter since the system began, says nothing of its first interval.
    assert samples.size.sum() == pytest.approx(sum(RATES) * unit, rel=0.03)
    answer = infer(samples)
    assert answer.size is not None
    assert answer.size.value == pytest.approx(120_000 * unit, rel=0.03)
    assert [speed.value for _, _, speed in answer.plateaus] == pytest.approx(
        [3000 * unit / _seconds(kind), 500 * unit / _seconds(kind)], rel=0.02
    )


@pytest.mark.parametrize(
    ("name", "before", "after", "pattern"),
    [
        ("d.xml", "</BlockSize>", "</BlockSize><Random>4096</Random>", "randwrite"),
        ("d.xml", "</BlockSize>", "</BlockSize><StrideSize>1</StrideSize>", "write"),
        (
            "d.xml",
            "</BlockSize>",
            "</BlockSize><RandomRatio>50</RandomRatio><WriteRatio>70</WriteRatio>",
            "randrw",
        ),
        (
            "f.json",
            '"jobname": "fill {["',
            '"jobname": "a", "job options": {"iodepth": "1", "stonewall": "1"}, '
            '"read": {"io_bytes": 0, "runtime": 0}, "write": {"io_bytes": 0, "runtime": 0}}, '
            '{"jobname": "b", "job options": {"iodepth": "32"}',
            "write at depths 1, 32 in turn",
        ),
    ],
)
def test_a_file_that_says_how_it_was_written_is_believed(
    tmp_path: Path, name: str, before: str, after: str, pattern: str
) -> None:
    text = (diskspd_xml if name == "d.xml" else fio_json)().replace(before, after)
    samples = read(written(tmp_path, name, text))
    assert samples.pattern == pattern
    assert (infer(samples).cache == "cannot tell") is (pattern != "write")


def _seconds(kind: str) -> float:
    """How far apart the rows of a sample are."""
    return {"iostat-plain": 2.0, "dstat-csv": 2.0}.get(kind, 1.0)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings_of_other_systems_are_read(tmp_path: Path, encoding: str) -> None:
    _, text, _ = SERIES["hwinfo"]
    samples = read(written(tmp_path, "a.csv", text().encode(encoding)))
    assert samples.size.sum() == pytest.approx(sum(RATES) * 1e6)


@pytest.mark.parametrize("kind", FIGURES)
def test_figures_over_sizes_are_shown_and_tell_no_cache(tmp_path: Path, kind: str) -> None:
    name, text = FIGURES[kind]
    path = written(tmp_path, name, text)
    summary = read_any(path)
    assert isinstance(summary, Summary)
    assert 3000.25 in [figure.value for figure in summary.figures]
    answer = of_summary(summary)
    assert answer.cache == "cannot tell" and answer.figures
    assert summary.program in answer.sentence and "over time" in answer.sentence
    with pytest.raises(FlashtwinError, match=summary.program):
        read_all([path, path])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Jobs: 1 (f=1): [W(1)][10.0%][w=3000MiB/s][w=3000 IOPS][eta 00m:09s]\r" * 9, "progress"),
        ("fill: (g=0): rw=write, bs=(R) 128KiB-128KiB\nfio-3.33\nStarting\n", "report for people"),
        ("3;fio-3.33;fill;0;0;" + "1;" * 90 + "\n", "terse"),
        ("fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n", "write_iolog"),
        ("[global]\nrw=write\n[fill]\nfilename=/x\n", "job file"),
        (
            "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n" * 5,
            "blkparse",
        ),
        ("12:00:01 AM       DEV       tps     rkB/s     wkB/s\n" * 5, "sar"),
        ("procs -----------memory---------- ---swap--\n r  b   swpd   free\n" * 5, "vmstat"),
        ("smartctl 7.3 2022-02-28 r5338\n" * 5, "smartctl"),
    ],
)
def test_what_is_recognised_and_not_read_says_so(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(FlashtwinError, match=name) as refused:
        read(written(tmp_path, "a.log", text))
    assert "hand over" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x1f\x8b\x08" + bytes(99), "gzip"),
        (b"PK\x03\x04" + bytes(99), "Excel"),
        (bytes(range(32)) * 99, "no text"),
        (b"\x7fELF" + bytes(99), "no text"),
    ],
)
def test_what_is_no_text_is_refused_by_what_it_is(tmp_path: Path, data: bytes, what: str) -> None:
    with pytest.raises(FlashtwinError, match=what):
        read(written(tmp_path, "a.csv", data))


def test_reports_without_a_time_want_an_interval(tmp_path: Path) -> None:
    text = "\n".join(line for line in iostat_text().splitlines() if "/26 " not in line)
    path = written(tmp_path, "a.txt", text)
    with pytest.raises(FlashtwinError, match="how far apart") as refused:
        read(path)
    assert "--interval" in (refused.value.hint or "")
    samples = read(path, Choices(interval_s=2.0))
    assert samples.dt_s.sum() == pytest.approx(2.0 * len(RATES))


def test_bytes_beside_rates_say_how_far_apart_reports_are(tmp_path: Path) -> None:
    samples = read(written(tmp_path, "a.txt", iostat_plain()))
    assert samples.dt_s[0] == pytest.approx(2.0)


def test_the_first_report_of_iostat_is_left_out_with_a_note(tmp_path: Path) -> None:
    samples = read(written(tmp_path, "a.txt", iostat_text()))
    assert samples.size.size == len(RATES)
    assert any("since the system began" in note for note in samples.notes)
    assert any("sda" in note and "left out" in note for note in samples.notes)


def test_of_several_devices_that_wrote_the_user_says_which(tmp_path: Path) -> None:
    text = (
        iostat_text().replace("0.50      0.02", "0.50 900.00").replace("0.50 0.02", "0.50 900.00")
    )
    path = written(tmp_path, "a.txt", text)
    with pytest.raises(FlashtwinError, match="sda, nvme0n1") as refused:
        read(path)
    assert "--device" in (refused.value.hint or "")
    assert "nvme0n1" in read(path, Choices(device="nvme0n1")).columns
    with pytest.raises(FlashtwinError, match="no device sdz"):
        read(path, Choices(device="sdz"))


def test_pv_without_its_time_wants_an_interval(tmp_path: Path) -> None:
    sizes = "\r".join(line.partition(" ")[0] for line in pv().split("\r"))
    path = written(tmp_path, "a.log", sizes)
    with pytest.raises(FlashtwinError, match="without its time"):
        read(path)
    assert read(path, Choices(interval_s=1.0)).dt_s.size == len(RATES)
    percent = "\n".join(str(min(second, 100)) for second in range(1, 121))
    with pytest.raises(FlashtwinError, match="percentages"):
        read(written(tmp_path, "b.log", percent))


def mutated(data: bytes, seed: int) -> bytes:
    """A sample with a few bytes changed, lines doubled, dropped or grown."""
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data) or 1)
        kind = dice.randrange(6)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            odd = (
                b"1e308",
                b"-1",
                b"9" * 400,
                b"1_0",
                b"\x00",
                b'"',
                b"{" * 99,
                b"nan",
                b",,",
                b"<!",
            )
            data = data[:at] + dice.choice(odd) + data[at:]
        elif kind == 3:
            lines = data.split(b"\n")
            dice.shuffle(lines)
            data = b"\n".join(lines)
        elif kind == 4:
            data = data[:at] + data[at // 2 : at] + data[at:]
        else:
            data = data.replace(
                dice.choice((b"0", b",", b" ", b"\n")), dice.choice((b"", b";", b"9"))
            )
    return data


@pytest.mark.parametrize("kind", thinned([*SERIES, *FIGURES], every=6))
def test_a_mutated_file_is_read_or_refused(tmp_path: Path, kind: str) -> None:
    """A message with a hint, or a series whose numbers are some."""
    name, text = SERIES[kind][:2] if kind in SERIES else FIGURES[kind]
    data = (text if isinstance(text, str) else text()).encode()
    cut = [data[:end] for end in range(1, len(data), max(len(data) // 12, 1))]
    for number, content in enumerate([*cut, *(mutated(data, seed) for seed in range(25))]):
        try:
            samples = read_any(written(tmp_path, name, content))
        except FlashtwinError as error:
            assert error.hint or "cannot read" in str(error), number
        else:
            if isinstance(samples, Samples):
                assert samples.dt_s.size and samples.dt_s.min() > 0, number
                assert np.isfinite(samples.size).all() and samples.size.min() >= 0, number
                infer(samples)


def test_the_page_lists_every_format() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "infer.md"
    words = " ".join(page.read_text().split())
    assert [kind.name for kind in FORMATS if kind.name not in words] == []
