"""What batteries will take on targets, and which of a group's fit: asked before anything runs.

A target's drive is made for it and never opened, so no file is made and no byte moves. Invariant:
what a group leaves out is left out on all targets of a request, so that their runs can be compared,
and each is told with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from flashtwin.batteries.base import groups, registry
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.drive import Drive, Foresees
from flashtwin.model.target import DriveInfo
from flashtwin.runner.estimate import Estimate, estimate, expected
from flashtwin.runner.request import Request, targets_of


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What batteries take on one target, and where each departs from its original there."""

    info: DriveInfo
    estimate: Estimate
    departs: Mapping[str, Sequence[str]]


def forecast(request: Request) -> list[Forecast]:
    """What a request will take, a row a target; raises where a battery does not suit one."""
    assert isinstance(request.batteries, str), "only what is typed is foretold"
    asked_for = registry.parse(request.batteries)
    return [
        Forecast(
            info=info,
            estimate=expected(asked_for, drive, info),
            departs={
                battery.name: battery.battery.departures(battery.parameters, info)
                for battery in asked_for
            },
        )
        for drive, info in _drives(request)
    ]


def of_group(request: Request, name: str, say: Callable[[str], None]) -> Request:
    """The request with those batteries of a group that suit all of its targets."""
    group = groups.get(name)
    infos = [info for _, info in _drives(request)]
    fitting = []
    for text in group.batteries:
        reason = _refusal(text, infos)
        if reason is None:
            fitting.append(text)
        else:
            say(f"left out of {name}: {reason}")
    if not fitting:
        raise FlashtwinError(
            f"no battery of the group {name} suits {', '.join(info.name for info in infos)}",
            hint="flashtwin batteries lists what there is; ask with --battery",
            exit_code=USAGE,
        )
    return replace(request, batteries=",".join(fitting))


def _refusal(text: str, infos: Sequence[DriveInfo]) -> str | None:
    """Why a battery does not suit one of the targets, if it does not."""
    for info in infos:
        try:
            estimate(registry.parse(text), info)
        except FlashtwinError as error:
            return error.message
    return None


def _drives(request: Request) -> list[tuple[Drive, DriveInfo]]:
    drives = [target.make() for target in targets_of(request)]
    return [
        (drive, drive.foreseen if isinstance(drive, Foresees) else drive.info) for drive in drives
    ]
