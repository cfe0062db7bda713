"""The page that one can play with: a drive whose values are moved, filled anew at each move.

The core (`charts/kit/core.wasm.gz`, made of crates/page by `./dev page`) runs in a Worker of the
page. Invariants: findings stand only at positions that the fill battery was run at beforehand
(`study.play`), and no script here concludes anything; without the core, or in a browser without
WebAssembly, the page shows the prepared positions and says so.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from flashtwin import outputs
from flashtwin.charts import assets
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.report import template
from flashtwin.runs import frames
from flashtwin.study.play import FILL_LEVELS, REST_WORDS, RESTS_S, Game

SCRIPTS = ("dom.js", "unpack.js", "theme.js", "play_chart.js", "play.js")
WORKER = "play_worker.js"


def build(game: Game, out: Path, *, core: bool = True) -> Path:
    """Write the page; `core`: with the core, which has to be there then."""
    text = render(game, packed_core() if core else None)
    outputs.write(out, text, folders=True)
    return out


def packed_core() -> str:
    """The core, or what is missing."""
    core = assets.packed_core()
    if core is None:
        raise FlashtwinError(
            "this installation has no core for pages (flashtwin/charts/kit/core.wasm.gz)",
            hint="in a checkout: ./dev page builds it; a wheel of a release has it",
            exit_code=ENVIRONMENT,
        )
    return core


def render(game: Game, core: str | None) -> str:
    """The page as text; with no core it shows the prepared positions."""
    data = {
        "divisor": game.board.divisor,
        "idle_s": game.board.idle_s,
        "question": game.question,
        "controls": [asdict(control) for control in game.board.controls],
        "causes": [
            {"column": frames.PROGRAMMED[cause], "cause": cause, "title": title}
            for cause, title in frames.CAUSES.items()
        ],
        "levels": FILL_LEVELS,
        "rests": [
            {"seconds": seconds, "text": text}
            for seconds, text in zip(RESTS_S, REST_WORDS, strict=True)
        ],
    }
    return template.page(
        "play.html.j2",
        SCRIPTS,
        data,
        board=game.board,
        apart=[
            (title, f"{percent:+.1f} %" if round(percent, 1) else "0.0 %")
            for title, percent in game.apart
        ],
        core=core or "",
        prepared=assets.packed_json([asdict(position) for position in game.positions]),
        worker=assets.text_of(WORKER),
        play_style=assets.text_of("play.css"),
    )
