"""Pages out of templates: what every page has, and whatever is put into one escaped.

A template is compiled once and kept beside it, as Python keeps its modules: compiling them takes as
long as everything else that a page does. Where nothing can be kept, each page compiles its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from flashtwin import __version__
from flashtwin.charts import assets, curves, figures, numbers
from flashtwin.model import units

FOLDER = Path(__file__).parent / "templates"
COMPILED = FOLDER / "__pycache__"
# A shape for each drive in a box of 12 by 12, in the order of `figures.SHAPES`.
SHAPES = (
    "M6 1a5 5 0 1 0 0 10a5 5 0 1 0 0-10z",
    "M1.5 1.5h9v9h-9z",
    "M6 .8L11.4 10.6H.6z",
    "M6 .4L11.2 6L6 11.6L.8 6z",
    "M4.2 .8h3.6v3.4h3.4v3.6H7.8v3.4H4.2V7.8H.8V4.2h3.4z",
    "M6 11.2L.6 1.4H11.4z",
)


def page(name: str, scripts: Sequence[str], data: Mapping[str, Any], **values: object) -> str:
    """A page by its template's file: its own values, and what every page has."""
    text: str = (
        environment()
        .get_template(name)
        .render(
            version=__version__,
            numbers=numbers,
            units=units,
            shapes=SHAPES,
            dashes=[" ".join(map(str, dash)) for dash in figures.DASHES],
            colours=figures.COLOURS,
            outline=(curves.WIDTH, curves.HEIGHT),
            style=assets.styles(),
            script=assets.script(scripts),
            library=assets.packed_vega(),
            data=assets.json_text(data),
            **values,
        )
    )
    return text


@cache
def environment() -> Any:
    """Where the templates are; a value that one lacks is an error."""
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
