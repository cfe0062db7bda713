"""`flashtwin same`: a probability for each drive, and the findings behind it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from flashtwin.cli import progress, terminal
from flashtwin.drives.consent import Consent
from flashtwin.study.same.judge import Judgement, Same, priors
from flashtwin.study.same.measure import Question, answer

# Grounds that a terminal shows of each drive; --json has all of them.
MOST_SHOWN = 12


def run(
    run: Path,
    drives: tuple[str, ...],
    prior: float | None,
    out: Path | None,
    consent: Consent,
    as_json: bool,
    quiet: bool,
) -> None:
    question = Question(
        run=run,
        drives=drives,
        prior=prior,
        out=out,
        consent=consent,
        say=(lambda text: None) if quiet else None,
    )
    judgements = answer(question, partial(progress.observers, quiet))
    if as_json:
        terminal.print_json(Same(run=str(run), drives=judgements))
        return
    for judgement in judgements:
        _show(run, judgement)


def _show(run: Path, judgement: Judgement) -> None:
    believed = priors()
    terminal.say(
        f"{judgement.name}: {_percent(judgement.likelihood)} likely to be built as the drive of"
        f" {run.name}"
    )
    terminal.say(
        f"  {_percent(judgement.prior)} before anything was compared; who began with"
        f" {_percent(believed['sceptic'])} or {_percent(believed['believer'])} has"
        f" {_percent(judgement.low)} or {_percent(judgement.high)}"
    )
    shown = [row for row in judgement.grounds if row.says != "nothing"]
    for row in shown[:MOST_SHOWN]:
        times = f"x{row.factor:.3g}" if row.factor >= 1 else f"1/{1 / row.factor:.3g}"
        terminal.say(f"  {row.says:<8} {times:<9} {row.about}: {row.text}")
    silent = len(judgement.grounds) - len(shown[:MOST_SHOWN])
    if silent:
        terminal.say(f"  {silent} more say little; --json has them")
    for note in judgement.notes:
        terminal.say(f"  note: {note}")


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.1f} %" if percent < 10 or percent > 99 else f"{percent:.0f} %"
