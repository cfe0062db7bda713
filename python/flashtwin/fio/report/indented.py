"""JSON with an indent of two, byte for byte as `json.dumps(value, indent=2)` has it, and faster.

The standard library's encoder is Python where there is an indent, a generator for each level of
each value; the answer of thousands of fio's processes took it seconds. A value that stands in a
document several times (what a direction says that asked for nothing) is written once. Values are
what JSON has: dictionaries with text for keys, lists, text, numbers, booleans and nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring_ascii
from math import isfinite

_PLAIN = (dict, list, tuple)


def indented(value: object) -> str:
    """The text of a value."""
    return _text(value, "\n", {})


def _text(value: object, line: str, known: dict[tuple[int, str], str]) -> str:
    """The text of a value whose lines begin with `line`; `known` are values written before."""
    kind = type(value)
    if kind is int:
        return int.__repr__(value)
    if kind is str:
        return encode_basestring_ascii(value)  # type: ignore[arg-type]
    if kind is float and isfinite(value):  # type: ignore[arg-type]
        return float.__repr__(value)
    if kind not in _PLAIN:
        return json.dumps(value)
    key = (id(value), line)
    text = known.get(key)
    if text is None:
        text = known[key] = _filled(value, line, known)  # type: ignore[arg-type]
    return text


def _filled(
    value: Mapping[str, object] | Sequence[object], line: str, known: dict[tuple[int, str], str]
) -> str:
    deeper = line + "  "
    if isinstance(value, Mapping):
        parts = [
            f"{encode_basestring_ascii(name)}: {_text(part, deeper, known)}"
            for name, part in value.items()
        ]
        begin, end = "{", "}"
    else:
        parts = [_text(part, deeper, known) for part in value]
        begin, end = "[", "]"
    if not parts:
        return begin + end
    return begin + deeper + f",{deeper}".join(parts) + line + end
