"""Sizes, times and numbers: what people may type, and how they read them again."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from flashtwin.cli.app import app
from flashtwin.model import units


@pytest.mark.parametrize(
    ("text", "size", "shown"),
    [
        ("4GB", 4 * 10**9, "4GB"),
        ("4 GB", 4 * 10**9, "4GB"),
        ("4gb", 4 * 10**9, "4GB"),
        ("1.5 TB", 15 * 10**11, "1500GB"),
        ("512MB", 512 * 10**6, "512MB"),
        ("1GiB", 1 << 30, "1GiB"),
        ("1024 MiB", 1 << 30, "1GiB"),
        ("128KiB", 1 << 17, "128KiB"),
        ("16 kB", 16_000, "16kB"),
        ("512", 512, "512B"),
        ("512B", 512, "512B"),
    ],
)
def test_sizes_are_read_and_spelled(text: str, size: int, shown: str) -> None:
    assert units.parse_size(text) == size
    assert units.show_size(size) == shown


@pytest.mark.parametrize(
    ("text", "seconds", "shown"),
    [
        ("30", 30.0, "30s"),
        ("30s", 30.0, "30s"),
        ("90 s", 90.0, "90s"),
        ("10m", 600.0, "10m"),
        ("10min", 600.0, "10m"),
        ("1.5h", 5400.0, "90m"),
        ("2d", 172_800.0, "48h"),
        ("1w", 604_800.0, "168h"),
        ("500ms", 0.5, "500ms"),
        ("250us", 0.00025, "0.25ms"),
        ("0", 0.0, "0s"),
    ],
)
def test_times_are_read_and_spelled(text: str, seconds: float, shown: str) -> None:
    assert units.parse_seconds(text) == seconds
    assert units.show_seconds(seconds) == shown


@pytest.mark.parametrize(
    ("text", "seconds"), [("12h", 43_200.0), ("30d", 2_592_000.0), ("4 w", 2_419_200.0)]
)
def test_ages_are_times_with_their_unit(text: str, seconds: float) -> None:
    assert units.parse_age(text) == units.parse_seconds(text) == seconds


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (units.parse_size, "4G", "write 4GB for powers of 1000, 4GiB for 1024"),
        (units.parse_size, "4 parsecs", "write a size such as 4GB"),
        (units.parse_size, "0.5B", "whole number of bytes"),
        (units.parse_seconds, "soon", "write a time such as 30s"),
        (units.parse_seconds, "11y", "write a time such as 30s"),
        (units.parse_seconds, "600w", "at most 10 years"),
        (units.parse_age, "30", "write 12h, 30d or 4w"),
        (units.parse_age, "9999w", "at most 100 years"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(parse: object, text: str, said: str) -> None:
    assert callable(parse)
    with pytest.raises(ValueError, match=said):
        parse(text)


@pytest.mark.parametrize(
    "command",
    [
        ("test", "bx500-240", "--battery", "fill", "--budget"),
        ("cache", "clear", "--older-than"),
        ("runs", "prune", "--older-than"),
        ("fio", "--on", "bx500-240", "--status-interval"),
        ("new", "mine", "--slc-cache"),
        ("test", "./probe.bin", "--size"),
    ],
    ids=lambda words: words[-1],
)
def test_every_option_with_a_unit_names_itself(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*command, "7 parsecs"])
    assert done.exit_code == 2
    assert command[-1] in done.stderr and "write " in done.stderr


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "just now"), (60, "1m ago"), (7200, "2h ago"), (864_000, "1w ago")]
)
def test_how_long_ago(seconds: float, text: str) -> None:
    assert units.readable_age(seconds) == text


def test_values_that_differ_stay_apart() -> None:
    near = ["37499904 B", "37500416 B"]
    assert units.readable_sizes(near) == tuple(near)
    assert units.readable_size(3 << 30, binary=True) == "3 GiB"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0"),
        (0.33333, "0.3333"),
        (24.0, "24"),
        (24.04, "24.04"),
        (461.26, "461.3"),
        (1875.4, "1,875"),
        (86163.0, "86,163"),
        (-0.45, "-0.45"),
        (0.00012345, "0.0001234"),
        (999.96, "1,000"),
        (100, "100"),
    ],
)
def test_four_digits_and_no_exponent(value: float | None, text: str) -> None:
    assert units.readable_number(value) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (16_384, "16.38 kB"),
        (240_000_000_000, "240 GB"),
        (240_057_409_536, "240.1 GB"),
        (999_999_999_999, "1,000 GB"),
        (2_000_000_000_000_000, "2,000 TB"),
    ],
)
def test_sizes_as_drives_are_sold(size: int, text: str) -> None:
    assert units.readable_size(size) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1499999744 B", "1.5 GB"),
        ("37499904 B", "37.5 MB"),
        ("4096 B", "4096 B"),
        ("3662109 KiB", "3.75 GB"),
        ("64 KiB", "64 KiB"),
        ("123456789 B", "123.5 MB"),
        ("404.8 us", "404.8 us"),
        ("24 GB", "24 GB"),
        ("1 B", "1 B"),
        ("tlc", "tlc"),
    ],
)
def test_long_counts_of_bytes_are_readable(value: str, text: str) -> None:
    assert units.readable_sizes([value]) == (text,)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59, "59 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_time_left(seconds: float, text: str) -> None:
    assert units.rough_seconds(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9, "9.00 s"), (99.94, "99.9 s"), (120, "2 min"), (2165.4, "36 min 5 s"), (7260, "2 h 1 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert units.readable_seconds(seconds) == text


@given(st.integers(min_value=1, max_value=2**50))
def test_sizes_come_back(size: int) -> None:
    assert units.parse_size(units.show_size(size)) == size


@given(st.integers(min_value=0, max_value=10**7))
def test_times_come_back(milliseconds: int) -> None:
    seconds = milliseconds / 1000
    shown = units.show_seconds(seconds)
    assert units.parse_seconds(shown) == pytest.approx(seconds, rel=1e-5)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("12GB", "12 GB"),
        # Rounded it would be another size.
        ("1.5 GiB", "1.5 GiB"),
        ("8", "8"),
        ("7%", "7%"),
        ("staged", "staged"),
        ("500ms", "500ms"),
    ],
)
def test_a_size_that_was_set_is_spelled_as_all_others(typed: str, shown: str) -> None:
    assert units.readable_setting(typed) == shown
