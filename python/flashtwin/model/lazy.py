"""A module that is imported with its first use: numpy takes longer to load than most commands run.

A name of it stands where the import would stand; for the type checker the import itself does.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class Lazy(ModuleType):
    """Stands for a module until somebody asks for something in it."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        # From here on nothing of it is looked up in vain.
        self.__dict__.update(vars(module))
        return getattr(module, name)
