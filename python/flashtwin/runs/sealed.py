"""JSON files that tell whether they are still what was written.

The last member of such a file, `check`, is the SHA-256 of what the file is to be and of all text
before that member. Invariant: one flipped bit anywhere in a file is seen, and so is a file that was
put into another's place, for `of` names the file and, where several runs have one, the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashtwin.runs.storage import damaged, digest_of, json_bytes

CHECK = "check"
# The first schema whose files have it.
SINCE = 3

_UNKNOWN = "0" * 64
_TAIL = re.compile(rb'"check": "([0-9a-f]{64})"\n\}\n\Z')


def sealed_bytes(value: Mapping[str, Any], of: str) -> bytes:
    """The value as JSON text with its check."""
    text = json_bytes({**{k: v for k, v in value.items() if k != CHECK}, CHECK: _UNKNOWN})
    body = text[: text.rindex(b'"check"')]
    return body + text[len(body) :].replace(_UNKNOWN.encode(), _digest(body, of).encode())


def unsealed(path: Path, data: bytes, value: dict[str, Any], of: str, schema: int) -> None:
    """Refuse a file that is not what was written, and take the check out of its value.

    Files of schemas before the check need have none.
    """
    tail = _TAIL.search(data)
    right = tail is not None and _digest(data[: tail.start()], of) == tail[1].decode()
    if not right and (tail or schema >= SINCE):
        raise damaged(path, "it is not what was written")
    value.pop(CHECK, None)


def _digest(body: bytes, of: str) -> str:
    return digest_of(of.encode() + b"\n" + body)
