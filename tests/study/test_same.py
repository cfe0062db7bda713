"""How likely one drive is another: which findings count, and how much each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from stored_runs import finding, store, usual

from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.runs.rundir import Run
from flashtwin.study.fit.beside import unseen
from flashtwin.study.same.judge import Judgement, judge, priors
from flashtwin.study.same.measure import Question, answer


def held(first: Run, second: Run, prior: float = 0.5) -> Judgement:
    return judge(first, second, name="second", prior=prior, notes=())


def runs(place: Path, second: Sequence[Finding], **changes: object) -> tuple[Run, Run]:
    """A usual run, and one with other findings."""
    first = store(place / "a", kind="device", target="A DISK")
    told = {"kind": "device", "target": "A DISK", **changes}
    return first, store(place / "b", findings=second, **told)  # type: ignore[arg-type]


def test_what_behaves_alike_is_likely_alike(tmp_path: Path) -> None:
    judgement = held(*runs(tmp_path, usual(cache=24.2, speed=458.0)))
    assert judgement.likelihood > 0.95
    assert judgement.low < judgement.likelihood <= judgement.high
    assert all(ground.says != "against" for ground in judgement.grounds)


def test_other_flash_under_one_label_is_told(tmp_path: Path) -> None:
    judgement = held(*runs(tmp_path, usual(cache=9.0, speed=230.0)))
    assert judgement.likelihood < 0.05
    worst = next(ground for ground in judgement.grounds if ground.says == "against")
    assert "9 GB" in worst.text or "230" in worst.text


def test_findings_of_one_thing_count_as_one(tmp_path: Path) -> None:
    """Twenty latencies of one queue say no more than one of them."""
    few = [finding("crystaldiskmark.read[RND4K-Q1T1]", 46.0, axis="cell")]
    many = [finding(f"crystaldiskmark.read[RND4K-Q{n}T1]", 46.0, axis="cell") for n in range(20)]
    odds = []
    for name, rows in (("few", few), ("many", many)):
        place = tmp_path / name
        odds.append(held(store(place / "a", findings=rows), store(place / "b", findings=rows)))
    assert odds[0].likelihood == pytest.approx(odds[1].likelihood, abs=1e-9)


def test_no_finding_decides_alone(tmp_path: Path) -> None:
    most = priors()["most_factor"]
    slow = [finding("fill.mean[1m-q1]", 461.0)]
    judgement = held(
        store(tmp_path / "a", findings=slow),
        store(tmp_path / "b", findings=[finding("fill.mean[1m-q1]", 2.0)]),
    )
    assert min(ground.factor for ground in judgement.grounds) == pytest.approx(1 / most)


def test_nothing_is_told_to_be_certain(tmp_path: Path) -> None:
    first, second = runs(tmp_path, usual())
    assert held(first, second, prior=0.999).likelihood <= priors()["surest"]


def test_a_wide_interval_says_little(tmp_path: Path) -> None:
    def factor(half: float, place: Path) -> float:
        rows = [finding("fill.speed_cache[1m-q1]", value, half=half) for value in (461.0, 300.0)]
        pair = (store(place / name, findings=[row]) for name, row in zip("ab", rows, strict=True))
        return next(g.factor for g in held(*pair).grounds if g.about.startswith("write"))

    assert factor(2.0, tmp_path / "narrow") < 0.3 < factor(250.0, tmp_path / "wide")


def test_other_parameters_are_not_compared(tmp_path: Path) -> None:
    first, second = runs(tmp_path, usual(cache=9.0), parameters={"passes": 2})
    judgement = held(first, second)
    assert "fill ran with other parameters and is not compared" in judgement.notes
    assert not any("fill" in ground.about for ground in judgement.grounds)


def test_another_label_and_another_size(tmp_path: Path) -> None:
    first = store(tmp_path / "a", kind="device", host={"device_model": "A DISK 1TB"})
    second = store(tmp_path / "b", kind="device", host={"device_model": "B DISK 1TB"})
    judgement = held(first, second)
    (label,) = (ground for ground in judgement.grounds if ground.about == "the label")
    assert label.says == "against" and label.text == "A DISK 1TB and B DISK 1TB"


def test_without_a_finding_in_common_the_prior_stays(tmp_path: Path) -> None:
    first, second = runs(tmp_path, [finding("waf[50%]", 2.0, "x")])
    judgement = held(first, second, prior=0.3)
    assert judgement.likelihood == pytest.approx(0.3)
    assert any("no finding in common" in note for note in judgement.notes)


@pytest.mark.parametrize("prior", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_a_prior_that_decides_is_refused(prior: float, tmp_path: Path) -> None:
    store(tmp_path / "a")
    question = Question(run=tmp_path / "a", drives=(str(tmp_path / "a"),), prior=prior)
    with pytest.raises(FlashtwinError, match="decided before"):
        answer(question, unseen)


def test_an_unknown_drive_is_refused_before_another_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "a")
    for word in ("bx500-24", "mistyped"):
        with pytest.raises(FlashtwinError, match=f"{word} is no run, no drive"):
            answer(Question(run=tmp_path / "a", drives=("bx500-240", word)), unseen)
    assert not (tmp_path / "flashtwin-runs").exists()


def test_a_folder_of_runs_names_no_drive(tmp_path: Path) -> None:
    store(tmp_path / "runs" / "a")
    store(tmp_path / "runs" / "b")
    with pytest.raises(FlashtwinError, match="holds 2 runs"):
        answer(Question(run=tmp_path / "runs", drives=("bx500-240",)), unseen)
