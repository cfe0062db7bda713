"""servers: three loads of servers, a quarter of an hour each, on a drive in steady random use.

The templates of the 545s review, run with Iometer (trust P): a web server (4 KiB random, depth 32,
80 % reads), a data warehouse (8 KiB random, depth 128, 60 % reads), streaming media (64 KiB
sequential, depth 128, 90 % reads). The review does not say in which state the drive was; that it
was not erased between them is assumed, as its rates say so. Here the drive is erased, written twice
in order and once at random, and the three run back to back. The host's time a command is a prior.
"""

from __future__ import annotations

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import OverTime
from flashtwin.batteries.base.loads import KIB, Load

LOADS = {
    "web": Load(random=True, block_bytes=4 * KIB, read_percent=80, depth=32),
    "warehouse": Load(random=True, block_bytes=8 * KIB, read_percent=60, depth=128),
    "streaming": Load(random=False, block_bytes=64 * KIB, read_percent=90, depth=128),
}
TITLES = {"web": "Web server", "warehouse": "Data warehouse", "streaming": "Streaming media"}
FORM = OverTime(battery="servers", loads=LOADS, titles=TITLES, anew=False)

BATTERY = declared(__name__, **FORM.functions())
