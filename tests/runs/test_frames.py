"""Tables of a result: the series cut at every GB."""

from __future__ import annotations

import numpy as np

from flashtwin.model.series import READ, WRITE, Series
from flashtwin.model.step import Result
from flashtwin.runs import frames

MB = 10**6


def result(direction: int, *amounts: int) -> Result:
    count = len(amounts)
    nothing = np.zeros(count, dtype=np.int64)
    series = Series(
        t_ns=np.arange(count, dtype=np.int64) * 10**9,
        dt_ns=nothing + 10**9,
        direction=nothing + direction,
        ios=nothing + 1,
        bytes=np.array(amounts, dtype=np.int64),
        lat_sum_ns=nothing,
        lat_min_ns=nothing,
        lat_max_ns=nothing,
    )
    return Result(label="fill", start_ns=0, duration_ns=count * 10**9, series=series)


def test_each_gb_has_a_row_with_its_time() -> None:
    table = frames.of_result(3, result(WRITE, 500 * MB, 500 * MB, 250 * MB, 250 * MB, 250 * MB))
    rows = {name: values.tolist() for name, values in table["per_gb"].items()}
    assert rows["step"] == [3, 3]
    assert rows["direction"] == [WRITE, WRITE]
    assert rows["end_bytes"] == [1000 * MB, 1750 * MB]
    assert rows["bytes"] == [1000 * MB, 750 * MB]
    assert rows["dt_ns"] == [2 * 10**9, 3 * 10**9]


def test_a_step_that_moved_less_than_a_gb_has_none() -> None:
    table = frames.of_result(0, result(READ, 999 * MB))
    assert frames.rows(table["per_gb"]) == 0
