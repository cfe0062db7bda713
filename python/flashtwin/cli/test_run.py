"""`flashtwin test`: the main job. Batteries on targets, a run directory each, one report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from flashtwin import report
from flashtwin.batteries.base import registry
from flashtwin.cli import advice, findings, options, progress, terminal
from flashtwin.drives.consent import Consent
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.errors import DONE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.finding import FindingRow
from flashtwin.model.target import Interrupted
from flashtwin.report import summary
from flashtwin.runner import forecast, request
from flashtwin.runner.request import Request
from flashtwin.runs.rundir import Run
from flashtwin.study import ranking

# Options that say nothing of what a run is.
_BESIDE_RESUME = (
    *("targets", "resume", "quiet", "as_json", "no_report", "verbose"),
    *("destroy_data", "yes_destroy"),
)
# The group of batteries that only read, for a device that may not be written to.
READS = "reads"


class TestedRun(Document, frozen=True):
    """A run of a target, and what was found."""

    target: str
    directory: str
    memory_bytes: int | None
    redone: list[str]
    findings: list[FindingRow]


class Tested(Document, frozen=True):
    """flashtwin test --json"""

    report: str | None
    runs: list[TestedRun]


class Reviewed(Tested, frozen=True):
    """flashtwin review --json"""

    ranking: list[ranking.Ranked]


def run(
    context: click.Context,
    targets: tuple[str, ...],
    batteries: tuple[str, ...],
    group: str | None,
    size: str | None,
    budget: str | None,
    resume: Path | None,
    out: Path | None,
    no_report: bool,
    changes: options.Changes,
    preparation: str,
    labels: tuple[str, ...],
    consent: Consent,
    no_purge: bool,
    power: PowerLog | None,
    verbose: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    how = How(quiet=quiet, as_json=as_json, page=not no_report, verbose=verbose)
    if resume is not None:
        _only_resume(context)
        go_on(resume, targets, how, consent)
        return
    if not targets:
        raise click.UsageError("Missing argument 'TARGET...'.", context)
    if group is not None and batteries:
        raise click.UsageError("--group and --battery both say what to run; leave one out", context)
    request_ = request.Request(
        targets=targets,
        batteries=",".join(batteries or registry.standard()),
        size=size,
        budget=budget,
        **changes,
        preparation=preparation,
        labels=labels,
        out=out,
        say=silent if quiet else None,
        consent=consent,
        purges=not no_purge,
        power=power,
    )
    if group is None and not batteries and request.is_only_read(request_):
        group = READS
    if group is not None:
        request_ = of_group(request_, group, quiet)
    carry_out(request_, how)


@dataclass(frozen=True, kw_only=True)
class How:
    """How a run is shown. `page`: make it. `verbose`: all findings and not five lines. `ranks`: the
    drives are ranked among the catalogue's twins, on the page and in JSON."""

    quiet: bool = False
    as_json: bool = False
    page: bool = True
    verbose: bool = False
    ranks: bool = False


def carry_out(asked_for: Request, how: How) -> None:
    """Run a request, make its page and print what was found."""
    if not how.quiet and (same := asked_for.unfinished()):
        again = terminal.typed(f"flashtwin test --resume {shlex.quote(same.name)}")
        terminal.note(f"note: {same.name} is the same and not finished; {again} goes on with it")
    outcome = request.test(asked_for, partial(progress.observers, how.quiet))
    _present(outcome.runs, outcome.where, how)


def of_group(asked_for: Request, group: str, quiet: bool) -> Request:
    """A request for the batteries of a group. What does not suit the targets is left out and
    noted."""
    say = silent if quiet else partial(terminal.note, head="note:", colour="yellow")
    return forecast.of_group(asked_for, group, say)


def go_on(run: Path, words: Sequence[str], how: How, consent: Consent | None = None) -> int:
    """Resume a run and print what was found; `words` are its targets, if they are named."""
    show = partial(progress.observers, how.quiet)
    say = silent if how.quiet else None
    outcome = request.resume(run, show, words=words, consent=consent, say=say)
    if not outcome.did_anything and not how.quiet:
        terminal.note(f"{outcome.where} is finished: nothing was left to do")
    _present(outcome.runs, outcome.where, how)
    return DONE


def _only_resume(context: click.Context) -> None:
    """Refuse other options beside --resume: a run is resumed as it was asked for."""
    default = click.core.ParameterSource.DEFAULT
    options_set = [
        parameter.opts[0]
        for parameter in context.command.params
        if context.params.get(parameter.name or "")
        and context.get_parameter_source(parameter.name or "") is not default
        and parameter.name not in _BESIDE_RESUME
    ]
    if options_set:
        raise click.UsageError(
            f"--resume goes on with what the run was asked for; leave out {', '.join(options_set)}",
            context,
        )


def silent(text: str) -> None:
    """Prints nothing, for --quiet."""


def _present(runs: Sequence[Run], where: Path, how: How) -> None:
    """Make the page, if it is wanted, and print the findings, which are there also where the page
    cannot be made."""
    if not how.page:
        _print(runs, None, how)
        return
    try:
        page_path = report.build(runs, where / "report.html", within=where, ranks=how.ranks)
    except FlashtwinError:
        _print(runs, None, how)
        raise
    except KeyboardInterrupt:
        command_text = terminal.typed(f"flashtwin report {shlex.quote(str(where))}")
        raise Interrupted(
            f"all was measured and is in {where}; {command_text} makes its page"
        ) from None
    _print(runs, page_path, how)


def _print(runs: Sequence[Run], page: Path | None, how: How) -> None:
    names = _columns(runs)
    if how.as_json:
        place = None if page is None else str(page)
        tested = [_tested(name, run) for name, run in zip(names, runs, strict=True)]
        answer = Tested(report=place, runs=tested)
        if how.ranks:
            answer = Reviewed(report=place, runs=tested, ranking=ranking.ranked_runs(runs))
        terminal.print_json(answer)
        return
    if how.verbose:
        by_target = {name: run.findings for name, run in zip(names, runs, strict=True)}
        terminal.emit(*findings.tables(by_target), terminal.cell(""))
    for line in summary.lines(runs, then=terminal.typed(advice.after(runs)), page=page):
        terminal.emit(terminal.cell(line))


def _columns(runs: Sequence[Run]) -> list[str]:
    """The targets' names, or those of their directories where two are the same."""
    names = [str(run.target["name"]) for run in runs]
    return names if len(set(names)) == len(names) else [run.path.name for run in runs]


def _tested(name: str, run: Run) -> TestedRun:
    return TestedRun(
        target=name,
        directory=str(run.path),
        memory_bytes=run.host.get("memory_needed_bytes"),
        redone=run.host.get("redone", []),
        findings=[row.row() for row in run.findings],
    )
