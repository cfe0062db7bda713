"""Groups of batteries, presets, and what is told of a battery on a target before it runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flashtwin.batteries.base import groups, registry
from flashtwin.catalogue.loader import load
from flashtwin.cli.app import app
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.report.page import render
from flashtwin.runner import forecast
from flashtwin.runner.request import Request
from flashtwin.runner.run import run_batteries

TWIN = "bx500-240"


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize("group", groups.groups(), ids=lambda group: group.name)
def test_every_text_of_a_group_is_one_battery_that_a_twin_can_run(group: groups.Group) -> None:
    for text in group.batteries:
        assert len(registry.parse(text)) == 1
    assert len(registry.parse(",".join(group.batteries))) == len(group.batteries)
    said: list[str] = []
    # A quarter has room for the 50 files of 1 GB of the group overflow.
    request = forecast.of_group(Request(targets=(TWIN,), scale="1/4"), group.name, said.append)
    assert (request.batteries, said) == (",".join(group.batteries), [])


def test_all_are_flashtwins_own_but_for_those_that_another_command_runs() -> None:
    assert set(groups.get("all").batteries) == set(registry.own()) - {"fio"}


def test_a_wrong_name_of_a_group() -> None:
    with pytest.raises(FlashtwinError, match=r"no group 'reviw' \(did you mean review\?\)"):
        groups.get("reviw")
    done = run("test", TWIN, "--group", "review", "--battery", "fill")
    assert done.exit_code == 2 and "leave one out" in done.stderr


def test_what_does_not_suit_a_target_is_left_out_of_a_group_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    path = str(tmp_path / "probe.bin")
    request = Request(targets=(path,), size="2GB")
    assert forecast.of_group(request, "review", said.append).batteries == (
        "identity,fill,crystaldiskmark:profile=article,atto,copies:preset=article,"
        "threedmark,pcmark10,app_loads,sync"
    )
    assert [line for line in said if "power" in line and "no watt meter" in line]
    assert [line for line in said if "waf" in line and "no SMART data" in line]
    assert not list(tmp_path.iterdir()), "no file was made for it"
    metered = groups.Group(name="metered", title="", follows="", batteries=("power", "waf"))
    monkeypatch.setattr(groups, "get", lambda name: metered)
    with pytest.raises(FlashtwinError, match="no battery of the group metered suits"):
        forecast.of_group(request, "metered", said.append)


def test_a_group_runs_and_its_run_is_asked_for_by_its_batteries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    group = groups.Group(
        name="tiny", title="", follows="", batteries=("fill:patterns=1m-q1,passes=1",)
    )
    monkeypatch.setattr(groups, "get", lambda name: group)
    done = run("test", TWIN, "--scale", "1/64", "--group", "tiny", "--no-report", "--json")
    assert done.exit_code == 0, done.output
    (directory,) = (Path(row["directory"]) for row in json.loads(done.stdout)["runs"])
    manifest = json.loads((directory / "manifest.json").read_text())
    assert "fill:patterns=1m-q1,passes=1" in manifest["command"]


def test_a_review_is_a_group_on_all_targets_with_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    group = groups.Group(name="tiny", title="", follows="", batteries=("states:seconds=100ms",))
    asked: list[str] = []
    monkeypatch.setattr(groups, "get", lambda name: asked.append(name) or group)
    words = ("--scale", "1/64", "--out", "both", "--json", "-q")
    done = run("review", TWIN, f"{TWIN}-nocache", *words)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert [row["target"] for row in answer["runs"]] == [TWIN, f"{TWIN}-nocache"]
    assert answer["ranking"] == [], "the group measures nothing by which drives are ranked"
    assert "Four states" in Path(answer["report"]).read_text()
    assert asked == ["review"]
    assert run("review", TWIN, "--quick", "--group", "review").exit_code == 2


def told(*words: str) -> dict[str, object]:
    done = run("batteries", *words, "--json")
    assert done.exit_code == 0, done.output
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.mark.full
def test_what_a_battery_takes_on_a_target_is_what_its_run_is_estimated_to_take() -> None:
    on = told("fill:passes=1", "--on", TWIN)["on"]
    assert isinstance(on, dict)
    capacity = 240_000_000_000
    blocks = (128 << 10, 1 << 20)
    assert on["write_bytes"] == sum(capacity // block * block for block in blocks)
    assert on["cannot"] == []
    text = run("batteries", "fill:passes=1", "--on", TWIN).stdout
    assert "on bx500-240: writes 480 GB" in text


def test_what_a_target_cannot_do_is_said_before_the_first_byte(tmp_path: Path) -> None:
    path = str(tmp_path / "probe.bin")
    on = told("fill", "--on", path, "--size", "1GB")["on"]
    assert isinstance(on, dict)
    assert on["cannot"] == ["purge"]
    assert on["write_bytes"] > 49 * 10**8, "four passes, and the file's making"
    done = run("batteries", "power", "--on", path, "--size", "1GB")
    assert done.exit_code == 2 and "no watt meter" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fill,waf",), "names 2 batteries"),
        (("fill", "--size", "1GB"), "belong to --on"),
        (("--on", TWIN), "needs the NAME"),
    ],
)
def test_wrong_words(words: tuple[str, ...], message: str) -> None:
    done = run("batteries", *words)
    assert done.exit_code == 2 and message in done.stderr


def with_presets(monkeypatch: pytest.MonkeyPatch) -> Callable[..., registry.Request]:
    fill = replace(registry.get("fill"), presets={"short": {"passes": "1", "patterns": "1m-q1"}})
    monkeypatch.setattr(registry, "get", lambda name: fill)
    return lambda text: registry.parse(text)[0]


def test_a_preset_sets_values_and_what_is_set_beside_it_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parse = with_presets(monkeypatch)
    assert parse("fill:preset=short").plain()["passes"] == 1
    both = parse("fill:preset=short,passes=3").plain()
    assert (both["passes"], both["patterns"]) == (3, ["1m-q1"])
    with pytest.raises(FlashtwinError, match=r"no preset shrt \(did you mean short\?\)"):
        parse("fill:preset=shrt")


def test_no_chart_of_a_page_is_empty_until_somebody_asks_for_more(tmp_path: Path) -> None:
    """Batteries name their phases as they like: each pattern begins with its first one."""
    asked: list[tuple[str, dict[str, object]]] = [
        ("states", {"seconds": "100ms", "rest_s": "1s", "fills": "1"}),
        ("dispersion", {"kinds": "read", "seconds": "500ms", "fills": "1"}),
    ]
    drive = Twin(load(TWIN, scale="1/64"), seed=1).open()
    text = render([run_batteries(drive, asked, tmp_path / "run")])
    assert '"shown_phases":["fresh","load"]' in text.replace('": [', '":[').replace('", "', '","')
