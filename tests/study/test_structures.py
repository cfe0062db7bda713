"""What values of an unknown cache become in a spec, and what discover's conclusion is to a fit."""

from __future__ import annotations

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.hypothesis.small_drive import SmallDrive
from flashtwin.hypothesis.structures import (
    BITS,
    Cache,
    Structure,
    sets,
    settings,
    structures,
    values,
)
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.study.fit import candidate
from flashtwin.study.fit.fit import LEAST_LIKELY, against, left_open

MB = 10**6
SIZES = Cache(
    borrowed=80 * MB,
    own=20 * MB,
    reserve=30 * MB,
    rearm=10 * MB,
    idle_s=5.0,
    step=4 << 20,
    tier=60 * MB,
    tier_program_s=800e-6,
)


def called(of: Structure) -> str:
    return f"{of.name}, {of.past}"


def text(cell: str) -> str:
    return SmallDrive(
        cell=cell,
        capacity_bytes=1e9,
        raw_bytes=1.3e9,
        wordlines=11,
        slc_tprog_us=400,
        native_tprog_us=4000,
        write_buffer_kib=768,
        system_mb=5,
        rearm_bytes=1e7,
    ).text()


@pytest.mark.parametrize("cell", BITS)
@pytest.mark.parametrize("of", structures(), ids=called)
def test_every_structure_is_a_drive_with_what_was_asked_for(of: Structure, cell: str) -> None:
    spec = load(text(cell), sets=sets(of, cell, SIZES))
    resolved = {row["key"]: row["value"] for row in spec.values()}
    assert resolved["slc_cache.mode"] == of.mode
    assert ("slc_cache.tier_size" in resolved and resolved["slc_cache.tier_size"] != "0") == (
        of.name == "tiers"
    )
    if "static" in of.uses:
        assert resolved["slc_cache.static_size"] == "20 MB"
    if of.past == "fold-first":
        assert resolved["fold.step"] == "4 MiB"


def test_folding_gives_back_what_a_cell_lends() -> None:
    """Three bits a cell: half a byte for each that goes past the cache, one and a half for each
    that is staged; four bits: a third, and four thirds."""
    rows = {(of.name, of.past): of for of in structures()}
    paces = {
        (past, cell): settings(rows["dynamic", past], cell, SIZES)["fold.pace"]
        for past in ("direct", "staged")
        for cell in BITS
    }
    assert paces == {
        ("direct", "tlc"): 0.5,
        ("staged", "tlc"): 1.5,
        ("direct", "qlc"): 0.333,
        ("staged", "qlc"): 1.333,
    }
    assert settings(rows["static", "direct"], "tlc", SIZES)["fold.pace"] == 0


def test_every_free_value_says_by_what_a_host_can_tell_it() -> None:
    used = {name for of in structures() for name in of.uses}
    assert used <= set(values())
    assert all(row.seen and row.title and row.keys for row in values().values())


def concluded(**likely: float) -> Findings:
    return Findings(
        Finding(
            battery="discover",
            name=f"structure.{word.replace('_', '-')}",
            title=word,
            value=share,
            unit="fraction",
        )
        for word, share in likely.items()
    )


def test_what_discover_concluded_counts_and_rules_nothing_out() -> None:
    kinds = {row.name: row for row in candidate.structures()}
    findings = concluded(dynamic=0.02, tiers=0.98, none=0.0)
    assert against(findings, kinds["tiers"]) == 0.0
    assert against(findings, kinds["dynamic"]) == pytest.approx(7.78, abs=0.01)
    most = against(findings, kinds["none"])
    assert most == pytest.approx(10.56, abs=0.01) and LEAST_LIKELY == 0.005
    assert against(Findings(()), kinds["none"]) == 0.0


def test_a_fit_says_what_discover_does_not_tell_from_its_twin() -> None:
    kinds = {row.name: row for row in candidate.structures()}
    findings = concluded(dynamic=0.75, hybrid=0.21, static=0.04)
    assert left_open(findings, kinds["dynamic"]) == [
        "discover does not tell dynamic from hybrid (21 %)"
    ]
    assert left_open(findings, kinds["static"]) == [
        "discover says dynamic (75 %), hybrid (21 %), and static fits better here"
    ]
    assert left_open(concluded(dynamic=0.98, hybrid=0.02), kinds["dynamic"]) == []
    assert left_open(Findings(()), kinds["none"]) == []
