"""From facts to rows with drives in closed form, and write amplification from counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fakes import GB, MB, FakeDrive, Law

from flashtwin.errors import FlashtwinError
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.model.target import DriveInfo, Watch
from flashtwin.runner import target
from flashtwin.runner.events import Observer, unseen
from flashtwin.runner.target import Target, Variant
from flashtwin.runs import frames
from flashtwin_lab.validation.validate import Need, Validation, amplification, measure, validate

ON = Law()
OFF = Law(
    cache_bytes=90 * GB,
    fold_begin_bytes=239 * GB,
    cache_rate=240 * MB,
    direct_rate=100 * MB,
    request_s=80e-6,
)


class Counting(FakeDrive):
    """A drive in closed form that programs `waf` bytes a host byte, through SLC."""

    def __init__(self, waf: float, law: Law, name: str) -> None:
        super().__init__(law=law, name=name)
        self.waf, self.host_bytes = waf, 0

    @property
    def info(self) -> DriveInfo:
        """As a twin, whose batteries are not refused for want of an instrument."""
        can = replace(super().info.can, smart=True, power_meter=True)
        return replace(super().info, can=can)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        answer = super().do(step, watch)
        if isinstance(answer, Result) and answer.xray:
            host = np.asarray(answer.xray["host_bytes"]) + self.host_bytes
            self.host_bytes = int(host[-1])
            columns = dict.fromkeys(("direct_bytes", "gc_bytes", "pad_bytes"), np.zeros_like(host))
            programmed = {"slc_bytes": host, "fold_bytes": (host * (self.waf - 1)).astype(np.int64)}
            xray = {"t_ns": answer.xray["t_ns"], "host_bytes": host, **columns, **programmed}
            return replace(answer, xray=xray)
        return answer


def twin_target(variant: Variant) -> Target:
    spec = variant.drive
    law, waf = (OFF, 1.4) if spec == "bx500-240-nocache" else (ON, 2.0)
    return Target(name=spec, make=partial(Counting, waf, law, spec), apart=True)


@pytest.fixture
def closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "twin_target", twin_target)


def by_metric(done: Validation, drive: str) -> dict[str, Any]:
    rows = [row for row in done.rows if row.fact.drive == drive and not row.variant]
    return {row.fact.metric: row for row in rows}


@pytest.mark.usefixtures("closed_form")
def test_both_drives_from_facts_to_verdicts() -> None:
    done = validate(["bx500-240", "bx500-240-nocache"], unseen)
    on = by_metric(done, "bx500-240")
    assert {row.verdict for row in on.values()} == {"pass"}
    assert on["cache size"].measured == pytest.approx(24, rel=0.01)
    variants = [row for row in done.rows if row.variant == "1m-q1" and not row.fact.is_comparison]
    assert {row.verdict for row in variants} == {"pass"} and len(variants) == 9
    off = by_metric(done, "bx500-240-nocache")
    assert off["speed before the first drop"].measured == pytest.approx(240, rel=0.01)
    both = {row.fact.test: row for row in done.rows if row.fact.is_comparison and not row.variant}
    assert both["write amplification"].measured == pytest.approx(0.7, rel=0.01)
    assert both["fill"].verdict == "computed"
    # Equal drives but for the cache: reads agree, and the write cells show no difference.
    assert both["CrystalDiskMark SEQ1M Q8T1 read"].verdict == "pass"
    assert both["CrystalDiskMark RND4K Q1T1 write"].verdict == "miss"
    assert both["ATTO 512 B to 8 MiB, 256 MB, QD1 and QD4, read"].verdict == "pass"
    assert both["ATTO write"].verdict == "miss"
    # A closed form has neither a meter nor SMART data: four rows more find nothing,
    # nor do two variants: half full is as empty to it, and it has no SMART data.
    # Its cache does not come back with rest: copies, and their three variants, are alike too.
    assert done.missed == 3 + 4 + 2 + 4
    assert done.waiting == 0
    assert len(done.document().rows) == 25 + 25


@pytest.mark.usefixtures("closed_form")
def test_one_drive_has_no_comparisons() -> None:
    done = validate(["bx500-240"], unseen)
    assert [row.fact.drive for row in done.rows] == ["bx500-240"] * (6 + 6)
    assert done.missed == 0


@pytest.mark.usefixtures("closed_form")
def test_a_plan_that_two_rows_need_runs_once() -> None:
    heard: list[str] = []

    @contextmanager
    def show() -> Iterator[Callable[[str], Observer]]:
        yield lambda name: heard.append(name) or Observer()  # type: ignore[func-returns-value]

    need = Need(drive="bx500-240", plan="fill")
    steps = ("fill/1m-q1/pass-1", "fill/1m-q1/pass-2")
    measured = measure([need, need], show)
    assert heard == ["bx500-240, fill"]
    assert measured["bx500-240"].waf["fill", steps] == pytest.approx(2.0, rel=0.01)


def test_a_drive_that_nobody_wrote_about_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from flashtwin_lab.validation import validate as validating

    monkeypatch.setattr(validating, "drive_ids", lambda: ["mine", "bx500-240"])
    with pytest.raises(FlashtwinError, match="nothing was published about mine") as raised:
        validate(["mine"], unseen)
    assert raised.value.hint == "outcomes are known of bx500-240"
    assert raised.value.exit_code == 2


class Counted:
    """A run of which only steps and counters are asked."""

    def __init__(self, *steps: tuple[str, int | None, int]) -> None:
        self._steps = steps

    def step(self, label: str) -> Any:
        for number, (name, _, _) in enumerate(self._steps):
            if name == label:
                return SimpleNamespace(step=number)
        return None

    def xray(self, step: int) -> dict[str, Any]:
        _, host, programmed = self._steps[step]
        if host is None:
            return {}
        zero = np.zeros(2, dtype=np.int64)
        columns = {name: zero for name in frames.PROGRAMMED.values()}
        columns["slc_bytes"] = np.array([0, programmed - 1])
        columns["pad_bytes"] = np.array([0, 1])
        return {"t_ns": zero, "host_bytes": np.array([0, host]), **columns}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([], 900 / 600),
        ([("purge", None, 0)], 900 / 600),
        ([("earlier", 100, 300)], (900 - 300) / (600 - 100)),
        ([("earlier", 100, 300), ("purge", None, 0)], (900 - 300) / (600 - 100)),
    ],
)
def test_amplification_counts_from_before_the_first_pass(before: Any, expected: float) -> None:
    passes = [("fill/x/pass-1", 300, 500), ("rest", 300, 600), ("fill/x/pass-2", 600, 900)]
    run: Any = Counted(*before, *passes)
    assert amplification(run, "fill/x/pass-1", "fill/x/pass-2") == pytest.approx(expected)


def test_no_second_pass_no_amplification() -> None:
    run: Any = Counted(("fill/x/pass-1", 300, 500))
    assert amplification(run, "fill/x/pass-1", "fill/x/pass-2") is None
