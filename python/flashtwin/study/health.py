"""What SMART data mean, in sentences: bytes, wear, write amplification, years left, contradictions.

smartctl's JSON or nvme-cli's log in, sentences out; no drive is asked here. Years left are what the
counters of a drive's life so far give at its pace so far. Percent of wear are whole numbers, so the
wear is known to one of them either way: the interval. What cannot be true, or hardly, is said as
doubtful: counters that were set back, a drive sold as new, a bridge that makes things up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from flashtwin.catalogue import counters
from flashtwin.catalogue.counters import Totals
from flashtwin.model import smart
from flashtwin.model.document import Document
from flashtwin.model.units import readable_size

HOURS_A_YEAR = 8766
# No link of a single drive moves more than this for hours.
_MOST_BYTES_S = 16e9
# Flash wears by one percent at the latest when it was written this many times over.
_WRITES_A_PERCENT = 200
# Blocks that are erased hold this much more at most than what was programmed into them.
_ERASED_MOST = 10
_WARNINGS = (
    "spare blocks are below their threshold",
    "too warm or too cold",
    "the drive calls itself unreliable",
    "it can only be read",
    "what protects its memory against a loss of power has failed",
    "its persistent memory can only be read",
)
Kind = Literal["drive", "bytes", "wear", "amplification", "life", "state", "doubtful"]


class Sentence(Document, frozen=True):
    """A sentence and what it is about."""

    about: Kind
    text: str


def explained(data: Mapping[str, Any]) -> list[Sentence]:
    """All that SMART data tell, the plainest first."""
    totals = counters.totals(data)
    log = data.get(smart.NVME)
    log = log if isinstance(log, dict) else {}
    hours = _hours(data, log)
    return [
        Sentence(about="drive", text=_drive(data, hours)),
        *_bytes(totals, hours),
        *_wear(totals, hours),
        *_state(data, log),
        *_doubts(data, log, totals, hours),
    ]


def _drive(data: Mapping[str, Any], hours: int | None) -> str:
    names = [data.get("model_name"), data.get("firmware_version")]
    model, firmware = (name if isinstance(name, str) else "" for name in names)
    parts = [model or "a drive that does not tell its model"]
    parts += [f"firmware {firmware}"] if firmware else []
    parts += [readable_size(size)] if (size := _capacity(data)) else []
    parts += (
        [f"{hours:,} hours under power" if hours != 1 else "1 hour under power"] if hours else []
    )
    return ", ".join(parts)


def _bytes(totals: Totals, hours: int | None) -> Iterator[Sentence]:
    if totals.host_bytes is None:
        why = "its maker's counters are not known" if not totals.maker else "it does not count them"
        yield Sentence(about="bytes", text=f"nothing tells what the host has written: {why}")
        return
    daily = f", {readable_size(totals.host_bytes * 24 / hours)} a day" if hours else ""
    yield Sentence(about="bytes", text=f"the host wrote {readable_size(totals.host_bytes)}{daily}")
    if totals.waf is None:
        text = "what the flash was programmed with is not counted, so write amplification is open"
        yield Sentence(about="amplification", text=text)
        return
    text = f"each byte of the host was programmed as {totals.waf:.2f} so far (write amplification)"
    yield Sentence(about="amplification", text=text)


def _wear(totals: Totals, hours: int | None) -> Iterator[Sentence]:
    left = totals.life_left
    if left is None:
        yield Sentence(about="wear", text="no counter that is known here tells the wear")
        return
    used = 100 - left
    erases = f", {totals.erases:,} erases a block" if totals.erases else ""
    yield Sentence(about="wear", text=f"{used} % of the rated life is used{erases}")
    if not hours:
        return
    if used <= 0:
        years = 99 * hours / HOURS_A_YEAR
        text = f"less than 1 % is used, so at this pace more than {_years(years)} are left"
    elif left <= 0:
        text = "the rated life is over: it may last longer, and nobody vouches for that"
    else:
        years, low = (_years_left(part, hours) for part in (used, used + 1))
        high = f" to {_years(_years_left(used - 1, hours))}" if used > 1 else " or much more"
        text = f"at this pace {_years(years)} are left ({_years(low)}{high})"
    yield Sentence(about="life", text=text)


def _years_left(used: int, hours: int) -> float:
    return max(100 - used, 0) / used * hours / HOURS_A_YEAR


def _years(years: float) -> str:
    if years > 200:
        return "200 years"
    return f"{years:.0f} years" if years >= 10 else f"{years:.1f} years"


def _state(data: Mapping[str, Any], log: Mapping[str, Any]) -> Iterator[Sentence]:
    status = data.get("smart_status")
    if isinstance(status, dict) and status.get("passed") is False:
        yield Sentence(about="state", text="the drive says that it is failing: copy what is on it")
    bits = log.get("critical_warning")
    for number, text in enumerate(_WARNINGS):
        if isinstance(bits, int) and bits >> number & 1:
            yield Sentence(about="state", text=f"it warns: {text}")
    spare, threshold = log.get("available_spare"), log.get("available_spare_threshold")
    if isinstance(spare, int) and isinstance(threshold, int) and spare < 100:
        yield Sentence(
            about="state", text=f"{spare} % of the spare blocks are left of {threshold} % needed"
        )
    errors = log.get("media_errors")
    values = smart.raw_values(data)
    if not isinstance(errors, int):
        errors = values.get(187, 0)
    if errors:
        yield Sentence(
            about="state", text=f"{_times(errors)} data could not be read or were damaged"
        )
    if values.get(5):
        yield Sentence(about="state", text=f"blocks that were replaced: {values[5]:,}")
    if values.get(199):
        text = f"transfers that came damaged over the link: {values[199]:,}; look at the cable"
        yield Sentence(about="state", text=text)
    for key, limit in (("warning_temp_time", "warning"), ("critical_comp_time", "critical")):
        if isinstance(minutes := log.get(key), int) and minutes:
            text = f"it was above its {limit} temperature for {minutes:,} min"
            yield Sentence(about="state", text=text)
    unsafe = log.get("unsafe_shutdowns")
    if isinstance(unsafe, int) and unsafe:
        yield Sentence(about="state", text=f"its power went {_times(unsafe)} without notice")


def _doubts(
    data: Mapping[str, Any], log: Mapping[str, Any], totals: Totals, hours: int | None
) -> Iterator[Sentence]:
    """Readings that contradict each other."""
    for text in _contradictions(data, log, totals, hours):
        yield Sentence(about="doubtful", text=text)


def _contradictions(
    data: Mapping[str, Any], log: Mapping[str, Any], totals: Totals, hours: int | None
) -> Iterator[str]:
    temperature = data.get("temperature")
    degrees = temperature.get("current") if isinstance(temperature, dict) else None
    degrees = log.get("temperature") if degrees is None else degrees
    if isinstance(degrees, int) and not -20 <= degrees <= 120:
        yield f"{degrees} °C is no temperature of a drive that works: a bridge may make it up"
    host, size = totals.host_bytes, _capacity(data)
    if host and hours is not None and host > _MOST_BYTES_S * 3600 * (hours + 1):
        yield f"no link writes {readable_size(host)} in {hours:,} hours: a counter was set back"
    if host and size and totals.life_left == 100 and host > _WRITES_A_PERCENT * size:
        yield (
            f"{readable_size(host)} are {host / size:,.0f} times the drive's size, and no wear is"
            " counted"
        )
    if totals.life_left is not None and totals.life_left < 90 and hours is not None and hours < 24:
        used = 100 - totals.life_left
        yield f"{used} % of the life are used after {hours} hours: hours were set back"
    cycles, unsafe = log.get("power_cycles"), log.get("unsafe_shutdowns")
    if isinstance(cycles, int) and isinstance(unsafe, int) and unsafe > cycles + 1:
        yield f"{unsafe:,} losses of power are more than its {cycles:,} starts"
    busy = log.get("controller_busy_time")
    if isinstance(busy, int) and hours is not None and busy > 60 * (hours + 1):
        yield f"{busy:,} minutes of work are more than {hours:,} hours under power"
    programmed = (totals.waf or 0.0) * (host or 0)
    erased = (totals.erases or 0) * size
    if programmed and erased > _ERASED_MOST * programmed:
        yield (
            f"{totals.erases:,} erases a block are {readable_size(erased)} programmed, and"
            f" {readable_size(round(programmed))} are counted: bytes may be in another unit"
        )
    if totals.waf is not None and totals.waf < 0.5:
        yield f"a write amplification of {totals.waf:.2f} needs data that compress well"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _hours(data: Mapping[str, Any], log: Mapping[str, Any]) -> int | None:
    time = data.get("power_on_time")
    hours = time.get("hours") if isinstance(time, dict) else None
    if hours is None:
        hours = smart.plain(log.get("power_on_hours"))
    return hours if isinstance(hours, int) and hours >= 0 else None


def _capacity(data: Mapping[str, Any]) -> int:
    capacity = data.get("user_capacity")
    size = capacity.get("bytes") if isinstance(capacity, dict) else data.get("nvme_total_capacity")
    return size if isinstance(size, int) and size > 0 else 0
