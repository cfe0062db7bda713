"""Makers of what ships or stands in docs: each module is run by `python -m`, from a checkout.

`ROOT` is the checkout; an installed copy of the laboratory makes nothing.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
# Programs that make up series, which the tests use too.
SERIES = ROOT / "tests" / "study"


def typed_numbers(**usual: int) -> list[int]:
    """The whole numbers behind the module's name, and the usual ones for those left out."""
    words = sys.argv[1:]
    names = " ".join(name.upper() for name in usual)
    if len(words) > len(usual) or not all(word.isdecimal() for word in words):
        name = f"{__name__}.{Path(sys.argv[0]).stem}"
        sys.exit(f"usage: .venv/bin/python -m {name} [{names}]")
    return [*map(int, words), *list(usual.values())[len(words) :]]
