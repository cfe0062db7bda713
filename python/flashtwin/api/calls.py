"""The calls of `import flashtwin as ft`: test, resume, load_run, drives, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from flashtwin.api.run import Run
from flashtwin.battery.quantity import parse_seconds, parse_size
from flashtwin.catalogue.summary import Summaries, summaries
from flashtwin.comparison.compare import Comparison
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.runner.observer import Observer, Silent

# A battery as on the command line, or names with the parameters that are set.
Batteries = str | Mapping[str, Mapping[str, object]]
DEFAULT = "fill,crystaldiskmark"


def drives() -> Summaries:
    """The drives of the catalogue; each `id` is a target of `test` and of `Twin`."""
    return summaries()


def load_run(path: str | Path) -> Run:
    """A run that is stored: its directory, or its name in ./flashtwin-runs.

    Raises `FlashtwinError` where there is none, or one of a newer flashtwin.
    """
    from flashtwin.results.listing import find
    from flashtwin.results.rundir import Run as Stored

    stored = Stored(find(path))
    # Read now, so that what is no run is said here and not at the first look at it.
    _ = stored.manifest
    return Run(stored=stored)


def test(
    target: str | Path,
    *,
    battery: Batteries = DEFAULT,
    size: str | int | None = None,
    out: str | Path | None = None,
    seed: int = 1,
    firmware: Sequence[str] = (),
    sets: Mapping[str, object] | None = None,
    scale: str | None = None,
    budget: str | float | None = None,
    report: bool = True,
    observer: Observer | None = None,
) -> Run:
    """Run batteries on one target: what `flashtwin test TARGET` does, with its run as the answer.

    `target`: an id of the catalogue, a spec file that ends in .toml, or a path where a file of
    `size` is made and measured with fio. `battery`: text as on the command line
    ("fill:passes=1,crystaldiskmark"), or {"fill": {"passes": 1}}. `sets` changes values of the
    spec ({"slc_cache.size": "12 GB"}), `scale` makes a smaller drive ("1/16"), `budget` bounds the
    time ("30m", or seconds). `out` is the run directory, by default a new one in ./flashtwin-runs;
    `report` writes its report.html too. Raises `FlashtwinError` before anything runs where
    something is wrong with what was asked for.
    """
    from flashtwin.battery import registry
    from flashtwin.runner.resolve import Wishes, command_of, resolve
    from flashtwin.runner.targets import default_out
    from flashtwin.runner.together import Task, places, run_tasks

    text = battery if isinstance(battery, str) else _as_text(battery)
    requests = registry.parse(text)
    wishes = Wishes(
        size=_size(size),
        firmware=tuple(firmware),
        sets=tuple(f"{key}={value}" for key, value in (sets or {}).items()),
        scale=scale,
        seed=seed,
        quiet=True,
    )
    (chosen,) = resolve([str(target)], wishes)
    where = default_out([chosen.target.name], datetime.now()) if out is None else Path(out)
    budget_s, told = _budget(budget)
    command = command_of([chosen], text, None if size is None else str(size), told, wishes)
    task = Task(
        target=chosen.target,
        batteries=requests,
        place=places([chosen.target.name], where)[0],
        apart=False,
        observer=observer or Silent(),
        budget_s=budget_s,
    )
    (stored,) = run_tasks([task], seed=seed, command=command)
    run = Run(stored=stored)
    if report:
        run.report()
    return run


# pytest takes whatever is called test for one of its own.
test.__test__ = False  # type: ignore[attr-defined]


def resume(run: Run | str | Path, *, report: bool = True, observer: Observer | None = None) -> Run:
    """Go on with a run that was stopped: what `flashtwin test --resume RUN` does with one run.

    It is gone on with as it was asked for, and a run that is finished is given back as it is.
    Raises `FlashtwinError` where it cannot be gone on with (docs/guides/long-runs.md says when).
    """
    from flashtwin.results import listing
    from flashtwin.runner.again import Kept
    from flashtwin.runner.together import run_tasks

    where = run.path if isinstance(run, Run) else listing.find(Path(run))
    kept = Kept(where, say=lambda text: None)
    if kept.places != [where]:
        raise FlashtwinError(
            f"{where} is a folder of several runs",
            hint="give one of them, or use flashtwin test --resume",
            exit_code=USAGE,
        )
    tasks = kept.tasks(lambda name: observer or Silent())
    run_tasks(tasks, seed=kept.seed, command=kept.command)
    done = load_run(where)
    if report and tasks:
        done.report()
    return done


def compare(*runs: Run | str | Path, fail_on: str | Sequence[str] = ()) -> Comparison:
    """Hold runs against the first of them, as `flashtwin compare` does.

    `fail_on`: limits such as "5%" and "cache_size=3%"; `failed` of the answer says whether some
    finding is beyond its own.
    """
    from flashtwin.comparison import compare as comparison
    from flashtwin.comparison import limits

    texts = [fail_on] if isinstance(fail_on, str) else list(fail_on)
    stored = [(run if isinstance(run, Run) else load_run(run)).stored for run in runs]
    return comparison.compare(stored, limits.parse(texts) if texts else None)


def _as_text(batteries: Mapping[str, Mapping[str, object]]) -> str:
    """Batteries with their parameters as the command line spells them."""
    parts = []
    for name, values in batteries.items():
        given = ",".join(f"{key}={_value(value)}" for key, value in values.items())
        parts.append(f"{name}:{given}" if given else name)
    return ",".join(parts)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(_value, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _size(size: str | int | None) -> int | None:
    if size is None or isinstance(size, int):
        return size
    try:
        return parse_size(size)
    except ValueError as error:
        raise FlashtwinError(f"size {size!r}: {error}", exit_code=USAGE) from None


def _budget(budget: str | float | None) -> tuple[float | None, str | None]:
    if budget is None:
        return None, None
    try:
        seconds = parse_seconds(str(budget))
    except ValueError as error:
        raise FlashtwinError(f"budget {budget!r}: {error}", exit_code=USAGE) from None
    if not seconds:
        raise FlashtwinError("a budget is more than no time", exit_code=USAGE)
    return seconds, str(budget)
