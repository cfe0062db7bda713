"""What the user decides where a file leaves two readings open: columns, units, device, interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Choices:
    """`doubled`: rows of one time stamp are summed. `time_column` and `rate_column`: the name or
    the number of a column, with its unit behind "=" where the header has none. `device`: of several
    drives in a report. `interval_s`: between reports that bear no time. `block_bytes`: of requests,
    where a file counts requests. `decimal`: the sign before a fraction."""

    doubled: bool = False
    time_column: str | None = None
    rate_column: str | None = None
    device: str | None = None
    interval_s: float | None = None
    block_bytes: int | None = None
    decimal: Literal["point", "comma"] | None = None


NONE = Choices()
