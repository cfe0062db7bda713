"""Known drives: a spec in TOML for each, and what was published about them.

`loader` turns a name or a path into a checked spec, `facts` reads the published outcomes, `label`
makes a spec of what a drive's label says.
"""

from __future__ import annotations

from pathlib import Path

DIRECTORY = Path(__file__).parent
# Files of the directory that are not specs of drives.
PUBLISHED = DIRECTORY / "published.toml"
KNOWN = DIRECTORY / "known.toml"
PRIORS = DIRECTORY / "priors.toml"
