"""Which findings of a sweep vary: those that no single value could explain."""

from __future__ import annotations

import pytest

from flashtwin.model.finding import Finding, Interval
from flashtwin.study.sweep.run import Row, charted, varying

Point = tuple[float | None, float | None, float | None]


@pytest.mark.parametrize(
    ("points", "varies", "parts"),
    [
        ([(10.0, 9.0, 11.0), (10.5, 9.5, 11.5)], False, False),
        ([(10.0, 9.0, 11.0), (12.5, 11.5, 13.5)], True, True),
        # Neighbours overlap, but nothing lies in all three.
        ([(10.0, 9.0, 11.0), (11.0, 10.0, 12.0), (12.0, 11.5, 13.0)], True, True),
        ([(10.0, None, None), (10.0, None, None)], False, False),
        ([(10.0, None, None), (10.1, None, None)], True, True),
        ([(10.0, 9.0, None), (1000.0, 9.5, None)], False, False),
        ([(10.0, 9.0, 11.0), (None, None, None)], True, False),
    ],
)
def test_a_finding_varies_where_its_intervals_part(
    points: list[Point], varies: bool, parts: bool
) -> None:
    rows = [
        Row(
            number=number,
            settings=(),
            run=None,
            failure=None,
            findings={
                "a.b": Finding(
                    battery="a",
                    name="b",
                    title="b",
                    value=value,
                    interval=Interval.of(low, high),
                )
            },
        )
        for number, (value, low, high) in enumerate(points)
    ]
    assert varying(rows) == (["a.b"] if varies else [])
    assert charted(rows) == (["a.b"] if parts else []), "a chart would show what nobody can tell"
