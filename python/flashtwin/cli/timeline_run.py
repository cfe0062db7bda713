"""`flashtwin timeline`: a stretch of time on a twin, operation by operation, for Perfetto."""

from __future__ import annotations

from pathlib import Path

from flashtwin.cli import options, progress, terminal
from flashtwin.model import units
from flashtwin.runner.target import Variant
from flashtwin.runner.timeline import Stretch, record


def run(
    drive: str,
    battery: str,
    step: str | None,
    from_s: float,
    length_s: float,
    out: Path | None,
    changes: options.Changes,
    as_json: bool,
    quiet: bool,
) -> None:
    variant = Variant(drive=drive, **changes)
    name = variant.spec().id
    where = out if out is not None else Path(f"{name}.pftrace")
    stretch = Stretch(step=step, from_s=from_s, length_s=length_s)
    with progress.observers(quiet) as observer:
        outcome = record(variant, battery, where, stretch, observer(name))
    if as_json:
        terminal.print_json(outcome)
        return
    size = units.readable_size(outcome.bytes)
    terminal.say(
        f"{outcome.slices:,} operations and transfers of {outcome.step!r}, {size}: {outcome.path}"
    )
