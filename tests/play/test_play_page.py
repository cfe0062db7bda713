"""The page to play with, in Chromium: prepared positions without the core, and with it any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from opened import Opened, move, overflow
from printed import check
from questions import question

from flashtwin import _core
from flashtwin.charts import assets
from flashtwin.errors import MachineError
from flashtwin.report import play as page_of
from flashtwin.study import play

# Once more was drawn than the answer of this number.
DRAWN_AFTER = "html:not([data-drawn='{}'])"
STATUS, FINDINGS = "#status", "#findings"
# Three caches are prepared, the drive's own is the third option.
SIZE, MODE = "#knob-0", "#knob-1"


@pytest.fixture(scope="module")
def without_core(game: play.Game, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of.build(game, tmp_path_factory.mktemp("page") / "play.html", core=False)


def test_every_option_is_a_drive_and_one_changes_nothing(game: play.Game) -> None:
    board = game.board
    assert [control.id for control in board.controls] == [
        *("size", "slc_cache.mode", "slc_cache.when_full", "op", "dies")
    ]
    for control in board.controls:
        assert control.options[control.usual].sets == ()
        for option in control.options:
            _core.parse_spec(board.text, [], [], list(option.sets), f"1/{option.divisor}")


def test_a_drive_without_a_cache_has_no_size_to_move() -> None:
    board = play.board("bx500-240-nocache")
    assert "size" not in [control.id for control in board.controls]


def test_findings_are_those_of_the_whole_drive(game: play.Game) -> None:
    sizes = [text for _, text in game.positions[0].findings if text.endswith(" GB")]
    assert [float(text.split()[0]) for text in sizes] == [pytest.approx(3.0, rel=0.01)]


def test_the_page_says_how_far_off_its_small_drive_is(game: play.Game, without_core: Path) -> None:
    """By percent of what the same battery finds on the whole drive."""
    apart = dict(game.apart)
    assert "Size of the SLC cache" in apart and 0 < max(map(abs, apart.values())) < 10
    text = " ".join(without_core.read_text().split())
    for title, percent in apart.items():
        assert f"{title} {percent:+.1f} %" in text


def test_one_file_that_asks_for_nothing(without_core: Path) -> None:
    text = without_core.read_text()
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert len(text) < 200_000


def test_without_the_core_prepared_positions_are_shown(browser: Any, without_core: Path) -> None:
    opened = Opened(browser).open(without_core)
    page = opened.page
    assert "no simulator" in page.inner_text(STATUS)
    before = page.inner_html("#seen")
    assert "GB" in page.inner_text(FINDINGS)
    move(page, SIZE, "0")
    assert page.inner_html("#seen") != before
    assert page.inner_text("#value-0") == "750 MB"
    move(page, MODE, "0")
    assert "Not prepared" in page.inner_text(STATUS)
    assert "Not analysed" in page.inner_text(FINDINGS)
    page.click("#again")
    assert page.inner_html("#seen") == before
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert overflow(page) == 0
    assert opened.wrong == []


def test_a_browser_without_webassembly_shows_prepared_positions(
    browser: Any, without_core: Path, tmp_path: Path
) -> None:
    has_core = 'id="core">AAAA<'
    page_file = tmp_path / "play.html"
    page_file.write_text(without_core.read_text().replace('id="core"><', has_core))
    opened = Opened(browser)
    opened.context.add_init_script("delete globalThis.WebAssembly")
    opened.open(page_file)
    assert "no WebAssembly" in opened.page.inner_text(STATUS)
    assert opened.page.locator("#seen path").count() == 1
    assert opened.wrong == []


def test_a_core_that_does_not_start_leaves_the_prepared_positions(
    browser: Any, without_core: Path, tmp_path: Path
) -> None:
    page_file = tmp_path / "play.html"
    page_file.write_text(without_core.read_text().replace('id="core"><', 'id="core">AAAA<'))
    page = Opened(browser).open(page_file).page
    page.wait_for_selector("#status:has-text('prepared')")
    move(page, SIZE, "0")
    assert "prepared curve" in page.inner_text(STATUS)


def test_play_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "CORE", tmp_path / "core.wasm.gz")
    with pytest.raises(MachineError, match="no core for pages") as raised:
        page_of.packed_core()
    assert raised.value.exit_code == 3
    assert "./dev page" in (raised.value.hint or "")


@pytest.mark.full
def test_in_chromium_the_core_answers_with_the_same_bytes(
    browser: Any, game: play.Game, tmp_path: Path
) -> None:
    page_of.build(game, tmp_path / "play.html")
    ask = """async (text) => { const one = new Promise((done) => {
        worker.addEventListener("message", ({ data }) => done(data.answer), { once: true }); });
      worker.postMessage({ number: -1, question: text }); return JSON.stringify(await one); }"""
    # The page's scripts have a scope of their own, which hides its Worker.
    running = 'root.dataset.core = "running";'
    text = (
        (tmp_path / "play.html").read_text().replace(running, f"window.worker = worker; {running}")
    )
    (tmp_path / "open.html").write_text(text)
    page = Opened(browser).open(tmp_path / "open.html").page
    page.wait_for_selector("html[data-core=running]", timeout=120_000)
    for name in ("fill", "paused", "random"):
        native = json.loads(_core.play(question(name)))
        assert json.loads(page.evaluate(ask, question(name))) == native, name


@pytest.mark.full
def test_a_moved_value_is_simulated_and_drawn(
    browser: Any, game: play.Game, tmp_path: Path
) -> None:
    opened = Opened(browser).open(page_of.build(game, tmp_path / "play.html"))
    page = opened.page
    page.wait_for_selector("#status:has-text('Simulated')")
    prepared, before = page.inner_html("#seen"), page.inner_text(FINDINGS)
    move(page, MODE, "0")
    page.wait_for_selector(DRAWN_AFTER.format(1))
    assert page.inner_html("#seen") != prepared
    assert "Not analysed" in page.inner_text(FINDINGS)
    page.click("#again")
    page.wait_for_selector(DRAWN_AFTER.format(2))
    assert page.inner_html("#seen") == prepared
    assert page.inner_text(FINDINGS) == before
    assert opened.wrong == []


def test_play_prints_its_page_as_json(
    game: play.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from flashtwin.cli.app import app

    monkeypatch.setattr(page_of, "packed_core", lambda: "AAAA")
    monkeypatch.setattr(play, "board", lambda *_, **__: game.board)
    monkeypatch.setattr(play, "game", lambda *_, **__: game)
    done = CliRunner().invoke(app, ["play", "eighth", "--json", "--out", str(tmp_path / "p.html")])
    assert (done.exit_code, done.stderr) == (0, "")
    check(done.stdout, "play")
    printed = json.loads(done.stdout)
    assert printed["page"] == str(tmp_path / "p.html") and (tmp_path / "p.html").exists()
    assert printed["scale"] == f"1/{game.board.divisor}"
    assert [row["options"]["size"] for row in printed["positions"]] == ["3 GB", "750 MB", "1.5 GB"]
    assert printed["apart"][0]["finding"] == "Size of the SLC cache"


def test_play_without_the_core_ends_with_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from flashtwin.cli.app import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assets, "CORE", tmp_path / "core.wasm.gz")
    done = CliRunner().invoke(app, ["play", "bx500-240"])
    assert (done.exit_code, done.stdout) == (3, "")
    assert "no core for pages" in done.stderr and "hint: " in done.stderr
    assert list(tmp_path.iterdir()) == []
