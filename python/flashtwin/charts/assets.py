"""What a page is made of besides its template: styles, scripts and data, all of it inlined.

The scripts of Vega are one bundle, `kit/vega.js.gz`. It is made once, when the package is built
(`backend/page_scripts.py`), and a page only reads it. Invariants:
nothing here can end the element that it stands in; the same values give the same text.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from flashtwin.errors import ENVIRONMENT, FlashtwinError

KIT = Path(__file__).parent / "kit"
VEGA = KIT / "vega.js.gz"
CORE = KIT / "core.wasm.gz"
# Signs of base 85 that mean something in a page, and others in their place.
_HARMLESS = str.maketrans("<>&`", ",./:")
STYLES = ("base.css", "parts.css")


def styles() -> str:
    """The style sheets as one."""
    return "\n".join(text_of(name) for name in STYLES)


def script(names: Sequence[str]) -> str:
    """The page's own scripts as one, with a scope of their own."""
    parts = "\n".join(text_of(name) for name in names)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


@cache
def _vega() -> bytes:
    """Vega-Embed with Vega and Vega-Lite as one script that may stand in a page, packed."""
    try:
        return VEGA.read_bytes()
    except FileNotFoundError:
        raise FlashtwinError(
            "this installation has no scripts for charts",
            hint="in a checkout: ./dev flashtwin makes them; else install flashtwin again",
            exit_code=ENVIRONMENT,
        ) from None


def vega() -> str:
    """The script itself."""
    return gzip.decompress(_vega()).decode("utf-8")


def in_signs(data: bytes) -> str:
    """Bytes in signs of which none ends an element or begins anything in it; `kit/unpack.js` reads
    them."""
    return base64.b85encode(data).decode("ascii").translate(_HARMLESS)


def packed_vega() -> str:
    """The script packed and in signs that may stand in a page; `kit/library.js` unpacks it."""
    return in_signs(_vega())


def packed_core() -> str | None:
    """The core as WebAssembly, packed; none where the package was built without it."""
    try:
        return in_signs(CORE.read_bytes())
    except FileNotFoundError:
        return None


def packed_json(value: object) -> str:
    """JSON that a page unpacks itself, packed and in signs that may stand in it."""
    data = msgspec.json.encode(value, enc_hook=_plain)
    return in_signs(gzip.compress(data, 9, mtime=0))


def json_text(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = msgspec.json.encode(value, enc_hook=_plain).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(value: object) -> float:
    """numpy's numbers are floats too, which msgspec has to be told."""
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def text_of(name: str) -> str:
    """A file of the kit."""
    return (KIT / name).read_text(encoding="utf-8")
