"""Runs as values and files: series, findings, histograms, the run directory.

`flashtwin.runs()` lists what is stored. The call and this package have one name, and Python puts a
package into its parent once it is imported, whatever stood there; so the package can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from flashtwin.runs.listing import StoredRuns


class _Runs(ModuleType):
    def __call__(
        self,
        *places: str | Path,
        where: str | None = None,
        sort: str = "-time",
        limit: int | None = None,
    ) -> StoredRuns:
        from flashtwin.runs.query import runs

        return runs(*places, where=where, sort=sort, limit=limit)


sys.modules[__name__].__class__ = _Runs
