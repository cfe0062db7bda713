"""The site of the documentation: its contents lead to every page, the gallery has every drive."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from flashtwin.catalogue.loader import shipped_ids

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def pages(contents: Any) -> list[str]:
    """The paths in a table of contents, however deep."""
    if isinstance(contents, str):
        return [contents]
    parts = contents.values() if isinstance(contents, dict) else contents
    return [path for part in parts for path in pages(part)]


def test_the_contents_lead_to_every_page_once() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text())
    written = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(pages(site["project"]["nav"])) == sorted(written)


def test_the_gallery_shows_every_drive() -> None:
    """After a change of the catalogue: .venv/bin/python -m flashtwin_lab.make.gallery."""
    shown = re.findall(r"images/gallery/(\S+)\.svg\)", (DOCS / "gallery.md").read_text())
    pictures = {path.stem for path in (DOCS / "images" / "gallery").glob("*.svg")}
    assert set(shown) == pictures == set(shipped_ids())
