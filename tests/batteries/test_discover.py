"""discover: which tests it chooses, what it concludes, and that results alone decide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flashtwin.analysis.curve import Curve
from flashtwin.batteries.base import registry
from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover import posterior as inference
from flashtwin.batteries.discover import reading
from flashtwin.batteries.discover.candidates import Candidate, Facts
from flashtwin.batteries.discover.words import FILL, NAMES, PASTS
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.step import Result
from flashtwin.runner.conclude import conclude
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

FEW = {"candidates": "4", "host_us": "0"}


def _run(path: Path, tests: int) -> Run:
    drive = Twin(load("bx500-240", scale="1/176"), seed=1).open()
    return run_batteries(drive, [("discover", {**FEW, "tests": str(tests)})], path / "run")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return _run(tmp_path_factory.mktemp("run"), 0)


def test_findings_are_probabilities_with_an_explanation(run: Run) -> None:
    for finding in run.findings:
        assert registry.meaning_of(finding) is not None, finding.id
    for part, words in (("structure", NAMES), ("past", PASTS)):
        values = [run.findings[f"discover.{part}.{word}"].number or 0.0 for word in words]
        assert sum(values) == pytest.approx(1, abs=1e-3)


@pytest.mark.full
def test_a_run_concluded_again_says_the_same_and_chooses_the_same(tmp_path: Path) -> None:
    run = _run(tmp_path, 1)
    labels = [step.label for step in run.steps if step.label.endswith("/write")]
    inference.posterior.cache_clear()
    inference.chosen.cache_clear()
    again = {finding.id: finding.value for finding in conclude(run)}
    assert again == {finding.id: finding.value for finding in run.findings}
    fill = next(step for step in run.steps if step.label == FILL)
    result = run.result(fill.step)
    assert isinstance(result, Result)
    facts = reading.facts_of(result)
    assert facts is not None
    choice = inference.chosen(facts, (), 4, tuple(test.name for test in small.TESTS))
    assert choice is not None and labels == [f"discover/1-{choice[0]}/write"]


def _facts(cache_share: float, second: float) -> Facts:
    return Facts(
        total_bytes=2e9, cache_share=cache_share, second=second, fill_s=6.1, fill=(0.0,) * 48
    )


def _candidate(name: str, past: str, **values: float) -> Candidate:
    return Candidate(
        structure=small.structures().index((name, past)),
        cell="tlc",
        **{
            "cache_share": 0.1,
            "second": 0.4,
            "reserve_share": 0.08,
            "static_share": 0.02,
            "idle_s": 5.0,
            **values,
        },
    )


def test_curves_do_not_depend_on_their_neighbours() -> None:
    both = [_candidate("dynamic", "direct"), _candidate("static", "direct", cache_share=0.03)]
    facts, again = _facts(0.1, 0.4), [small.named("again")]
    together = small.simulated(facts, both, again)
    alone = small.simulated(facts, both[1:], again)
    assert all(np.array_equal(a, b) for a, b in zip(together[1], alone[0], strict=True))


def test_a_rest_longer_than_the_idle_time_gives_the_cache_back() -> None:
    facts, rest = _facts(0.1, 0.4), small.rest_of(20, half=True)
    soon, late = (_candidate("dynamic", "direct", idle_s=s) for s in (2.0, 500.0))
    curves = [shown[1] for shown in small.simulated(facts, [soon, late], [rest])]
    assert np.exp(curves[0][4:16]).mean() > 2 * np.exp(curves[1][4:16]).mean()
    assert inference.fit(facts, curves[0], curves[1], rest) < -5


def test_after_random_writes_only_a_cache_of_its_own_blocks_comes_back() -> None:
    facts, random = _facts(0.1, 0.4), small.named("random")
    both = [
        _candidate("dynamic", "direct", reserve_share=0.07),
        _candidate("hybrid", "direct", reserve_share=0.07, static_share=0.02),
    ]
    borrowed, own = (shown[1] for shown in small.simulated(facts, both, [random]))
    # 2 % of the capacity are the first 12 of the test's bins.
    assert np.exp(own[3:11]).mean() > 0.8 > 0.5 > np.exp(borrowed[3:11]).mean()


def test_a_drive_that_folds_first_lets_single_requests_wait() -> None:
    facts, single = _facts(0.1, 0.4), small.named("single")
    both = [_candidate("dynamic", past, step_mib=8.0) for past in ("staged", "fold-first")]
    staged, first = (shown[1] for shown in small.simulated(facts, both, [single]))
    assert float(first[0]) > float(staged[0]) + 2 * inference.WAITS_NOISE


def test_crowded_candidates_make_no_rest_more_likely() -> None:
    crowd = [_candidate("dynamic", "direct", idle_s=30 + 0.6 * number) for number in range(20)]
    few = [_candidate("dynamic", "direct", idle_s=float(s)) for s in np.geomspace(50, 200, 6)]
    both = (*crowd, *few)
    crowded = inference.Posterior(candidates=both, weights=(1 / len(both),) * len(both))
    values = [item.idle_s for item in both]
    (before,), (even,) = (
        belief.quantiles(values, [0.5]) for belief in (crowded, crowded.even_in_rests())
    )
    # All from 30 to 200 s fit alike: the middle is that of the range, on a logarithmic scale.
    assert before < 40 and even == pytest.approx((30 * 200) ** 0.5, rel=0.2)


def test_a_test_that_no_candidate_fits_says_less() -> None:
    near, far = _candidate("dynamic", "direct"), _candidate("static", "direct")
    fitted = dict(inference._weighed({near: (0.0, -4.0), far: (0.0, -8.0)}))
    unfitted = dict(inference._weighed({near: (0.0, -40.0), far: (0.0, -44.0)}))
    assert fitted[near] - fitted[far] == pytest.approx(4.0)
    assert unfitted[near] - unfitted[far] == pytest.approx(0.5)


def test_a_fill_without_an_end_of_its_first_plateau_is_not_told() -> None:
    curve = Curve(dt=np.full(200, 0.5), size=np.full(200, 1e8))
    assert reading.facts_of_curve(curve) is None


def test_tests_are_named_by_what_they_do() -> None:
    assert all(small.named(test.name) == test for test in small.TESTS)
    assert small.named(small.rest_of(12.345, half=False).name).rest_s == 12.3
