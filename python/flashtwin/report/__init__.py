"""The report: one self-contained HTML page about one or more runs, with no network behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin import outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.runs.compare.compare import Comparison
    from flashtwin.runs.rundir import Run


def build(
    runs: Sequence[Run],
    out: Path,
    *,
    comparison: Comparison | None = None,
    within: Path | None = None,
    ranks: bool = False,
) -> Path:
    """Write the page of `runs` to `out`, which is returned; the same runs give the same bytes.

    With a comparison of the same runs, in the same order, what differs stands first. `within` is
    the directory that the page may not leave, where nobody typed its name. `ranks`: the drives
    stand among the catalogue's twins, too.
    """
    from flashtwin.report.page import render

    with outputs.disk(out, "write"):
        # Before the work is done.
        outputs.place_of(out, within=within)
    text = render(runs, comparison, ranks=ranks)
    outputs.write(out, text, within=within, folders=True)
    return out
