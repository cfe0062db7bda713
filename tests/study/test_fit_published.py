"""A twin of published figures: refused tables, figures that are held out, what is found."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit

from flashtwin import catalogue
from flashtwin.catalogue.label import spec_text
from flashtwin.catalogue.loader import load
from flashtwin.cli.fit import command
from flashtwin.errors import FlashtwinError
from flashtwin.hypothesis import settled
from flashtwin.study.fit import published, settled_twin, settling, timed
from flashtwin_lab.validation import page

SAMPLE = Path(__file__).with_name("settled.toml")
MIB = 1 << 20


@pytest.fixture(autouse=True)
def small_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "COPY_BYTES", 64 * MIB)


@pytest.mark.parametrize("name", sorted(at.stem for at in catalogue.SETTLED.glob("*.toml")))
def test_a_shipped_table_is_found_by_its_name_and_read(name: str) -> None:
    table = published.read(published.find(name))
    assert table.label.id == name and "PVLDB" in table.source
    assert 0 < len(table.fitted) < len(table.figures)
    assert load(table.text).id == name


def test_a_name_of_no_table_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(FlashtwinError, match="no table of that name") as refused:
        published.find("nothere")
    assert "micron-7450-pro-960" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("waf", 0.1, "is none"),
        ("span", "5 GB", "more than the drive holds"),
        ("span", "x%", "no percentage"),
        ("write", "3 MB/s", "either waf or write"),
        ("zone", "1 GiB", None),
        ("load", "zipf", "theta"),
        ("load", "parts", "pairs"),
        ("load", "zones", "zone"),
        ("load", "backwards", "backwards"),
        ("tolerance", 2.0, "tolerance"),
        ("use", "held out", "to be fitted to"),
        ("wafs", 2.0, "wafs"),
    ],
)
def test_a_wrong_row_is_refused_by_its_place(
    tmp_path: Path, key: str, value: object, why: str | None
) -> None:
    document = tomlkit.parse(SAMPLE.read_text()).unwrap()
    document["figure"] = [{"load": "uniform", "span": "70%", "waf": 1.5, key: value}]
    path = tmp_path / "figures.toml"
    path.write_text(tomlkit.dumps(document))
    if why is None:
        assert published.read(path).figures
        return
    with pytest.raises(FlashtwinError, match=why) as refused:
        published.read(path)
    assert refused.value.exit_code == 2 and refused.value.hint


def test_fit_takes_either_a_run_or_a_table(tmp_path: Path) -> None:
    for words in ([], [str(tmp_path), "--published", str(SAMPLE)]):
        with pytest.raises(FlashtwinError, match="either") as refused:
            command.main(words, standalone_mode=False)
        assert refused.value.exit_code == 2
    with pytest.raises(FlashtwinError, match="for fits of a run"):
        command.main(["--published", str(SAMPLE), "--study", "a.db"], standalone_mode=False)


def test_more_flash_and_smaller_superblocks_move_less() -> None:
    table = published.read(SAMPLE)
    search = settling.Settling(published=table)
    spread = next(f for f in table.figures if f.pattern.kind == "uniform" and not f.is_rate)
    zones = next(figure for figure in table.figures if figure.pattern.kind == "zones")
    usual = settling.Place(flash_bytes=4440 * MIB, superblock_bytes=12 * MIB)
    more = settling.Place(flash_bytes=4700 * MIB, superblock_bytes=12 * MIB)
    large = settling.Place(flash_bytes=4440 * MIB, superblock_bytes=24 * MIB)
    assert search.ratio(usual, spread) == pytest.approx(spread.value, rel=0.01)
    assert search.ratio(more, spread) < 0.97 * search.ratio(usual, spread)
    assert search.ratio(large, zones) > 1.1 * search.ratio(usual, zones)


def test_a_zone_that_is_trimmed_and_written_whole_moves_nothing() -> None:
    """Zones of several superblocks are as good as sequential writes."""
    spec = load(published.read(SAMPLE).text)
    zones = settled.Pattern(kind="zones", zone_bytes=512 * MIB)
    assert settled.amplification(spec, zones, 3 << 30, seed=1) == pytest.approx(1.0, abs=0.01)


def test_rates_tell_what_a_write_and_a_move_take() -> None:
    figures = [figure for figure in published.read(SAMPLE).figures if figure.is_rate]
    costs = settling.costs_of(figures, [1.525, 1.879, 2.54])
    assert costs.page_s is not None and costs.move_s is not None
    assert costs.page_s * 4096 == pytest.approx(10e-6, rel=0.01)
    assert costs.move_s * 4096 == pytest.approx(5e-6, rel=0.01)
    assert costs.long_s is None


def test_a_settled_copy_takes_less_the_longer_a_move_takes() -> None:
    table = published.read(SAMPLE)
    spec, scale = timed.copy(table.text)
    full, small = settled.values_of(load(table.text)), settled.values_of(spec)
    assert scale > 1
    assert all(small[key] == full[key] for key in ("nand.planes", "nand.blocks_per_plane"))
    texts = [
        spec_text(
            table.label,
            changes={
                "controller.move_time": (f"{us} us", "fitted", "a test"),
                "nand.native.tprog": ("300 us", "fitted", "a test"),
            },
        )
        for us in (1, 200)
    ]
    rates = [timed.settled_rate(text, int(3.6e9), 1) for text in texts]
    assert rates[0] > 1.5 * rates[1]


@pytest.mark.parametrize(
    ("least", "most", "share", "note"),
    [
        (2.0, 0.5, 0.667, None),
        (0.8, 0.4, 0.0, "take longer for a move"),
        (3.0, 1.2, 1.0, "is faster than"),
    ],
)
def test_the_time_of_a_move_is_what_the_flash_leaves_of_it(
    least: float, most: float, share: float, note: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rates on a line: about what is wanted, slower at both ends, faster at both ends."""
    table = published.read(SAMPLE)
    search = settling.Settling(published=published.without_what_is_held_out(table))
    place = settling.Place(flash_bytes=4440 * MIB, superblock_bytes=12 * MIB)
    costs = settling.Costs(page_s=2.5e-9, move_s=1.25e-9)
    best = settling.Fit(
        place=place, costs=costs, misfit=0, flash=(1, 1), superblock=None, policies={}
    )
    figure = max(
        (f for f in table.fitted if f.pattern.kind == "uniform" and f.is_rate),
        key=lambda each: search.ratio(place, each),
    )
    wanted = settling.rate_of(figure, search.ratio(place, figure), costs)
    assert wanted is not None

    def rate(text: str, *_: object) -> float:
        spec = load(text)
        values = settled.values_of(spec)
        # Blocks of the spec that is written hold the flash that was found.
        usable = int(values["nand.blocks_per_plane"]) * settled.superblock_bytes(values)
        assert usable == pytest.approx(place.flash_bytes, rel=0.02)
        moved = values["controller.move_time"].split()
        done = 0.0 if moved[0] == "0" else float(moved[0]) * {"ns": 1, "us": 1e3}[moved[1]]
        return wanted * (least + (most - least) * done / 5120)

    monkeypatch.setattr(timed, "settled_rate", rate)
    found = settled_twin._in_time(table, search, best)
    moved_ns = float(str(found.times["controller.move_time"]).split()[0])
    assert moved_ns / 5120 == pytest.approx(share, abs=0.03)
    assert (note is None and not found.notes) or (note is not None and note in found.notes[0])


@pytest.mark.full
def test_what_is_held_out_is_predicted() -> None:
    table = published.read(SAMPLE)
    twin = settled_twin.fit_published(table)
    # The label's slow flash takes longer than the made-up rates, which is said.
    assert any(note.startswith("in time the settled twin takes") for note in twin.notes)
    assert all(row.is_held for row in twin.rows), [row.words() for row in twin.rows]
    assert twin.best.place.flash_bytes == pytest.approx(4440 * MIB, rel=0.02)
    assert twin.best.place.superblock_bytes == pytest.approx(12 * MIB, rel=0.2)
    spec = load(twin.toml)
    values = settled.values_of(spec)
    assert values["controller.command_time"].startswith("10") or values[
        "controller.command_time"
    ].startswith("9")
    origins = {row["key"]: row["origin"] for row in spec.values()}
    assert origins["nand.blocks_per_plane"] == "fitted" and origins["gc.low"] == "prior"


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(at.stem for at in catalogue.SETTLED.glob("*.toml")))
def test_the_page_says_how_many_rows_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters within 5 % where they were fitted to and 10 % where held out; rates within 15 %."""
    monkeypatch.undo()
    twin = settled_twin.fit_published(published.read(published.find(name)))
    rows = twin.rows
    for is_rate, cell in (
        (False, "WAF by its own counters"),
        (True, "settled rate, by formula"),
    ):
        cells = []
        for held_out, least in ((False, 0.05), (True, 0.1)):
            bound = 0.15 if is_rate else least
            of = [
                row.off
                for row in rows
                if (row.figure.is_rate, row.figure.held_out) == (is_rate, held_out)
            ]
            held = sum(off is not None and abs(off) <= bound for off in of)
            cells.append(f"{held} of {len(of)} within {bound * 100:.0f} %")
        if any(row.figure.is_rate == is_rate for row in rows):
            assert f"| `{name}` | {cell} | {cells[0]} | {cells[1]} |" in page.HARDWARE
    even = [row for row in rows if row.figure.pattern.kind == "uniform" and row.figure.is_rate]
    fitted = max((r for r in even if not r.figure.held_out), key=lambda r: r.figure.span_bytes)
    assert twin.even_writes is not None
    held = abs(twin.even_writes / fitted.figure.value - 1) <= 0.15
    assert f"| `{name}` | even writes, in time | {held:d} of 1 within 15 % |" in page.HARDWARE
    held = abs(twin.even_writes / published.PAGE_BYTES / page.SATURATES[name] - 1) <= 0.15
    cell = "offered writes saturate at | none"
    assert f"| `{name}` | {cell} | {held:d} of 1 within 15 % |" in page.HARDWARE


def test_a_page_that_is_written_alone_takes_as_long_as_one_in_order() -> None:
    """Of the one drive with counters: what tells that the raw data has one of four threads."""
    table = published.read(published.find("micron-7450-pro-960"))
    spans = {
        kind: [f for f in table.figures if f.pattern.kind == "uniform" and f.is_rate == kind]
        for kind in (True, False)
    }
    waf = {figure.span_bytes: figure.value for figure in spans[False]}
    rates = [figure for figure in spans[True] if figure.span_bytes in waf]
    assert len(rates) == 6
    costs = settling.costs_of(rates, [waf[figure.span_bytes] for figure in rates])
    in_order = next(f.value for f in table.figures if f.pattern.kind == "sequential" and f.is_rate)
    assert costs.page_s is not None and costs.move_s is not None
    assert 1 / costs.page_s == pytest.approx(in_order, rel=0.05)
    # A page that is moved is read too.
    assert 1.0 < costs.move_s / costs.page_s < 1.6


def test_a_label_alone_tells_what_random_writes_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """WAF of the one drive whose own counters somebody published, by fill level; the page says by
    how much the label's drive is off."""
    monkeypatch.undo()
    table = published.read(published.find("micron-7450-pro-960"))
    search = settling.Settling(published=table)
    place = search._started([])
    levels = [row for row in table.figures if row.pattern.kind == "uniform" and not row.is_rate]
    off = [search.ratio(place, figure) / figure.value - 1 for figure in levels]
    assert [f"{100 * each:+.1f}" for each in off] == [
        "-0.0",
        "+0.2",
        "+0.7",
        "+4.0",
        "+8.3",
        "+15.1",
    ]
    text = (Path(__file__).parents[2] / "docs" / "concepts" / "fit.md").read_text()
    assert "off by 0.0, +0.2, +0.7, +4.0, +8.3 and +15.1 %" in text
