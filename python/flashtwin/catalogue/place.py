"""Where the catalogue's files are, and which of them are no drives."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = Path(__file__).parent
PUBLISHED = DIRECTORY / "published.toml"
KNOWN = DIRECTORY / "known.toml"
PRIORS = DIRECTORY / "priors.toml"
