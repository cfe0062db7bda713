"""`flashtwin rank`, the card of `report`, and the page of `infer`."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as Xml
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from flashtwin.model.finding import Finding
from flashtwin.model.shares import bar, shares_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
from made_runs import Paper, make_run

Run = Callable[..., Result]
SVG, FULL = "{http://www.w3.org/2000/svg}", "\u2588"


def units(place: Path) -> None:
    for name, cache in (("one", 24.0), ("two", 12.0), ("three", 24.0)):
        make_run(place / "units" / name, Paper(name=name, cache=cache))


def test_drives_stand_in_order_with_their_spread(run: Run, tmp_path: Path) -> None:
    units(tmp_path)
    done = run("rank", "units")
    assert done.exit_code == 0, done.stderr
    at = done.stdout.splitlines()
    head = next(n for n, line in enumerate(at) if "SLC cache" in line)
    assert "(spread 50 %)" in at[head]
    assert [line.split()[0] for line in at[head + 1 : head + 4]] == ["one", "three", "two"]
    assert at[head + 1].count(FULL) == 2 * at[head + 3].count(FULL) == 20


def test_runs_of_several_drives_lie_together_in_a_folder(run: Run, tmp_path: Path) -> None:
    """As `flashtwin test A B` leaves them below flashtwin-runs, beside runs of one drive."""
    make_run(tmp_path / "runs" / "alone", Paper(name="alone", cache=6.0))
    for name, cache in (("one", 24.0), ("two", 12.0)):
        make_run(tmp_path / "runs" / "together" / name, Paper(name=name, cache=cache))
    done = run("rank", "runs")
    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert done.exit_code == 0 and names[:3] == ["one", "two", "alone"], done.stderr


def test_a_unit_passes_or_fails_against_the_golden_run(run: Run, tmp_path: Path) -> None:
    units(tmp_path)
    done = run("rank", "units", "--golden", "units/one", "--out", "rank.html", "--json")
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert {row["name"]: row["passed"] for row in answer["golden"]} == {"three": True, "two": False}
    assert any("golden 24 GB" in miss for row in answer["golden"] for miss in row["misses"])
    assert "1 of 2 pass" in Path("rank.html").read_text()
    assert run("rank", "units/one", "units/three", "--golden", "units/one").exit_code == 0
    # One unit alone, as it comes out of its box.
    alone = run("rank", "units/two", "--golden", "units/one")
    assert alone.exit_code == 1 and "two: FAIL" in alone.stdout
    assert run("rank", "units/three", "--golden", "units/one").exit_code == 0


def test_what_cannot_be_ranked_is_said(run: Run, tmp_path: Path) -> None:
    units(tmp_path)
    alone = run("rank", "units/one")
    assert alone.exit_code == 2 and "no finding has a number in two" in alone.stderr
    assert run("rank", "units", "--golden", "units").exit_code == 2
    assert run("rank", "units", "--fail-on", "3%").exit_code == 2


def test_a_card_is_a_picture_and_sentences(run: Run, tmp_path: Path) -> None:
    make_run(tmp_path / "a", Paper(name="<b>&"))
    done = run("report", "a", "--card", "card.svg")
    assert done.exit_code == 0, done.stderr
    card = Xml.fromstring(Path("card.svg").read_text())
    words = " ".join("".join(text.itertext()) for text in card.iter(f"{SVG}text"))
    assert "<b>& (simulated): writes 24.0 GB at 461 MB/s" in words and "How sure: " in words
    assert len(list(card.iter(f"{SVG}path"))) == 1 and not list(card.iter(f"{SVG}script"))


def test_a_log_becomes_a_page(run: Run, tmp_path: Path) -> None:
    rates = [2000.0] * 20 + [600.0] * 400
    rows = [f"{second},{rate}" for second, rate in enumerate(rates)]
    (tmp_path / "fill.csv").write_text("\n".join(["seconds,MB/s", *rows]))
    done = run("infer", "fill.csv", "--out", "fill.html")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith("Page: fill.html\n")
    page = Path("fill.html").read_text()
    assert "fill.csv" in page and "data written (GB)" in page and "Plateaus" in page


def test_probabilities_of_answers_are_one_bar() -> None:
    def share(word: str, value: float) -> Finding:
        title = f"Probability: {word}"
        return Finding(battery="b", name=f"kind.{word}", title=title, value=value, unit="fraction")

    kind = Finding(battery="b", name="kind", title="Kind", value="x", choices=("x", "y", "z"))
    shares = shares_of([kind, share("y", 0.25), share("x", 0.748), share("z", 0.002)])
    assert bar(shares[kind.id]).split(", ") == [f"x {15 * FULL} 75 %", f"y {5 * FULL} 25 %"]
