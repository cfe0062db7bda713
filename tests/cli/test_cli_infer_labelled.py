"""Series that somebody labelled: counted, and each miss by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from flashtwin.cli.app import app

LABELS = """
[[series]]
file = "cached.csv"
cache = true
history = "fresh"
size = "{size}"

[[series]]
file = "even.csv"
cache = false
"""


def labelled(at: Path, labels: str) -> tuple[int, str]:
    rates = {"cached": [3000] * 40 + [500] * 400, "even": [500] * 300}
    for name, series in rates.items():
        rows = [f"{second},{rate}" for second, rate in enumerate(series, start=1)]
        (at / f"{name}.csv").write_text("\n".join(["second,write_MB_s", *rows]))
    (at / "labels.toml").write_text(labels)
    done = CliRunner().invoke(app, ["infer", "--labelled", str(at)])
    return done.exit_code, done.output


def test_series_as_labelled_are_counted(tmp_path: Path) -> None:
    code, text = labelled(tmp_path, LABELS.format(size="120 GB"))
    assert code == 0 and "2 of 2 series as labelled" in text


def test_another_size_is_a_miss(tmp_path: Path) -> None:
    code, text = labelled(tmp_path, LABELS.format(size="60 GB"))
    assert code == 1 and "1 of 2 series as labelled" in text and "+100%" in text


@pytest.mark.parametrize(
    "labels",
    [
        "",
        "series = 3",
        "[[series]]\ncache = true",
        '[[series]]\nfile = "cached.csv"\ncache = 1',
        '[[series]]\nfile = "../cached.csv"\ncache = true',
        '[[series]]\nfile = "cached.csv"\ncache = true\nhistory = "old"',
        '[[series]]\nfile = "missing.csv"\ncache = true',
    ],
)
def test_labels_that_are_none_are_refused_in_one_sentence(tmp_path: Path, labels: str) -> None:
    code, text = labelled(tmp_path, labels)
    assert code == 2 and "Traceback" not in text


def test_files_and_labels_are_not_read_together(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["infer"]).exit_code == 2
