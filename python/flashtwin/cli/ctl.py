"""`flashtwin ctl`: the power and the faults of a drive that is served."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flashtwin.cli import options, terminal
from flashtwin.drives import control
from flashtwin.errors import USAGE, FlashtwinError

ORDERS = ("cut", "fault", "state", "smart")
# What breaks, and the arguments that say how: names and what reads them.
FAULTS: dict[str, dict[str, Callable[[str], int | float]]] = {
    "slow-die": {"die": int, "factor": float},
    "dead-die": {"die": int},
    "dead-block": {"superblock": int},
    "unreadable": {"unit": int, "units": int},
    "read-only": {},
    "hot": {"celsius": float},
    "stall": {"seconds": float},
    "vanish": {"bytes": int},
}


@click.command(
    "ctl",
    epilog=options.examples(
        "flashtwin ctl ./drive cut",
        "flashtwin ctl ./drive cut --off 10s",
        "flashtwin ctl ./drive cut --after 1000",
        "flashtwin ctl ./drive fault slow-die die=0 factor=20",
        "flashtwin ctl ./drive fault unreadable unit=0 units=16",
        "flashtwin ctl ./drive state",
    ),
)
@click.argument("socket", type=options.FilePath())
@click.argument("order", metavar="ORDER", type=click.Choice(ORDERS))
@click.argument("words", nargs=-1, metavar="[FAULT [NAME=VALUE...]]")
@click.option(
    "--off", type=options.TIME, default=0.0, metavar="TIME", help="With cut: how long it stays off."
)
@click.option(
    "--after",
    type=options.Integer(1),
    metavar="N",
    help="With cut: not now, but with the N-th request that comes.",
)
def command(
    socket: Path, order: str, words: tuple[str, ...], off: float, after: int | None
) -> None:
    """Order a drive that flashtwin serve serves.

    SOCKET is its control socket, or its --data where it is served without --socket.

    ORDER is cut, fault, state or smart. cut takes its power: what is under way is never answered,
    and all clients lose the drive. fault breaks something: slow-die, dead-die, dead-block,
    unreadable, read-only (its end of life), hot, stall, or vanish, after so many bytes. state and
    smart print JSON.
    """
    if words and order != "fault":
        raise click.UsageError(f"{order} takes no arguments")
    if (off or after) and order != "cut":
        raise click.UsageError(f"{'--off' if off else '--after'} belongs to cut")
    match order:
        case "cut":
            wait = {} if after is None else {"after": after}
            answer = control.send(socket, {"order": "cut", "off_s": off, **wait})
            terminal.say(_of_cut(answer))
        case "fault":
            control.send(socket, {"order": "fault", **_fault(words)})
            terminal.say(f"{words[0]}: done")
        case _:
            terminal.print_json(control.send(socket, {"order": order}))


def _of_cut(answer: dict[str, Any]) -> str:
    if answer.get("waits"):
        return "the power will be cut with that request"
    if not answer["comes_back"]:
        return "the power was cut, and the drive does not come back"
    return f"the power was cut; the drive took {answer['start_s']:.3g} s for its start"


def _fault(words: tuple[str, ...]) -> dict[str, Any]:
    """A fault and its arguments, as they are sent."""
    if not words or words[0] not in FAULTS:
        raise FlashtwinError(
            "there is no such fault" if words else "fault needs to know what breaks",
            hint=f"there are {', '.join(sorted(FAULTS))}",
            exit_code=USAGE,
        )
    kind, *pairs = words
    known, values = FAULTS[kind], {}
    usage = f"write {' '.join([kind, *(f'{name}=N' for name in known)])}"
    for pair in pairs:
        name, _, text = pair.partition("=")
        try:
            values[name] = known[name](text)
        except (KeyError, ValueError):
            raise FlashtwinError(
                f"{kind} does not take {pair!r}", hint=usage, exit_code=USAGE
            ) from None
    if missing := [name for name in known if name not in values]:
        raise FlashtwinError(f"{kind} lacks {', '.join(missing)}", hint=usage, exit_code=USAGE)
    return {"fault": kind, **values}
