"""JSON objects of a long text one after another, none of which has to be in memory with another.

`fio --status-interval` prints one after another, and `iostat -o JSON` one large document with an
object for each report: those that begin at a depth of nesting are handed out, each parsed by
`flashtwin.inputs`, which refuses what no program writes.

Invariants: an object holds `MOST_SIGNS` characters at most; one that is cut short ends the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flashtwin.inputs import parse_json
from flashtwin.study.infer.samples import UnreadableError

MOST_SIGNS = 4 << 20
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|"', re.DOTALL)
# Between objects a program may say anything.
_BEGIN = re.compile(r"[{\[]")


def objects(pieces: Iterator[str], depth: int) -> Iterator[dict[str, Any]]:
    """The objects that begin at this depth: inside of `depth` other objects and lists."""
    text, at, level, start = "", 0, 0, None
    for piece in pieces:
        text += piece
        while (token := (_TOKEN if level else _BEGIN).search(text, at)) is not None:
            sign = token[0]
            if sign == '"':
                # A string that goes on in the next piece.
                at = token.start()
                break
            at = token.end()
            if sign[0] == '"':
                continue
            if sign in "{[":
                if level == depth and sign == "{":
                    start = token.start()
                level += 1
            else:
                level = max(level - 1, 0)
                if level == depth and sign == "}" and start is not None:
                    yield _parsed(text[start:at])
                    start = None
        else:
            at = len(text)
        begin = at if start is None else start
        text, at = text[begin:], at - begin
        start = None if start is None else 0
        if len(text) > MOST_SIGNS:
            raise UnreadableError(
                f"has a JSON object of more than {MOST_SIGNS:,} characters",
                "no program that infer reads writes such a one",
            )


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text.encode("utf-8", "replace"))
    except ValueError as error:
        raise UnreadableError(f"has an object that is no JSON: {error}", "remove it") from None
    assert isinstance(value, dict), "it begins with a brace"
    return value
