"""dispersion: over an hour of one load at queue depth 32, a point a second.

What the 545s review did with Iometer to see how even a drive is (trust P): after a secure erase and
128 KiB sequential writes of twice the capacity, 4000 s each of 4 KiB random writes, 4 KiB random
reads, 128 KiB sequential writes and 128 KiB sequential reads at queue depth 32. Here each kind
begins on a drive prepared anew. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import OverTime
from flashtwin.batteries.base.loads import KIB, Load

LOADS = {
    "random-write": Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=32),
    "random-read": Load(random=True, block_bytes=4 * KIB, read_percent=100, depth=32),
    "write": Load(random=False, block_bytes=128 * KIB, read_percent=0, depth=32),
    "read": Load(random=False, block_bytes=128 * KIB, read_percent=100, depth=32),
}
TITLES = {kind: load.title for kind, load in LOADS.items()}
FORM = OverTime(battery="dispersion", loads=LOADS, titles=TITLES, anew=True)

BATTERY = declared(__name__, **FORM.functions())
