"""A module that is imported when it is first used: numpy takes longer to load than most commands
run. A `Lazy` stands where the import would stand; the type checker sees the import itself."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


def named(place: str) -> Any:
    """What a text "module:attribute" names, for what a room takes from one that stands below it and
    knows by name alone."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


class Lazy(ModuleType):
    """Stands for a module until somebody asks for something in it."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        # From here on its names are attributes, and this method is not called again.
        self.__dict__.update(vars(module))
        return getattr(module, name)
