"""What may not be in a catalogue that others read: serial numbers, and paths of somebody's machine.

A number of a series or of a part is no serial number: what is looked for is a name of one with a
value behind it. Paths are looked for by what people's directories begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# `"serial": "S3Z8NB0K"`, `Serial Number: 1811E1`, `wwn = "0x5002538e"`.
_SERIAL = re.compile(
    r"""\b(?:\w*serial(?:[ _-]?(?:number|num|no|nr))?\.?|s/n|wwn|nguid|eui(?:-?64)?)\b["']?"""
    r"""\s*[:=#]\s*["']?(?=[\w.-]*\d)[\w.-]{5,}""",
    re.IGNORECASE,
)
_PEOPLES = ("home", "Users", "root", "mnt", "media", "run/media", "dev", "tmp", "srv", "data")
_PATH = re.compile(rf"(?<![\w.])/(?:{'|'.join(_PEOPLES)})/[\w.@+-]+|[A-Z]:\\+Users\\")
SERIAL, PATH = "a serial number", "a path of somebody's machine"


def traces(text: str) -> Iterator[tuple[int, str]]:
    """Lines that may not be there, each with what is in it."""
    for number, line in enumerate(text.splitlines(), 1):
        for kind, pattern in ((SERIAL, _SERIAL), (PATH, _PATH)):
            if pattern.search(line):
                yield number, kind
