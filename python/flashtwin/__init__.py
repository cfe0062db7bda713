"""flashtwin measures SSDs from outside, infers what they hide, and simulates them.

    import flashtwin as ft

    run = ft.test("bx500-240", battery="fill")
    run.findings["cache_size"]

The names below are the whole interface for programs; docs/reference/python.md explains them. They
are loaded when they are first asked for, so that `import flashtwin` costs nothing.
"""

# Not from typing, which takes longer to load than all that stands before the program hears signals.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from flashtwin.api import (
        Completion,
        DriveSummary,
        Finding,
        Findings,
        FlashtwinError,
        Interrupted,
        MachineError,
        Point,
        RefusedError,
        Run,
        Runs,
        Status,
        Sweep,
        Twin,
        UsageError,
        compare,
        drives,
        load_run,
        load_runs,
        resume,
        runs,
        submit,
        sweep,
        test,
    )
    from flashtwin.api.more import discover, explain, fit, infer, new, review, same

__version__ = "0.1.0"
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
    "__version__",
    "compare",
    "discover",
    "drives",
    "explain",
    "fit",
    "infer",
    "load_run",
    "load_runs",
    "new",
    "resume",
    "review",
    "runs",
    "same",
    "submit",
    "sweep",
    "test",
]


# These load the room of studies, which the others do not need.
_STUDIES = {"discover", "explain", "fit", "infer", "new", "review", "same"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'flashtwin' has no attribute {name!r}")
    from importlib import import_module

    module = "flashtwin.api.more" if name in _STUDIES else "flashtwin.api"
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return __all__
