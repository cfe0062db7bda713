"""Iometer's configuration files (.icf): what one asks for, and a file for the battery's loads.

`grammar` reads what stands in a file, `asked` says which loads follow from it. Invariant: what a
file from `text_of` asks for is read back as it was.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.iometer import ACCESS, Access
from flashtwin.batteries.iometer.asked import Asked, asked
from flashtwin.batteries.iometer.grammar import COLUMNS, read
from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIX = ".icf"


def parse(text: str, name: str, targets: Sequence[str] = ()) -> Asked:
    """What a file asks for; raises with the file's line and what to change."""
    return asked(read(text, name), targets)


def text_of(parameters: Any) -> str:
    """A file that asks Iometer for the loads: test setup, specifications, no managers."""
    hours, rest = divmod(round(parameters.seconds), 3600)
    depths = parameters.depths
    return "\n".join(
        (
            "Version 1.1.0 ",
            f"'TEST SETUP {'=' * 68}",
            "'Run Time",
            "'\thours      minutes    seconds",
            f"\t{hours:<11}{rest // 60:<11}{rest % 60}",
            "'Queue Depth Cycling",
            "'\tstart      end        step       step type",
            f"\t{depths[0]:<11}{depths[-1]:<11}{_step(depths)}",
            "'Test Type",
            "\tCYCLE_OUTSTANDING_IOS",
            "'END test setup",
            f"'ACCESS SPECIFICATIONS {'=' * 57}",
            *(row for access in parameters.access for row in _rows(access)),
            "'END access specifications",
            "Version 1.1.0 ",
            "",
        )
    )


def _step(depths: Sequence[int]) -> str:
    """Step and type of the cycling through these depths."""
    pairs = list(pairwise(depths))
    if len({b - a for a, b in pairs}) <= 1:
        step = pairs[0][1] - pairs[0][0] if pairs else 1
        kind = "LINEAR"
    else:
        step, kind = pairs[0][1] // pairs[0][0], "EXPONENTIAL"
        if step < 2 or any(b != a * step for a, b in pairs):
            step = 0
    if step < 1:
        raise FlashtwinError(
            f"iometer: Iometer cannot cycle through the depths {'+'.join(map(str, depths))}",
            hint="set depths that rise by one step or by one factor, such as 1+2+4+8",
            exit_code=USAGE,
        )
    return f"{step:<11}{kind}"


def _rows(access: Access) -> tuple[str, ...]:
    random = 100 if access.random else 0
    values = (access.block_bytes, 100, access.read_percent, random, 0, 1, 0, 0)
    return (
        "'Access specification name,default assignment",
        f"\t{ACCESS.show(access)},NONE",
        f"'{','.join(COLUMNS)}",
        f"\t{','.join(map(str, values))}",
    )
