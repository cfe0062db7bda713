"""What a list of runs can be asked for: the columns of a condition, the keys of an order.

Nothing else is loaded with it, so that a help page can name them.
"""

from __future__ import annotations

COLUMNS = {
    "path": "VARCHAR",
    "name": "VARCHAR",
    "target": "VARCHAR",
    "kind": "VARCHAR",
    "battery": "VARCHAR",
    "state": "VARCHAR",
    "started": "TIMESTAMP",
    "wall_s": "DOUBLE",
    "seed": "BIGINT",
    "spec": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "flashtwin": "VARCHAR",
    "steps": "BIGINT",
    "bytes": "BIGINT",
}
# What a list can be sorted by, besides the names of findings.
SORTS = ("time", "target", "battery", "state", "seed", "size", "path")
