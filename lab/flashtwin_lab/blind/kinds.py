"""Drives of every kind of cache, what the battery discover finds of each, and the truth.

A drive is drawn from the prior of `flashtwin blind` and from its section `discover`. The battery's
own generator of steps is played on it (`noisy_host`), and its conclusions are drawn from the
answers. The truth is read from the spec and from the X-ray of the undisturbed drive: the kind is
the spec's mode (with a second tier: tiers), the way past the cache its `when_full`; the rest before
recovery begins is `fold.idle_after`, and to full the rest after which a cache that was written full
on the erased drive has nothing left to fold.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from flashtwin import _core
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import Estimate
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.record import Answered, Record
from flashtwin.batteries.discover import reading
from flashtwin.batteries.discover.words import NAME
from flashtwin.catalogue.loader import load
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.structures import DYNAMIC, HYBRID, TIERS
from flashtwin.model.drive import Drive
from flashtwin.model.finding import Finding
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.step import Mark, NotPossible, Result
from flashtwin.model.target import Progress
from flashtwin.model.units import parse_size
from flashtwin_lab.blind import generate
from flashtwin_lab.blind.generate import BLOCK, Drawn
from flashtwin_lab.blind.noisy_host import NoisyHost

MIB = 1 << 20
SAMPLE_NS = 4_000_000
# Once folding has begun the small drive is looked at so often, until all is folded.
FOLD_SAMPLE_NS, LONGEST_NS = 40_000_000, 200_000_000_000


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is inside: none where there is no such thing (no cache, or a mixed way past it).

    `visible`: a host can see the cache end in the fill; none where it may or may not. `also`: a
    kind that no test tells from the true one, by `ambiguous`.
    """

    visible: bool | None
    structure: str | None
    past: str | None
    begin_s: float | None
    full_s: float | None
    also: str | None = None


@dataclass(frozen=True, kw_only=True)
class Discovered:
    """A drive's truth and what discover said: probabilities, the words that it was sure of, rests.

    `tests` are those that it ran, `cpu_s` what all of the battery took on this machine; `measured`
    is what it had to go by, none where no cache ended in the fill.
    """

    name: str
    effects: tuple[str, ...]
    truth: Truth
    likely: Mapping[str, Mapping[str, float]]
    said: Mapping[str, str | None]
    rests: Mapping[str, Estimate | None]
    tests: tuple[str, ...]
    cpu_s: float
    measured: reading.Measured | None = None


def of_json(document: Mapping[str, Any]) -> Discovered:
    """What `dataclasses.asdict` made a document of, but for what was measured."""
    rests = document["rests"]
    fields = {
        **document,
        "truth": Truth(**document["truth"]),
        "rests": {name: ends and Estimate(**ends) for name, ends in rests.items()},
    }
    return Discovered(**fields)


def section(prior: Mapping[str, Any]) -> Mapping[str, Any]:
    """The prior's section for discover; ours where another's prior has none."""
    own: Mapping[str, Any] = prior.get("discover") or generate.read_prior()["discover"]
    return own


def designs(prior: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All designs of caches that a prior has."""
    return [*prior["designs"], *section(prior)["designs"]]


def kind_of(prior: Mapping[str, Any], number: int) -> str:
    """The kind of cache that a drive has where all kinds come in turn."""
    each = list(dict.fromkeys(str(row["structure"]) for row in designs(prior)))
    return each[number % len(each)]


def discovered(
    prior: Mapping[str, Any],
    seed: int,
    number: int,
    settings: Mapping[str, str] | None = None,
    *,
    each_kind: bool = False,
) -> Discovered:
    """The drive `number` of a campaign: the battery is run on it, and beside it stands the truth.

    `settings` are parameters of the battery as they are typed. With `each_kind` all kinds of cache
    come in turn, however rare the prior makes them.
    """
    own = section(prior)
    rng = np.random.default_rng((seed, number, 2))
    drawn, idle_s = _drawn(prior, own, rng, kind_of(prior, number) if each_kind else None)
    first = load(drawn.text, sets=drawn.sets)
    slower = drawn.capacity / first.capacity_bytes * drawn.inside["first_rate"] / drawn.speed
    sets = (*drawn.sets, f"fold.idle_after={max(idle_s / slower * 1e6, 1):.0f} us")
    # The spec of a drive without a cache says itself that it never folds.
    spec = first if "slc_cache.mode=none" in drawn.sets else load(drawn.text, sets=sets)
    truth, knee = _truth(spec, drawn, slower, idle_s)
    drive = NoisyHost(
        spec,
        seed=number + 1,
        capacity_bytes=int(drawn.capacity) // MIB * MIB,
        slower=slower,
        prior=of_one_host(prior, rng),
        rng=rng,
        knee=knee,
    )
    began = time.process_time()
    with closing(drive.open()):
        findings, tests, measured = _played(drive, settings or {})
    return Discovered(
        name=f"{drawn.design} {number}",
        effects=tuple(drive.effects),
        truth=truth,
        likely={
            part: {
                name.split(".", 1)[1]: float(finding.value or 0.0)
                for name, finding in findings.items()
                if name.startswith(f"{part}.")
            }
            for part in ("structure", "past")
        },
        said={part: _word(findings[part]) for part in ("structure", "past")},
        rests={name: _estimate(findings.get(name)) for name in ("rest_begin", "rest_full")},
        tests=tests,
        cpu_s=time.process_time() - began,
        measured=measured,
    )


def _word(finding: Finding) -> str | None:
    return None if finding.value is None else str(finding.value)


def _estimate(finding: Finding | None) -> Estimate | None:
    if finding is None or finding.value is None:
        return None
    ends = finding.interval
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return Estimate(value=float(finding.value), low=low, high=high)


def _drawn(
    prior: Mapping[str, Any], own: Mapping[str, Any], rng: np.random.Generator, kind: str | None
) -> tuple[Drawn, float]:
    """A drive of one of all designs, or of those of a kind, and its rest before it folds in idle
    time, in seconds."""

    def value(key: str) -> float:
        low, high = own["ranges"][key]
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    small = {**prior["drive"], "simulated_gb": own["simulated_gb"]}
    wide = {
        **prior,
        "drive": small,
        "designs": [row for row in designs(prior) if kind in (None, row["structure"])],
        "ranges": {**own["ranges"], **prior["ranges"]},
    }
    drawn = generate.draw(wide, rng)
    idle_s, step_mib = value("idle_s"), value("step_mib")
    if any("fold-first" in line for line in drawn.sets):
        drawn = replace(drawn, sets=(*drawn.sets, f"fold.step={step_mib * 2**20:.0f} B"))
    return drawn, idle_s


def of_one_host(prior: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The prior with the noise of one host: it is the same in all tests of a drive."""
    low, high = prior["ranges"]["noise"]
    noise = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return {**prior, "ranges": {**prior["ranges"], "noise": [noise, noise * 1.0001]}}


def _truth(
    spec: _core.Spec, drawn: Drawn, slower: float, idle_s: float
) -> tuple[Truth, float | None]:
    """The truth, and where the first plateau of a fill ends in bytes of the large drive."""
    job = Job(
        name="fill",
        rw="write",
        block_bytes=BLOCK,
        depth=32,
        size=spec.capacity_bytes // BLOCK * BLOCK,
    )
    answer = _core.Twin(spec, seed=1).run(jobs_json([job]), SAMPLE_NS, generate.go_on)
    series, xray = answer["series"], answer["xray"]
    ends_ns = series["t_ns"] + series["dt_ns"]
    ends = generate.ends_of(
        xray, np.interp(xray["t_ns"], ends_ns, np.cumsum(series["bytes"])), drawn
    )
    table = tomllib.loads(spec.to_toml())
    mode, past = _text(table, "mode"), _text(table, "when_full")
    if mode == "none" or not ends:
        none = Truth(visible=False, structure=None, past=None, begin_s=None, full_s=None)
        return none, None
    curve = Curve(dt=series["dt_ns"] / 1e9, size=series["bytes"].astype(np.float64))
    tiers = any(line.startswith("slc_cache.tier_size") for line in drawn.sets)
    truth = Truth(
        visible=generate.visible(curve, ends, SAMPLE_NS / 1e9),
        structure=TIERS if tiers else mode,
        past=None if past == "mixed" else past,
        also=either(mode, own_bytes(table) / spec.capacity_bytes),
        begin_s=idle_s,
        full_s=idle_s + _folding_s(spec, ends[0], idle_s / slower) * slower,
    )
    return truth, ends[0] * drawn.capacity / spec.capacity_bytes


def either(mode: str, own_share: float) -> str | None:
    """The kind that no test tells from this one, where there is one: a hybrid cache with so small a
    part of its own that the tests do not resolve it is a dynamic one to a host."""
    least, _ = hypothesis.values()["static"].ends
    return DYNAMIC if mode == HYBRID and own_share < least else None


def own_bytes(table: Mapping[str, Any]) -> float:
    """What the cache's own blocks hold."""
    text = _text(table, "static_size")
    return 0.0 if text == "0" else float(parse_size(text))


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table["slc_cache"][key]
    return str(value["value"] if isinstance(value, Mapping) else value)


def _folding_s(spec: _core.Spec, size: float, idle_s: float) -> float:
    """How long a cache that was written full is folded once that has begun, in seconds."""
    twin = _core.Twin(spec, seed=1)
    block = max(int(size) // BLOCK, 1) * BLOCK
    job = Job(name="write", rw="write", block_bytes=BLOCK, depth=32, size=block)
    twin.run(jobs_json([job]), SAMPLE_NS, generate.go_on)
    idle_ns = max(int(idle_s * 1e9), 1)
    twin.rest(idle_ns, idle_ns, generate.go_on)
    xray = twin.rest(LONGEST_NS, FOLD_SAMPLE_NS, generate.go_on)["xray"]
    held = xray["cache_valid_bytes"] + xray["tier_valid_bytes"]
    return float(xray["t_ns"][int(np.argmax(held <= held[-1]))]) / 1e9


def watch(progress: Progress) -> bool:
    """A watch that stops nothing."""
    return True


def _given(answer: Result | NotPossible) -> Result | NotPossible:
    return answer


def _played(
    drive: Drive, settings: Mapping[str, str]
) -> tuple[dict[str, Finding], tuple[str, ...], reading.Measured | None]:
    """The battery on a drive: its findings by name, the tests that it ran, and what they showed."""
    request = registry.request(NAME, settings)
    steps = request.battery.measure(request.parameters, drive.info)
    answers: list[Answered] = []
    step = next(steps)
    while True:
        answer: Result | NotPossible
        if isinstance(step, Mark):
            answer = NotPossible(reason="a mark")
        else:
            answer = drive.do(step, watch)
            answers.append(
                Answered(
                    label=step.label,
                    kind=type(step).__name__.lower(),
                    detail={},
                    not_possible=answer.reason if isinstance(answer, NotPossible) else None,
                    read=partial(_given, answer),
                )
            )
        try:
            step = steps.send(answer)
        except StopIteration:
            break
    record = Record(parameters=request.parameters, info=drive.info, steps=answers)
    findings = {finding.name: finding for finding in request.battery.findings(record)}
    tests = [a.label.split("/")[1] for a in answers if a.label.endswith("/write")]
    names = tuple(test.partition("-")[2] for test in tests)
    return findings, names, reading.measured_in(record)
