"""What a drive programs and why: the causes that the X-ray and the SMART data of a twin tell apart.

The one list from which write amplification and the words for its parts follow. Invariants: each
programmed byte has exactly one cause; the second pass of a wordline is the same byte again and is
none; what compression kept off the flash is counted with its cause and in `SAVED`, and is taken off
the sum. The names are those of `Counters::by_cause` in crates/ftl, checked by the tests of `Twin`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

# Name of a cause, what it is called on a page.
CAUSES: Mapping[str, str] = {
    "slc": "host data to SLC",
    "tier": "host data to the second cache tier",
    "direct": "host data direct to native cells",
    "fold": "folding",
    "gc": "garbage collection",
    "wear": "wear levelling",
    "refresh": "refresh",
    "failure": "failed blocks",
    "map": "the map",
    "pad": "padding",
    "parity": "parity",
    "journal": "journal",
    "recovery": "recovery after a power cut",
}
# Columns of the X-ray, cumulative bytes.
HOST = "host_bytes"
SAVED = "saved_bytes"
PROGRAMMED: Mapping[str, str] = {cause: f"{cause}_bytes" for cause in CAUSES}


def programmed_bytes(columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Bytes programmed so far in each row; a column that a run does not have counts nothing."""
    total = np.zeros(len(columns["t_ns"]), dtype=np.int64)
    for column in PROGRAMMED.values():
        total += columns.get(column, 0)
    return total - columns.get(SAVED, 0)
