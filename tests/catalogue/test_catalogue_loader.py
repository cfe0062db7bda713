"""Names, spec files and what is wrong with them, with a stand-in for the compiled part."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashtwin import _core
from flashtwin.catalogue import loader, summary
from flashtwin.catalogue.loader import BadSpecError, SpecIssue
from flashtwin.errors import FlashtwinError


class FakeSpecError(Exception):
    def __init__(self, *errors: dict[str, Any]):
        super().__init__("wrong")
        self.errors = list(errors)
        self.count = len(self.errors)


def mistake(key: str, line: int | None = 3) -> dict[str, Any]:
    return {"file": "a.toml", "line": line, "key": key, "message": "is wrong", "hint": "mend it"}


class FakeCore:
    """Answers with a spec of two profiles, or with what it was told to raise."""

    SpecError = FakeSpecError

    def __init__(self, failing: dict[str, list[dict[str, Any]]] | None = None):
        self.asked: list[tuple[str, list[str], list[str]]] = []
        self._failing = failing or {}

    def load_spec(
        self,
        target: str,
        search: list[str],
        firmware: list[str],
        sets: list[str],
        scale: str | None = None,
    ) -> Any:
        self.asked.append((target, firmware, sets))
        for profile in firmware or [""]:
            if profile in self._failing:
                raise FakeSpecError(*self._failing[profile])
        return SimpleNamespace(
            id="x",
            name="X",
            capacity_bytes=10**9,
            hash="abc",
            firmware_profiles=["a", "b"],
            notes=[],
        )


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    return use(monkeypatch, FakeCore())


def use(monkeypatch: pytest.MonkeyPatch, core: FakeCore) -> FakeCore:
    monkeypatch.setattr(loader, "_extension", lambda: core)
    return core


def test_files_that_are_no_drives_are_not_listed() -> None:
    assert {"published", "known", "findings"}.isdisjoint(loader.drive_ids())


def test_an_unknown_name_gives_the_nearest(core: FakeCore) -> None:
    near = loader.nearest_ids("BX500-24")
    assert near and near[0] == "bx500-240"
    with pytest.raises(FlashtwinError, match="no drive bx500-24 in") as raised:
        loader.load("bx500-24")
    assert raised.value.exit_code == 2
    assert "bx500-240" in str(raised.value.hint)
    assert core.asked == []


def test_a_spec_file_has_to_be_there(core: FakeCore, tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError, match="no spec file"):
        loader.load(str(tmp_path / "none.toml"))
    here = tmp_path / "mine.toml"
    here.write_text("")
    loader.load(str(here), firmware=["a"], sets=["k=1"])
    assert core.asked == [(str(here), ["a"], ["k=1"])]


def test_all_mistakes_come_in_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeCore({"": [mistake("nand.dies", 7), mistake("ftl", None)]}))
    with pytest.raises(BadSpecError) as raised:
        loader.load("bx500-240")
    assert raised.value.exit_code == 2
    assert raised.value.message == "bx500-240 has 2 errors"
    assert [issue.text for issue in raised.value.issues] == [
        "a.toml:7: nand.dies: is wrong",
        "a.toml: ftl: is wrong",
    ]


def test_an_issue_without_a_key_has_no_empty_place() -> None:
    issue = SpecIssue(file="a.toml", line=1, key="", message="no table", hint=None)
    assert issue.text == "a.toml:1: no table"


def test_check_tries_every_profile_and_tells_an_error_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = mistake("slc_cache.mode")
    own = mistake("fold.pace", 9)
    core = use(monkeypatch, FakeCore({"a": [shared], "b": [shared, own]}))
    with pytest.raises(BadSpecError) as raised:
        loader.check("bx500-240")
    assert [issue.key for issue in raised.value.issues] == ["slc_cache.mode", "fold.pace"]
    assert [firmware for _, firmware, _ in core.asked] == [[], ["a"], ["b"]]


def test_check_of_a_good_spec_gives_it(core: FakeCore) -> None:
    assert loader.check("bx500-240", firmware=["a"]).name == "X"
    assert [firmware for _, firmware, _ in core.asked] == [["a"], ["a", "b"]]


def test_without_the_compiled_part_the_hint_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(loader, "import_module", missing)
    with pytest.raises(FlashtwinError, match="not built") as raised:
        loader.load("bx500-240")
    assert raised.value.exit_code == 3


def row(key: str, value: str) -> dict[str, str]:
    return {"key": key, "value": value, "unit": "", "origin": "prior", "source": "s"}


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (["none", "size=0"], "none"),
        (["static", "size=0", "static_size=2 GB", "rearm=1 GB"], "static, 2 GB"),
        (["dynamic"], "dynamic, 24 GB"),
        (["hybrid", "static_size=2 GB"], "hybrid, 2 GB + 24 GB"),
        (["whole-drive", "size=0"], "whole drive"),
    ],
)
def test_the_cache_in_a_line(sets: list[str], said: str) -> None:
    """As specs that pass the checks say it: what a design has no use for is 0 there."""
    mode, *sizes = sets
    keys = [f"slc_cache.mode={mode}", *(f"slc_cache.{size}" for size in sizes)]
    line = summary.summary("x", loader.load("bx500-240", sets=keys))
    assert (line.cache, line.cell) == (said, "TLC")


def test_values_are_grouped_by_table_in_order() -> None:
    values: Any = [row("nand.slc.tr", "1 us"), row("nand.planes", "4"), row("nand.slc.tprog", "2")]
    groups = summary.grouped(values)
    assert list(groups) == ["nand.slc", "nand"]
    assert [key for key, _ in groups["nand.slc"]] == ["tr", "tprog"]


def test_an_error_is_the_same_in_the_process_that_asked() -> None:
    """Workers send their errors back pickled."""
    with pytest.raises(BadSpecError) as raised:
        loader.load("bx500-240", sets=["slc_cache.sise=1 GB"])
    sent = pickle.loads(pickle.dumps(raised.value))
    assert str(sent) == str(raised.value) and sent.issues == raised.value.issues
    assert sent.exit_code == raised.value.exit_code


def test_the_errors_of_the_extension_are_where_they_say_they_are() -> None:
    """Or an error that has one as its cause cannot be pickled with its causes."""
    errors = [one for one in vars(_core).values() if isinstance(one, type)]
    errors = [one for one in errors if issubclass(one, Exception)]
    assert len(errors) >= 5
    for error in errors:
        assert error.__module__ == _core.__name__ and pickle.loads(pickle.dumps(error)) is error
