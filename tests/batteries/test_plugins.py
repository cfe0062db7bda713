"""A battery that another package brings: it gets all that flashtwin's own get, and no more harm."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fakes import FakeDrive

from flashtwin.batteries.base import registry
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import NotPossible, Step
from flashtwin.model.target import Interrupted, Watch
from flashtwin.runner import estimate
from flashtwin.runner import run as runner
from flashtwin.runner.conclude import reconclude
from flashtwin.runner.run import run_batteries

PLUGIN = Path(__file__).parent / "plugin"
Install = Callable[[str], None]
ON = ["bx500-240", "--scale", "1/64"]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package with entry points on the path, as pip would."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    monkeypatch.chdir(tmp_path)

    def put(points: str) -> None:
        place = tmp_path / "site"
        info = place / "another-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[flashtwin.batteries]\n{points}\n")
        (place / "breaks.py").write_text("import no_such_module_at_all\n")
        (place / "other.py").write_text("BATTERY = 5\n")
        monkeypatch.syspath_prepend(str(place))
        registry.meanings_of.cache_clear()

    yield put
    registry.meanings_of.cache_clear()
    sys.modules.pop("steady_writes", None)


@pytest.fixture
def steady(install: Install) -> None:
    install("steady = steady_writes:BATTERY")


def flashtwin(*words: str) -> Result:
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code in (0, 1), done.output
    return done


@pytest.mark.usefixtures("steady")
def test_it_is_listed_with_its_parameters_and_explained() -> None:
    assert "a write again and again" in flashtwin("batteries").stdout
    shown = flashtwin("batteries", "steady").stdout
    assert "what a round writes" in shown and "64MiB" in shown
    assert "nothing changes any more" in flashtwin("explain", "steady.speed").stdout
    assert "steady.speed" in flashtwin("explain").stdout
    with pytest.raises(FlashtwinError, match="least=1 is not"):
        registry.parse("steady:least=1")


@pytest.mark.usefixtures("steady")
def test_it_is_run_shown_compared_listed_and_exported() -> None:
    for name, size in (("a", "64MiB"), ("b", "128MiB")):
        done = flashtwin("test", *ON, "--battery", f"steady:size={size}", "--out", name)
        assert "steady speed" in done.stdout.lower() and "steady" in done.stdout
        assert "about " in done.stderr, "its own estimate is told"
        assert "Steady speed" in Path(name, "report.html").read_text()
    compared = json.loads(flashtwin("compare", "a", "b", "--json").stdout)
    ids = [one["id"] for one in compared["pairs"][0]["findings"]]
    assert ids == ["steady.speed", "steady.state"]
    assert "speed " in flashtwin("runs", ".").stdout
    chosen = flashtwin("runs", ".", "--where", "\"steady.state\".value = 'steady'")
    assert len([line for line in chosen.stdout.splitlines() if "steady" in line]) == 2
    flashtwin("export", "a", "--format", "csv")
    flashtwin("report", "a", "b")
    assert "nothing changed" in flashtwin("conclude", "a").stdout


class Stopped(FakeDrive):
    """Somebody stops the run in its third round."""

    def do(self, step: Step, watch: Watch) -> object:  # type: ignore[override]
        if step.label == "steady/3" and not self.closed:
            raise Interrupted(step.label)
        return super().do(step, watch)


@pytest.mark.usefixtures("steady")
def test_every_battery_goes_to_another_process() -> None:
    for name in registry.names():
        request = registry.request(name)
        there = pickle.loads(pickle.dumps(request))
        assert there.parameters == request.parameters and there.name == name
        assert there.battery.meanings() == request.battery.meanings()


@pytest.mark.usefixtures("steady")
def test_it_is_taken_up_where_it_was_stopped(tmp_path: Path) -> None:
    whole = run_batteries(FakeDrive(), [("steady", {})], tmp_path / "whole")
    with pytest.raises(Interrupted):
        run_batteries(Stopped(), [("steady", {})], tmp_path / "run")  # type: ignore[list-item]
    run = run_batteries(FakeDrive(), None, tmp_path / "run")
    assert run.finished and run.findings == whole.findings and len(run.findings) == 2
    assert not reconclude(run).changes


@pytest.mark.usefixtures("steady")
def test_a_loop_that_hears_nothing_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive that cannot write tells a battery that waits for a steady speed nothing, for ever."""

    class Mute(FakeDrive):
        def do(self, step: Step, watch: Watch) -> object:  # type: ignore[override]
            return NotPossible(reason="it is deaf")

    monkeypatch.setattr(runner, "MOST_EMPTY", 20)
    run = run_batteries(Mute(), [("steady", {})], tmp_path / "run")  # type: ignore[arg-type]
    assert run.finished and not run.findings and len(run.steps) < 30


@pytest.mark.usefixtures("steady")
def test_a_loop_without_an_estimate_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "MOST_STEPS", 200)
    request = registry.request("steady")
    endless = replace(request, battery=replace(request.battery, estimate=None))
    drive = FakeDrive()
    with pytest.raises(FlashtwinError, match="asks for more than") as refused:
        run_batteries(drive, [endless], tmp_path / "run")
    assert "a function `estimate`" in str(refused.value.hint) and not drive.done


BROKEN = [
    ("broken = breaks:BATTERY", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
    ("broken = other:BATTERY", "other:BATTERY is a int and no Battery"),
    ("broken = other:NONE", "AttributeError"),
    ("broken = steady_writes:BATTERY", "it calls itself 'steady'"),
    ("fill = steady_writes:BATTERY", "there is one of that name already"),
]


@pytest.mark.parametrize(("points", "why"), BROKEN)
def test_one_that_is_broken_is_told_and_harms_nothing(
    install: Install, points: str, why: str
) -> None:
    install(points)
    done = flashtwin("batteries")
    assert why in done.stderr and "hint: update another, or remove it" in done.stderr
    assert all(f"{name} " in done.stdout for name in ("fill", "crystaldiskmark", "power", "waf"))
    assert registry.get("fill").name == "fill" and registry.explain("fill.mean").name == "mean"
    if points.startswith("broken"):
        with pytest.raises(FlashtwinError, match="cannot be used") as refused:
            registry.parse("broken")
        assert refused.value.exit_code == 3
        assert refused.value.hint == "update another, or remove it: pip uninstall another"
