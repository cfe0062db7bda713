"""What somebody is shown of a device, and has to type back, before its data are lost."""

from __future__ import annotations

from collections.abc import Iterator

from flashtwin.catalogue import models
from flashtwin.drives.consent import Consent, Word, require
from flashtwin.drives.device import health
from flashtwin.drives.device.facts import Facts, Part, typeable
from flashtwin.model import smart
from flashtwin.model.units import readable_size


def confirm(facts: Facts, consent: Consent, write_bytes: int) -> None:
    """Show what is lost and what it costs; raises where nobody consents."""
    kind, name = facts.own_name
    words = [
        # Drives without a serial number are told apart by their size alone, or not at all.
        Word(name="model", text=typeable(facts.words[0]), essential=kind == "size"),
        Word(name=kind, text=typeable(name)),
        *(Word(name="label", text=label) for label in facts.labels),
    ]
    require(consent, str(facts.path), [*shown(facts, write_bytes)], words)


def shown(facts: Facts, write_bytes: int) -> Iterator[str]:
    """What the device is, what is on it and what will be written to it, a line each."""
    kind, name = facts.own_name
    named = f"no serial number, {kind} {name}" if kind == "size" else f"{kind} {name}"
    yield f"{facts.path}: {facts.words[0]}, {named}"
    about = [facts.firmware and f"firmware {facts.firmware}", readable_size(facts.size_bytes)]
    yield "  " + ", ".join(word for word in (*about, facts.link) if word)
    yield from (f"  {line}" for part in facts.parts if (line := _part(part, facts)))
    yield from (f"  {line}" for line in _health(facts))
    if write_bytes:
        yield f"  about {readable_size(write_bytes)} will be written{_share(facts, write_bytes)}"
    yield "  ALL DATA ON IT WILL BE LOST"


def _part(part: Part, facts: Facts) -> str:
    marks = [f"{mark.name}{f' {mark.label!r}' if mark.label else ''}" for mark in part.signatures]
    if part.name == facts.name:
        marks = [f"table of partitions: {facts.table}"] * bool(facts.table) + marks
        return ", ".join(marks) or ("nothing known lies on it" if len(facts.parts) == 1 else "")
    label = f" {part.label!r}" if part.label else ""
    return f"{part.name}{label}, {readable_size(part.size_bytes)}: {', '.join(marks) or 'unknown'}"


def _health(facts: Facts) -> Iterator[str]:
    data = health.of(facts)
    status = data.get("smart_status")
    passed = status.get("passed") if isinstance(status, dict) else None
    log = data.get(smart.NVME) if isinstance(data.get(smart.NVME), dict) else {}
    assert isinstance(log, dict)
    parts = [] if passed is None else [f"SMART {'passed' if passed else 'FAILED'}"]
    if isinstance(used := log.get("percentage_used"), int):
        parts.append(f"{used} % of its life used")
    if isinstance(errors := log.get("media_errors"), int) and errors:
        parts.append(f"{errors} media errors")
    yield ", ".join(parts) or "no SMART data can be read (flashtwin doctor says why)"


def _share(facts: Facts, write_bytes: int) -> str:
    spec = models.of_model(facts.model, facts.size_bytes)
    rated = models.rated_bytes(spec) if spec is not None else 0
    if rated:
        return f", {100 * write_bytes / rated:.2g} % of its rated {readable_size(rated)}"
    times = write_bytes / facts.size_bytes
    return f", {times:.2g} times its size (what it is rated for is not known here)"
