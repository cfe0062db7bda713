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
    from flashtwin.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'flashtwin' has no attribute {name!r}")
    api = import_module("flashtwin.api")
    names = [*api.__all__, "__version__"]
    if name == "__all__":
        return names
    if name not in names:
        raise AttributeError(f"module 'flashtwin' has no attribute {name!r}")
    return getattr(api, name)


def __dir__() -> list[str]:
    from importlib import import_module

    return [*import_module("flashtwin.api").__all__, "__version__"]
