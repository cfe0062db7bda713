"""The JSON of `flashtwin fio`, which is written faster than the standard library writes it."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from flashtwin.fio.report.document import indented

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([0.0, -0.0, 1e-7, 1e22, math.inf, math.nan])
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=30,
)


@given(VALUES)
def test_it_is_what_json_has(value: object) -> None:
    assert indented(value) == json.dumps(value, indent=2)


@given(VALUES)
def test_what_stands_there_twice_is_told_twice(value: object) -> None:
    twice = {"a": value, "b": [value, {"c": value}]}
    assert indented(twice) == json.dumps(twice, indent=2)
