"""Makers of what ships or stands in docs: each module is run by `python -m`, from a checkout.

`ROOT` is the checkout; an installed copy of the laboratory makes nothing.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
# Programs that make up series, which the tests use too.
SERIES = ROOT / "tests" / "study"
