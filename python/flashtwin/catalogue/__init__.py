"""Known drives: a spec in TOML for each, and what was published about them.

`loader` turns a name or a path into a checked spec, `facts` reads the published outcomes, `label`
makes a spec of what a drive's label says.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
# A spec a drive, called by the drive's id.
DRIVES = _HERE / "drives"
PUBLISHED = _HERE / "published.toml"
MARKET = _HERE / "market.toml"
KNOWN = _HERE / "known.toml"
PRIORS = _HERE / "priors.toml"
# Published write amplification and rates of drives that settled under one load, a table each.
SETTLED = _HERE / "settled"
