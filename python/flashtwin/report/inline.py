"""What makes a page one file: templates, styles, scripts and data, all of it inlined.

Invariants: nothing here can end the element that it stands in; the same values give the same text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parent / "assets"
STYLES = ("base.css", "parts.css")


@cache
def template(name: str) -> Any:
    """A template of the assets; whatever is put into it is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def styles() -> str:
    """The style sheets as one."""
    return "\n".join(_asset(name) for name in STYLES)


def script(names: Sequence[str]) -> str:
    """The page's own scripts as one, with a scope of their own."""
    parts = "\n".join(_asset(name) for name in names)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


@cache
def vega() -> str:
    """Vega-Embed with Vega and Vega-Lite as one script that may stand in a page."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def json_text(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
