"""snia_wsat: random writes from the erased drive on until they are steady (write saturation).

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). Purge; then 4 KiB random writes, a sample a minute, until four times the
capacity, 24 hours or steady by both criteria (`analysis.steady`), judged over rounds of a tenth of
the capacity; see `base.saturation`. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller, check_fits
from flashtwin.batteries.base.registry import Forecast, Part, with_mark
from flashtwin.batteries.base.saturation import Saturation
from flashtwin.batteries.snia_wsat import rhythm, spare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtwin.analysis.curve import Curve
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "snia_wsat"
# The rate is told where so much of the capacity was written.
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Purge, everything once, then round after round; a close look in the end."""
    saturation = Saturation.of(NAME, parameters, info)
    check_fits(NAME, [saturation.load], info)
    yield from saturation.steps(info)
    yield from with_mark(rhythm.step(NAME, saturation, info, parameters.watch_s))


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """The usual rounds, or all, after everything was written once."""
    saturation = Saturation.of(NAME, parameters, info)
    return saturation.forecast(info, [rhythm.step(NAME, saturation, info, parameters.watch_s)])


def conclude(record: Record) -> list[Finding]:
    """The fresh rate, the rate on the way, the steady one, and what was written until then."""
    saturation = Saturation.of(NAME, record.parameters, record.info)
    curve = saturation.curve(record)
    if curve is None:
        return []
    findings = [
        *_on_the_way(saturation, curve, saturation.span(record.info)),
        _lowest(saturation, saturation.curves(record)),
    ]
    values = saturation.values(record)
    if not values:
        return findings
    findings += spare.findings(NAME, saturation, record)
    window = saturation.window(record)
    label = saturation.label(record.info, len(values))
    steady = saturation.steadiness(record, f"{saturation.load.access} writes, steady")
    written, seconds = saturation.written(record)
    teller = Teller(battery=NAME, label=label, title="Until then")
    of = _of(saturation)
    steady += [
        teller.tell("written", "written", "GB", written / 1e9, beside="steady"),
        teller.tell(
            "fills", f"times {of}", "", written / saturation.span(record.info), beside="steady"
        ),
        teller.tell("time", "time", "s", seconds, beside="steady"),
    ]
    findings += pts.marked(steady, values, window)
    return [*findings, *rhythm.findings(NAME, saturation, record)]


def _of(saturation: Saturation) -> str:
    return "the capacity" if saturation.range_percent == 100 else "the range"


def _on_the_way(saturation: Saturation, curve: Curve, capacity: int) -> list[Finding]:
    """The first minute, and the minutes in which shares of the capacity had been written."""
    import numpy as np

    teller = _teller(saturation, saturation.first, curve)
    first = float(curve.rate[0])
    findings = [teller.tell("fresh", "first minute", "IOPS", first, better="higher", headline=True)]
    written = curve.bytes_at[1:] * saturation.load.block_bytes
    for share in SHARES:
        place = min(int(np.searchsorted(written, share * capacity * 0.999)), len(curve) - 1)
        if written[place] >= share * capacity * 0.99:
            rate = float(curve.rate[place])
            name = f"rate.{round(100 * share)}"
            words = f"{100 * share:.0f} % of {_of(saturation)} written"
            findings.append(teller.tell(name, words, "IOPS", rate, beside="fresh"))
    return findings


def _lowest(saturation: Saturation, curves: Mapping[str, Curve]) -> Finding:
    """The slowest minute from the purge to the end."""
    label, curve = min(curves.items(), key=lambda row: float(row[1].rate.min()))
    lowest = float(curve.rate.min())
    teller = _teller(saturation, label, curve)
    return teller.tell("least", "lowest minute", "IOPS", lowest, beside="fresh")


def _teller(saturation: Saturation, label: str, curve: Curve) -> Teller:
    title = f"{saturation.load.access} writes"
    return Teller(battery=NAME, label=label, title=title, end_s=curve.total_s)


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Everything once, as many rounds as there is time for, and the close look."""
    first, rounds = Saturation.of(NAME, parameters, info).parts()
    watched = Part(title="rhythm", labels=(rhythm.label(NAME),), needs=(first.title, rounds.title))
    return [first, rounds, watched]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=pts.departs,
    parts=parts,
    estimate=estimate,
)
