"""Makes the results that `flashtwin review` ranks by.

    .venv/bin/python -m flashtwin_lab.make.ranking [RUN...]

It runs the group quick on every drive of the catalogue whose shipped result is of another model or
another spec, or is not there, and writes python/flashtwin/study/ranking/results.json. With run
directories as arguments it takes the results from them and runs nothing. Twenty drives take some
minutes on two cores. tests/study/test_ranking.py says where results are no longer current.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import flashtwin as ft
from flashtwin.catalogue.loader import shipped_ids
from flashtwin.runs.rundir import Run, find_runs
from flashtwin.study import ranking


def main(directories: list[str]) -> None:
    """Write the results that still hold and those of the runs."""
    held, _ = ranking.current()
    results = {name: row for name, row in held.items() if name in shipped_ids()}
    with tempfile.TemporaryDirectory() as folder:
        runs = [run for name in directories for run in find_runs(Path(name))] or _runs(
            [name for name in shipped_ids() if name not in results], Path(folder) / "runs"
        )
        results |= ranking.results_of(runs)
    ranking.RESULTS.write_bytes(ranking.encoded(results))


def _runs(drives: list[str], out: Path) -> list[Run]:
    """The group quick on each of the drives."""
    if not drives:
        return []
    ft.test(drives, battery=ranking.batteries(), out=out)
    return find_runs(out)


if __name__ == "__main__":
    main(sys.argv[1:])
