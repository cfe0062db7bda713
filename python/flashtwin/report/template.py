"""The templates of the pages; whatever is put into one is escaped.

A template is compiled once and kept beside it, as Python keeps its modules: compiling them takes as
long as everything else that a page does. Where nothing can be kept, each page compiles its own.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "templates"
COMPILED = FOLDER / "__pycache__"


@cache
def load(name: str) -> Any:
    """A template by its file's name; a value that it lacks is an error."""
    return _environment().get_template(name)


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    class Compiled(FileSystemBytecodeCache):
        """Known by a digest of the template's text; a place that cannot be used is left alone."""

        def load_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().load_bytecode(bucket)

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                COMPILED.mkdir(exist_ok=True)
                super().dump_bytecode(bucket)

    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=None if sys.dont_write_bytecode else Compiled(str(COMPILED)),
    )
