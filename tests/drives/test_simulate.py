"""Many small drives in one call: each answers as a twin does that is asked step by step."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin import _core
from flashtwin.catalogue.loader import load
from flashtwin.model.job import Job, jobs_json

SAMPLE_NS = 20_000_000


def _go_on(_bytes: int, _ns: int) -> bool:
    return True


@pytest.fixture(scope="module")
def jobs() -> str:
    return jobs_json([Job(name="write", rw="write", block_bytes=128 << 10, depth=32, size=1 << 29)])


def test_a_plan_is_answered_as_a_twin_answers_its_steps(jobs: str) -> None:
    spec = load("bx500-240", scale="1/176")
    plan = [(jobs, SAMPLE_NS), ("", 30_000_000_000), None, (jobs, SAMPLE_NS)]
    plans = [(spec, seed, plan) for seed in (1, 2, 3)]
    alone, together = _core.simulate(plans, 1), _core.simulate(plans, 3)
    twin = _core.Twin(spec, 2)
    wanted = [
        twin.run(jobs, SAMPLE_NS, _go_on),
        twin.rest(30_000_000_000, SAMPLE_NS, _go_on),
        twin.trim(0, spec.capacity_bytes, _go_on),
        twin.run(jobs, SAMPLE_NS, _go_on),
    ]
    for answer in (alone[1], together[1]):
        for step, other in zip(answer, wanted, strict=True):
            assert step["duration_ns"] == other["duration_ns"]
            for name, column in other["series"].items():
                assert np.array_equal(step["series"][name], column), name


def test_a_plan_that_no_host_can_ask_for_is_refused_before_anything_is_simulated() -> None:
    spec = load("bx500-240", scale="1/176")
    with pytest.raises(ValueError, match="rw"):
        _core.simulate([(spec, 1, [('[{"name": "job"}]', SAMPLE_NS)])], 2)
    assert _core.simulate([], 2) == []
