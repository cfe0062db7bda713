"""Every label that a drive may have makes a drive: of the smallest, a middle and the largest size,
of all sizes with `--full`."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import pytest
from thinning import thinned

import flashtwin as ft
from flashtwin.catalogue.label import CELLS, INTERFACES, Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.errors import FlashtwinError
from flashtwin.model.units import parse_seconds

GB = 10**9
SIZES = (64, 120, 240, 256, 480, 512, 1000, 2000, 4000)


@pytest.mark.parametrize("sizes", [SIZES[::4], pytest.param(SIZES, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    ("interface", "cell"), thinned(list(itertools.product(INTERFACES, CELLS)), every=5)
)
def test_a_label_makes_a_drive(
    tmp_path: Path, interface: str, cell: str, sizes: tuple[int, ...]
) -> None:
    path = tmp_path / "x.toml"
    for size, dies, cache in itertools.product(sizes, (None, 16), (None, 0)):
        label = Label(
            id="x",
            name="X",
            capacity_bytes=size * GB,
            interface=interface,  # type: ignore[arg-type]
            cell=cell,  # type: ignore[arg-type]
            dram="none",
            dies=dies,
            cache_bytes=cache,
        )
        path.write_text(spec_text(label))
        values = {row["key"]: row["value"] for row in load(str(path)).values()}
        assert values["nand.cell"] == cell
        assert values["drive.capacity"] == f"{size} GB".replace("000 GB", " TB")
        if cache == 0 or cell == "slc":
            assert values["slc_cache.mode"] == "none"


@pytest.mark.parametrize(
    ("interface", "dram"), [("sata", "yes"), ("pcie3", "yes"), ("pcie5", "hmb")]
)
def test_a_label_limits_programs_in_hand_and_keeps_their_time(interface: str, dram: str) -> None:
    """A drive of 1 TB was written with programs of 3 to 6 ms, so that all dies were that slow."""
    for size in (480, 1000, 2000, 4000):
        label = Label(
            id="x",
            name="X",
            capacity_bytes=size * GB,
            interface=interface,  # type: ignore[arg-type]
            cell="tlc",
            dram=dram,  # type: ignore[arg-type]
        )
        document = tomllib.loads(spec_text(label))
        dies = document["nand"]["channels"]["value"] * document["nand"]["dies_per_channel"]["value"]
        assert 0 < document["controller"]["native_programs"]["value"] < dies
        # A whole number of programs meets the rate in the time that parts take, or nearly.
        assert 1.1e-3 <= parse_seconds(document["nand"]["native"]["tprog"]["value"]) <= 1.8e-3


def test_a_small_copy_of_a_large_drive_ends_its_cache_where_the_cache_is(tmp_path: Path) -> None:
    """4 TB of QLC at 1/64: the place where folding begins was once called its cache."""
    label = Label(
        id="x",
        name="X",
        capacity_bytes=4000 * GB,
        interface="pcie3",
        cell="qlc",
        dram="hmb",
        dies=None,
        cache_bytes=400 * GB,
    )
    (tmp_path / "x.toml").write_text(spec_text(label))
    run = ft.test(
        tmp_path / "x.toml",
        scale="1/64",
        battery="fill:patterns=128k-q32,passes=1,idle_s=0",
        out=tmp_path / "run",
        report=False,
        progress=False,
    )
    findings = {finding.name: finding for finding in run.findings}
    cache, fold = findings["cache_size"], findings["fold_begin"]
    assert cache.number == pytest.approx(400 / 64, rel=0.01)
    assert fold.number is not None and fold.number > 30


def test_sizes_are_spelled_as_people_do_and_every_value_says_where_it_comes_from() -> None:
    label = Label(
        id="x",
        name="X",
        capacity_bytes=1000 * GB,
        interface="pcie3",
        cell="tlc",
        dram="hmb",
        cache_bytes=100 * GB,
    )
    document = tomllib.loads(spec_text(label))
    assert document["drive"]["capacity"]["value"] == "1 TB"
    assert document["slc_cache"]["size"]["value"] == "100 GB"
    assert document["slc_cache"]["rearm"]["value"] == "10 GB"
    sections = {name: table for name, table in document.items() if isinstance(table, dict)}
    for name in ("slc", "native", "suspend", "variation"):
        sections[f"nand.{name}"] = sections["nand"].pop(name)
    values = {
        f"{name}.{key}": value for name, table in sections.items() for key, value in table.items()
    }
    assert len(values) > 40
    assert [key for key, value in values.items() if not value["source"].strip()] == []
    from_the_label = {key for key, value in values.items() if value["source"] == "the label"}
    assert from_the_label > {"drive.capacity", "nand.cell", "map.residency", "slc_cache.size"}


def test_what_no_label_says_is_refused() -> None:
    with pytest.raises(FlashtwinError, match="no host memory buffer"):
        spec_text(
            Label(id="x", name="X", capacity_bytes=GB, interface="sata", cell="tlc", dram="hmb")
        )


@pytest.mark.parametrize(
    "name", ['Foo "Pro" 1\\2', "a id = 'b'", "\u00e4\u2014 閃", "''", "${HOME} #x"]
)
def test_whatever_a_drive_is_called_it_is_called_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        spec_text(
            Label(
                id="x",
                name=name,
                capacity_bytes=240 * GB,
                interface="sata",
                cell="tlc",
                dram="yes",
            )
        )
    )
    assert load(str(path)).name == name


@pytest.mark.parametrize("name", ["a\nid = 'b'", "tab\there", "\x7f", "\u202egnp", "x" * 201])
def test_a_name_that_does_not_print_or_is_long_is_refused(name: str) -> None:
    label = Label(
        id="x", name=name, capacity_bytes=240 * GB, interface="sata", cell="tlc", dram="yes"
    )
    with pytest.raises(FlashtwinError, match="cannot be the name of a drive"):
        spec_text(label)
