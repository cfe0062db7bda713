"""The CSV of a watt meter: columns, clocks and lines, and what of it belongs to a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flashtwin.drives.real import power_log
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.errors import USAGE, FlashtwinError

T = 1_780_000_000  # a second of 2026
NS = 10**9


def read(place: Path, text: str, ahead_s: float = 0.0) -> list[tuple[float, float, float]]:
    """Seconds since `T` and watts of all rows, as a meter writes them while a step goes on."""
    path = place / "meter.csv"
    head = text.partition("\n")[0]
    path.write_text(f"{head}\n", encoding="utf-8")
    log = PowerLog(path, ahead_s=ahead_s)
    log.opened()
    path.write_text(text, encoding="utf-8")
    readings, wrong = log.within(0, (1 << 62))
    assert not wrong, wrong
    return [
        ((row.begin_ns - T * NS) / 1e9, (row.end_ns - T * NS) / 1e9, row.watts) for row in readings
    ]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_log, "PATIENCE_S", 0.0)


@pytest.mark.parametrize(
    "text",
    [
        f"timestamp,power_w\n{T},1\n{T + 1},2.5\n{T + 2},3\n",
        f"# a meter\ntime;Power (W)\n{T};1\n{T + 1};2,5\n{T + 2};3,0\n",
        f"unix\tmW\n{T}\t1000\n{T + 1}\t2500\n{T + 2}\t3000\n",
        f"Timestamp (ms),P [mW]\n{T}000,1000\n{T + 1}000,2500\n{T + 2}000,3000\n",
        f"time,voltage_v,current_a\n{T},5,0.2\n{T + 1},5,0.5\n{T + 2},5,0.6\n",
        f"time,voltage_V,current_mA,dp_V\n{T},5,200,3\n{T + 1},5,500,3\n{T + 2},5,600,3\n",
        f"\ufeffepoch,watts,energy_ws\r\n{T}.0,1,0\r\n{T + 1}.0,2.5,1\r\n{T + 2}.0,3,2\r\n",
        "at,w\n2026-05-28T20:26:40Z,1\n2026-05-28T20:26:41+00:00,2.5\n2026-05-28 20:26:42Z,3\n",
    ],
    ids=["seconds", "decimal_comma", "tabs", "ms_mw", "volts", "milliamperes", "bom", "dates"],
)
def test_columns_are_known_by_their_names(text: str, tmp_path: Path) -> None:
    assert read(tmp_path, text) == [(0.0, 1.0, 2.5), (1.0, 2.0, 3.0)]


def test_a_clock_that_is_ahead(tmp_path: Path) -> None:
    text = f"time,w\n{T + 7200},1\n{T + 7201},2\n"
    assert read(tmp_path, text, ahead_s=7200) == [(0.0, 1.0, 2.0)]


def test_a_silence_is_no_reading(tmp_path: Path) -> None:
    text = f"time,w\n{T},1\n{T + 1},1\n{T + 60},2\n"
    assert read(tmp_path, text) == [(0.0, 1.0, 1.0), (59.0, 60.0, 2.0)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("speed,load\n1,2\n", "line 1: no column is a time"),
        ("time,speed\n1,2\n", "line 1: no column is watts"),
        ("time,power,power_w\n", "line 1: several columns are watts"),
        (f"time,w\n{T},1\n{T + 1},much\n", "line 3: 'much' is not a number"),
        (f"time,w\n{T},nan\n", "line 2: 'nan' is not a number"),
        (f"time,w\n{T},1e99\n", "line 2: 1e+99 W is what no drive draws"),
        (f"time,w\n{T},-4\n", "line 2: -4 W is what no drive draws"),
        (f"time,w\n{T}\n", "line 2: it has 1 columns and not 2"),
        (f"time,w\n{T + 1},1\n{T},1\n", "line 3: its time is not after"),
        ("time,w\n12.5,1\n", "line 2: '12.5' is on no clock"),
        ("time,w\nyesterday,1\n", "line 2: 'yesterday' is not a time"),
        (f"time,w\n{T},1\n" + "9" * 5000, "line 3: longer than a line is"),
    ],
)
def test_a_wrong_line_is_told_by_its_number(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "meter.csv"
    path.write_text(text)
    with pytest.raises(FlashtwinError) as caught:
        PowerLog(path).opened()
    assert caught.value.exit_code == USAGE
    assert words in caught.value.message


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "meter.csv"
    path.write_bytes(b"time,w\n\xff\xfe,1\n")
    with pytest.raises(FlashtwinError, match="line 2: it is not UTF-8"):
        PowerLog(path).opened()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "folder|directory"),
        (lambda path: None, "no such|No such|not there"),
        (lambda path: path.symlink_to("/dev/zero"), "device|regular"),
    ],
)
def test_what_is_no_file(make: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    make(tmp_path / "meter.csv")
    with pytest.raises(FlashtwinError, match=words):
        PowerLog(tmp_path / "meter.csv").opened()


@pytest.mark.parametrize(
    ("old_s", "words"), [(0.3, "old by this machine's"), (3600, "behind"), (-3600, "--power-ahead")]
)
def test_how_the_clocks_stand(old_s: float, words: str, tmp_path: Path) -> None:
    path = tmp_path / "meter.csv"
    now = time.time() - old_s
    path.write_text(f"time,w\n{now - 1:.3f},1\n{now:.3f},1\n")
    (said,) = PowerLog(path).opened()
    assert words in said


def test_a_line_is_read_once_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "meter.csv"
    path.write_text(f"time,w\n{T},1\n{T + 1},2\n{T + 2},3")
    log = PowerLog(path)
    log.opened()
    with path.open("a") as file:
        file.write(f"3\n{T + 3},4\n{T + 4},brok")
    readings, wrong = log.within(T * NS, (T + 3) * NS)
    assert [row.watts for row in readings] == [33.0, 4.0] and not wrong
    with path.open("a") as file:
        file.write("en\n")
    readings, wrong = log.within((T + 3) * NS, (T + 4) * NS)
    assert "line 6: 'broken' is not a number" in wrong and not readings


def test_each_step_gets_its_own(tmp_path: Path) -> None:
    """A reading that lies over the border of two steps is of both."""
    path = tmp_path / "meter.csv"
    path.write_text(f"time,w\n{T},1\n")
    log = PowerLog(path)
    log.opened()
    with path.open("a") as file:
        file.writelines(f"{T + at},{at}\n" for at in range(1, 6))
    first, _ = log.within(T * NS, T * NS + 5 * NS // 2)
    second, _ = log.within(T * NS + 5 * NS // 2, (T + 5) * NS)
    assert [row.watts for row in first] == [1, 2, 3]
    assert [row.watts for row in second] == [3, 4, 5]
