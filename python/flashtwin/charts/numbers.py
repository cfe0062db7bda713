"""Numbers within sentences and tables of a page; findings are told by `model.text`.

MB and GB are powers of 1000; MiB/s is given beside MB/s in tables and tooltips because the
reviewers whose numbers people compare with do not say which they mean.
"""

from __future__ import annotations

from flashtwin.model import units
from flashtwin.model.text import MISSING as MISSING

# Bytes a GB, nanoseconds a second.
PER = 10**9
# Templates use it.
MIB_PER_MB = 1e6 / (1 << 20)


def significant(value: float, digits: int = 3) -> str:
    """A number in significant digits, as everywhere, with a minus as wide as a plus."""
    return units.significant(value, digits).replace("-", "\u2212")


def fixed(value: float, places: int) -> str:
    """A number with fixed places after the point, and the wide minus."""
    return units.fixed(value, places).replace("-", "\u2212")


def mbs(value: float) -> str:
    """MB/s within a sentence; the unit never begins a line."""
    return f"{significant(value)}\u00a0MB/s"


def gb(value: float) -> str:
    """GB within a sentence; the unit never begins a line."""
    return f"{significant(value)}\u00a0GB"


def rate(bytes_per_s: float | None) -> str:
    """MB/s in a cell of a table that has the unit in its head."""
    return MISSING if bytes_per_s is None else significant(bytes_per_s / 1e6, 4)


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are some: 36:05, 1:02:03; below a minute with
    one more digit."""
    if seconds < 60:
        return f"{significant(seconds, 3)}\u00a0s"
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"


def steps(places: object) -> dict[str, object]:
    """Places along a curve, in GB or seconds from 0 on, by the step from each to the next.

    A place is the sum of the steps up to it times `by`, over `PER`. Samples of one length, and
    requests of one size, need a digit or two a step; the last one may be shorter, a fraction of
    it. Bytes and nanoseconds are exact where they have a common measure, and within 1e-8 of the
    last place where not.
    """
    import numpy as np

    counts = np.rint(np.asarray(places, dtype=np.float64) * PER).astype(np.int64)
    between = np.diff(counts)
    by = int(np.gcd.reduce(between[:-1] if len(between) > 1 else between)) or 1
    finest = 10 ** max(len(str(counts[-1])) - 9, 0)
    if by < finest:
        return {"by": finest, "steps": np.diff(np.rint(counts / finest).astype(np.int64)).tolist()}
    *steps, last = between.tolist()
    end = last / by if last % by else last // by
    return {"by": by, "steps": [*(step // by for step in steps), end]}


def compact(values: object, digits: int = 5) -> list[float | int | None]:
    """An array as JSON numbers in significant digits; what is not finite becomes null."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    if not array.any():
        # As most causes of an X-ray are.
        return [0] * len(array)
    known = np.isfinite(array)
    sizes = np.abs(np.where(known & (array != 0), array, 1.0))
    places = digits - 1 - np.floor(np.log10(sizes))
    # Powers of ten of whole numbers are exact, so the quotients have no more digits than asked for.
    up, down = 10.0 ** np.clip(places, 0, 300), 10.0 ** np.clip(-places, 0, 300)
    rounded = np.where(known, np.round(np.where(known, array, 0.0) / down * up) / up * down, 0.0)
    integral = (rounded == np.floor(rounded)) & (np.abs(rounded) < 1e15)
    rows = zip(rounded.tolist(), integral.tolist(), known.tolist(), strict=True)
    return [(int(value) if plain else value) if there else None for value, plain, there in rows]
