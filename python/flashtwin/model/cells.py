"""Flash cells by how many bits each holds."""

from __future__ import annotations

BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
