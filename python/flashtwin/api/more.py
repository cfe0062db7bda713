"""More calls of `import flashtwin as ft`: review, discover, same, fit, infer, new and explain.

Each does what the command of its name does, with values for answers. They load the room of studies,
so this module is imported when one of them is first asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from flashtwin import outputs, report
from flashtwin.api.calls import Targets, as_runs, asked_for, load_run, silent, test
from flashtwin.api.progress import Progress, progress_shown
from flashtwin.api.run import Run, Runs
from flashtwin.arguments import checked
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.meaning import Meaning
from flashtwin.catalogue.label import Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.units import parse_size
from flashtwin.report import inferred
from flashtwin.runner import forecast, request
from flashtwin.runner.events import counted, expected
from flashtwin.study.fit.fit import SIMULATIONS
from flashtwin.study.fit.fit import Twin as Fitted
from flashtwin.study.fit.fit import fit as fitted
from flashtwin.study.infer import infer as inference
from flashtwin.study.infer.infer import Inferred
from flashtwin.study.infer.read import Choices, read, read_all
from flashtwin.study.infer.samples import Summary
from flashtwin.study.same.judge import Judgement
from flashtwin.study.same.measure import Question
from flashtwin.study.same.measure import answer as judged


@checked
def review(
    target: str | Path | Targets,
    *,
    group: str = "review",
    size: str | int | None = None,
    out: str | Path | None = None,
    seed: int = 1,
    firmware: str | Sequence[str] = (),
    sets: Mapping[str, object] | Sequence[str] | None = None,
    scale: str | float | None = None,
    budget: str | float | None = None,
    progress: Progress = None,
) -> Run | Runs:
    """Run what a review runs, as `flashtwin review` does, and make its page with a ranking.

    `group`: another group of batteries, such as "quick". What does not suit a target is left out on
    all of them. Arguments as of `test`.
    """
    wanted = asked_for(
        target,
        size=size,
        budget=budget,
        firmware=firmware,
        sets=sets,
        scale=scale,
        seed=seed,
        out=out,
    )
    fitting = forecast.of_group(request.Request(**wanted), group, silent)
    outcome = request.test(fitting, partial(progress_shown, progress, None))
    report.build(outcome.runs, outcome.where / "report.html", within=outcome.where, ranks=True)
    return as_runs(outcome, not isinstance(target, str | Path), report=False)


@checked
def discover(target: str | Path, **options: Any) -> Run:
    """What kind of cache a drive hides: `test` with the battery discover and the same options."""
    return test(target, battery="discover", **options)


@checked
def same(
    run: Run | str | Path,
    *drives: Run | str | Path,
    prior: float | None = None,
    out: str | Path | None = None,
    progress: Progress = None,
) -> list[Judgement]:
    """How likely each drive is built as that of a run, as `flashtwin same` says it.

    A drive is a run; anything else is measured first as `run` was: an id of the catalogue is
    simulated, a device only read, a path gets a file. `prior`: how likely it is before anything is
    compared, by default 0.5. `out`: where the run of a drive that is measured goes. The answer is a
    judgement a drive, with `likelihood`, `low`, `high`, and the `grounds` that speak for and
    against.
    """
    if not drives:
        raise FlashtwinError(
            "same holds a run against drives, and none was given",
            hint='name one, such as ft.same("measured", "bx500-240")',
            exit_code=USAGE,
        )
    first, *others = [str(each.path if isinstance(each, Run) else each) for each in (run, *drives)]
    question = Question(
        run=Path(first),
        drives=tuple(others),
        prior=prior,
        out=None if out is None else Path(out),
        say=silent,
    )
    return judged(question, partial(progress_shown, progress, None))


@checked
def fit(
    run: Run | str | Path,
    *,
    out: str | Path | None = None,
    simulations: int | None = None,
    seed: int = 1,
    study: str | None = None,
    progress: Progress = None,
) -> Fitted:
    """Fit a twin to what a run measured, as `flashtwin fit` does; `toml` of the answer is its spec.

    `out`: write the spec there too. `simulations`: how many small drives are tried. `study`: a file
    or a database in which the search is kept.
    """

    stored = (run if isinstance(run, Run) else load_run(run)).stored
    count, began_s = simulations or SIMULATIONS, time.monotonic()
    with progress_shown(progress, None) as observers:
        observer = observers("fit")

        def tell(done: int, label: str) -> None:
            observer.progress(counted("fit", min(done, count), count, label, began_s))

        def foretell(all_s: float) -> None:
            if takes := expected(all_s):
                observer.noted(takes)

        twin = fitted(
            stored, simulations=count, seed=seed, study=study, tell=tell, foretell=foretell
        )
    if out is not None:
        twin.write(Path(out))
    return twin


@checked
def infer(
    *files: str | Path,
    history: str | None = None,
    first: str | Path | None = None,
    join: bool = False,
    doubled: bool = False,
    time_column: str | None = None,
    rate_column: str | None = None,
    device: str | None = None,
    interval_s: float | None = None,
    block_bytes: int | None = None,
    decimal: Literal["point", "comma"] | None = None,
    out: str | Path | None = None,
) -> Inferred:
    """What a fill that somebody else measured tells, as `flashtwin infer` says it.

    `files`: fio's logs, CSV and what else docs/reference/infer.md lists; options as of the command.
    `out`: write its page there.
    """

    if not files:
        raise FlashtwinError(
            "infer has no file to read", hint="name one, such as fill_bw.1.log", exit_code=USAGE
        )
    inference.check_history(history, with_first=first is not None)
    if out is not None:
        outputs.check(Path(out))
    choices = Choices(
        doubled=doubled,
        time_column=time_column,
        rate_column=rate_column,
        device=device,
        interval_s=interval_s,
        block_bytes=block_bytes,
        decimal=decimal,
    )
    paths = [Path(file) for file in files]
    content = read_all(paths, choices, join=join)
    samples = None if isinstance(content, Summary) else content
    if isinstance(content, Summary):
        answer = inference.of_summary(content)
    else:
        before = None if first is None else read(Path(first), choices)
        answer = inference.infer(content, history, before)
    if out is not None:
        inferred.save(answer, samples, paths, Path(out))
    return answer


@checked
def new(
    drive_id: str,
    *,
    capacity: str | int,
    interface: Literal["sata", "pcie3", "pcie4", "pcie5"],
    cell: Literal["slc", "mlc", "tlc", "qlc"],
    dram: Literal["yes", "none", "hmb"],
    name: str | None = None,
    controller: str | None = None,
    controller_model: str | None = None,
    dies: int | None = None,
    slc_cache: str | int | None = None,
    out: str | Path | None = None,
) -> str:
    """The text of a spec from what a drive's label says, as `flashtwin new` writes it.

    It is a target of `test` and of `Twin` as it is; `out`: write it there too.
    """

    def size(value: str | int) -> int:
        try:
            return value if isinstance(value, int) else parse_size(value)
        except ValueError as error:
            raise FlashtwinError(
                f"{value}: {error}",
                hint="write a size as 4GB, 512MiB or a number of bytes",
                exit_code=USAGE,
            ) from None

    label = Label(
        id=drive_id,
        name=name or drive_id,
        capacity_bytes=size(capacity),
        interface=interface,
        cell=cell,
        dram=dram,
        dies=dies,
        cache_bytes=None if slc_cache is None else size(slc_cache),
        controller=controller,
        model=controller_model,
    )
    text = spec_text(label)
    load(text)
    if out is not None:
        outputs.write(Path(out), text)
    return text


@checked
def explain(finding: str) -> Meaning:
    """What a finding means and how it is found; `finding` is an id or a word for it."""

    return registry.explain(finding)
