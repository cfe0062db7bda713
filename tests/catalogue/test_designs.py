"""The designs of the market in examples/designs: drives whose fills have the shapes they say.

A fill of the drive scaled down goes through the analysis; places are told in GB of the full size.
The expected numbers are those of the comments in the specs: published sizes, and rates by the
closed forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.shape import Shape, shape_of
from flashtwin.catalogue.loader import check, load
from flashtwin.drives.twin import Twin
from flashtwin.model.step import Job, Result, Run

DESIGNS = Path(__file__).parents[2] / "examples" / "designs"
BLOCK = 128 << 10


@dataclass(frozen=True, kw_only=True)
class Promise:
    """MB/s of each stage, and the GB at which all but the last of them end."""

    levels: tuple[float, ...]
    ends: tuple[float, ...] = ()
    scale: int = 16


PROMISED = {
    "no-cache": Promise(levels=(292,), scale=8),
    "static": Promise(levels=(545, 300), ends=(3,), scale=8),
    "reclaim": Promise(levels=(545, 272), ends=(2.2,), scale=8),
    "hybrid": Promise(levels=(2300, 600), ends=(22,), scale=8),
    "fold-first": Promise(levels=(560, 175), ends=(17.5,), scale=8),
    "lower-pages": Promise(levels=(276, 109), ends=(67.6,), scale=4),
    "staged": Promise(levels=(545, 220, 160), ends=(48, 385)),
    "copyback": Promise(levels=(545, 247, 181), ends=(48, 385), scale=8),
}


def fill(name: str, scale: int) -> Shape:
    drive = Twin(load(str(DESIGNS / f"{name}.toml"), scale=f"1/{scale}"), seed=1).open()
    size = drive.info.capacity_bytes // BLOCK * BLOCK
    job = Job(name="write", rw="write", block_bytes=BLOCK, depth=32, size=size)
    answer = drive.do(Run(label="fill", jobs=(job,), sample_s=0.5 / scale), lambda _: True)
    assert isinstance(answer, Result)
    written = answer.series
    return shape_of(curve_of(written.t_ns, written.dt_ns, written.bytes))


def test_every_design_has_a_promise() -> None:
    assert {path.stem for path in DESIGNS.glob("*.toml")} == PROMISED.keys()


@pytest.mark.parametrize("name", PROMISED)
def test_a_design_is_a_drive_and_says_where_its_values_come_from(name: str) -> None:
    path = DESIGNS / f"{name}.toml"
    spec = check(str(path))
    assert spec.id == name
    assert all(row["source"] for row in spec.values())
    head = path.read_text().partition("schema =")[0]
    assert "What the fill looks like:" in head or name == "no-cache"


@pytest.mark.parametrize("name", PROMISED)
def test_the_fill_has_the_promised_shape(name: str) -> None:
    promise = PROMISED[name]
    shape = fill(name, promise.scale)
    plateaus = shape.plateaus
    assert len(plateaus) == len(promise.levels), plateaus
    levels = [one.speed.value / 1e6 for one in plateaus]
    np.testing.assert_allclose(levels, promise.levels, rtol=0.02)
    ends = [one.end * promise.scale / 1e9 for one in plateaus[:-1]]
    np.testing.assert_allclose(ends, promise.ends, rtol=0.025)


def test_copyback_folds_faster_than_the_way_through_the_controller() -> None:
    controller, copyback = (fill(name, 8).plateaus[1:] for name in ("staged", "copyback"))
    for one, other in zip(controller, copyback, strict=True):
        assert other.speed.value > 1.1 * one.speed.value
