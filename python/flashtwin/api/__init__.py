"""flashtwin for programs and notebooks: what `import flashtwin as ft` offers.

Thin on purpose: everything here is a call of the parts that the command line uses too, with text
and numbers for arguments and values for answers. Invariant: the same arguments give the same
numbers as the command line, and what is wrong raises `FlashtwinError`.
"""

from __future__ import annotations

from flashtwin.api.calls import compare, drives, load_run, load_runs, resume, submit, test
from flashtwin.api.run import Run, Runs
from flashtwin.api.studies import Point, Sweep, runs, sweep
from flashtwin.api.twin import Completion, Twin
from flashtwin.catalogue.summary import Summary as DriveSummary
from flashtwin.errors import FlashtwinError, MachineError, RefusedError, UsageError
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.model.target import Interrupted
from flashtwin.runner.events import Status

__all__ = [
    "Completion",
    "DriveSummary",
    "Finding",
    "Findings",
    "FlashtwinError",
    "Interrupted",
    "MachineError",
    "Point",
    "RefusedError",
    "Run",
    "Runs",
    "Status",
    "Sweep",
    "Twin",
    "UsageError",
    "compare",
    "drives",
    "load_run",
    "load_runs",
    "resume",
    "runs",
    "submit",
    "sweep",
    "test",
]
