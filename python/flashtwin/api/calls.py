"""The calls of `import flashtwin as ft`: test, resume, load_run, load_runs, drives, compare,
submit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from flashtwin.api.progress import Progress, progress_shown
from flashtwin.api.run import Run, Runs
from flashtwin.api.twin import as_sets, as_words
from flashtwin.arguments import checked
from flashtwin.catalogue.summary import Summaries, summaries
from flashtwin.runner.events import Observer
from flashtwin.runs.compare.compare import Comparison

if TYPE_CHECKING:
    from flashtwin.runner.request import Outcome

# The smallest scale that is read: no drive can be had in more parts.
MOST_DIVISOR = 1 << 20
# A battery as on the command line, or names with the parameters that are set.
Batteries = str | Mapping[str, Mapping[str, object]]
# Several of them; a text alone is one.
Targets = list[str] | list[Path] | list[str | Path] | tuple[str | Path, ...]


def drives() -> Summaries:
    """The drives of the catalogue; each `id` is a target of `test` and of `Twin`."""
    return summaries()


@checked
def load_run(path: str | Path) -> Run:
    """A run that is stored: its directory, or its name in ./flashtwin-runs.

    Raises `FlashtwinError` where there is none, or one of a newer flashtwin.
    """
    from flashtwin.runs.listing import find
    from flashtwin.runs.rundir import Run as Stored

    stored = Stored(find(path))
    # Read now, so that what is no run is said here and not at the first look at it.
    _ = stored.manifest
    return Run(stored=stored)


@overload
def test(
    target: str | Path,
    battery: Batteries | None = ...,
    *,
    size: str | int | None = ...,
    out: str | Path | None = ...,
    seed: int = ...,
    firmware: str | Sequence[str] = ...,
    sets: Mapping[str, object] | Sequence[str] | None = ...,
    scale: str | float | None = ...,
    budget: str | float | None = ...,
    preparation: str = ...,
    label: str | Sequence[str] = ...,
    report: bool = ...,
    progress: Progress = ...,
    observer: Observer | None = ...,
) -> Run: ...


@overload
def test(
    target: Targets,
    battery: Batteries | None = ...,
    *,
    size: str | int | None = ...,
    out: str | Path | None = ...,
    seed: int = ...,
    firmware: str | Sequence[str] = ...,
    sets: Mapping[str, object] | Sequence[str] | None = ...,
    scale: str | float | None = ...,
    budget: str | float | None = ...,
    preparation: str = ...,
    label: str | Sequence[str] = ...,
    report: bool = ...,
    progress: Progress = ...,
    observer: Observer | None = ...,
) -> Runs: ...


@checked
def test(
    target: str | Path | Targets,
    battery: Batteries | None = None,
    *,
    size: str | int | None = None,
    out: str | Path | None = None,
    seed: int = 1,
    firmware: str | Sequence[str] = (),
    sets: Mapping[str, object] | Sequence[str] | None = None,
    scale: str | float | None = None,
    budget: str | float | None = None,
    preparation: str = "timed",
    label: str | Sequence[str] = (),
    report: bool = True,
    progress: Progress = None,
    observer: Observer | None = None,
) -> Run | Runs:
    """Run batteries on one target or several: what `flashtwin test TARGET...` does.

    The answer is the run; of several targets, given as a list, their runs, which lie in one folder
    with a report of all. Simulated drives of a list run side by side, a process each.

    `target`: an id of the catalogue, a spec file that ends in .toml, or a path where a file of
    `size` is made and measured with fio. `battery`: text as on the command line
    ("fill:passes=1,power"), or {"fill": {"passes": 1}}; without one the standard ones run, which
    `flashtwin batteries` marks. `sets` changes values of the spec ({"slc_cache.size": "12 GB"}, or
    ["slc_cache.size=12GB"]), `scale` makes a smaller drive ("1/16", or 1/16), `budget` bounds the
    time of each target ("30m", or seconds). `preparation` is how simulated drives are filled where
    no battery looks: "timed", as a host does; "untimed", by the firmware alone; "auto", untimed
    where the drive can. `label` is what the run is called on pages and in comparisons; of a list of
    targets a list of as many. `out` is the run directory, by default a new one in ./flashtwin-runs;
    `report` writes its report.html too. `progress`: by default a live block where somebody watches
    (a terminal, a notebook); True shows it anywhere, False nowhere, and a function is called with
    each `Status`; `observer` hears more than that, in place of it. Raises
    `FlashtwinError` before anything runs where something is wrong with what was asked for, and
    `Interrupted` where it was stopped, once what was finished is kept.
    """
    from flashtwin.batteries.base import registry
    from flashtwin.runner import request

    if battery is None:
        battery = ",".join(registry.standard())
    wanted = asked_for(
        target,
        batteries=battery if isinstance(battery, str) else _as_text(battery),
        size=size,
        budget=budget,
        firmware=firmware,
        sets=sets,
        scale=scale,
        seed=seed,
        preparation=preparation,
        labels=as_words(label),
        out=out,
    )
    outcome = request.test(request.Request(**wanted), partial(progress_shown, progress, observer))
    return as_runs(outcome, not isinstance(target, str | Path), report)


def asked_for(
    target: str | Path | Targets,
    *,
    out: str | Path | None,
    firmware: str | Sequence[str],
    sets: Mapping[str, object] | Sequence[str] | None,
    scale: str | float | None,
    **more: Any,
) -> dict[str, Any]:
    """The arguments of a call in the words of a runner's `Request`."""
    words = [target] if isinstance(target, str | Path) else list(target)
    return {
        "targets": tuple(map(str, words)),
        "firmware": as_words(firmware),
        "sets": as_sets(sets),
        "scale": scale_text(scale),
        "out": None if out is None else Path(out),
        "say": silent,
        **more,
    }


# pytest takes whatever is called test for one of its own.
test.__test__ = False  # type: ignore[attr-defined]


@checked
def resume(
    run: Run | Runs | str | Path,
    *,
    report: bool = True,
    progress: Progress = None,
    observer: Observer | None = None,
) -> Run | Runs:
    """Go on with a run that was stopped, or with those of several targets, as they were asked for.

    It is what `flashtwin test --resume RUN` does: what is finished is given back as it is, targets
    that never began begin. The answer is a run, or of a folder of several its runs. Raises
    `FlashtwinError` where it cannot be gone on with (docs/guides/long-runs.md says when).
    """
    from flashtwin.runner import request

    where = run.path if isinstance(run, Run | Runs) else Path(run)
    outcome = request.resume(where, partial(progress_shown, progress, observer), say=silent)
    several = [stored.path for stored in outcome.runs] != [outcome.where]
    return as_runs(outcome, several, report and outcome.did_anything)


def as_runs(outcome: Outcome, several: bool, report: bool) -> Run | Runs:
    """The runs as programs get them, and their page."""
    runs = tuple(Run(stored=stored) for stored in outcome.runs)
    result = Runs(path=outcome.where, runs=runs) if several else runs[0]
    if report:
        result.report()
    return result


def scale_text(scale: str | float | None) -> str | None:
    """A scale as the command line spells it: 0.0625 is "1/16"."""
    if scale is None or isinstance(scale, str):
        return scale
    share = Fraction(scale).limit_denominator(MOST_DIVISOR) if 0 < scale < inf else Fraction(0)
    return str(share)


def silent(text: str) -> None:
    """A program hears nothing of what the making of a file reports."""


@checked
def load_runs(path: str | Path) -> Runs:
    """The runs in a folder, as a test of several targets leaves them; a run alone is one."""
    from flashtwin.runs.listing import find, named

    return Runs(path=find(path), runs=tuple(load_run(stored.path) for stored in named([path])))


@checked
def compare(*runs: Run | str | Path, fail_on: str | Sequence[str] = ()) -> Comparison:
    """Hold runs against the first of them, as `flashtwin compare` does.

    `fail_on`: limits such as "5%" and "cache_size=3%"; `failed` of the answer says whether some
    finding is beyond its own.
    """
    from flashtwin.runs.compare import compare as comparison
    from flashtwin.runs.compare import limits

    texts = [fail_on] if isinstance(fail_on, str) else list(fail_on)
    stored = [(run if isinstance(run, Run) else load_run(run)).stored for run in runs]
    return comparison.compare(stored, limits.parse(texts) if texts else None)


@checked
def submit(
    run: Run | str | Path,
    *,
    drive: str | None = None,
    twin: bool = False,
    out: str | Path | None = None,
) -> Path:
    """Make a folder of a measured run for a catalogue, as `flashtwin submit` does, and return it.

    `drive` is the name that it is sold by, where the run has none. `out` is the folder, by default
    one in this directory, named by drive and run. Raises `FlashtwinError` for a run that is not
    finished or was cut short, and for a simulated one unless `twin` says that it is meant.
    """
    from flashtwin.runs.submission.submit import submit as making

    stored = (run if isinstance(run, Run) else load_run(run)).stored
    return making(stored, None if out is None else Path(out), drive=drive, twin=twin)


def _as_text(batteries: Mapping[str, Mapping[str, object]]) -> str:
    """Batteries with their parameters as the command line spells them."""
    parts = []
    for name, values in batteries.items():
        settings = ",".join(f"{key}={_value(value)}" for key, value in values.items())
        parts.append(f"{name}:{settings}" if settings else name)
    return ",".join(parts)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(_value, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
