"""Stand-ins for what the command line only passes on: specs, twins, the report.

As a program it is `flashtwin` with them, for tests that need a true process or a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fakes import FakeDrive, Law

import flashtwin.report
from flashtwin.catalogue import loader, summary
from flashtwin.cli import drives
from flashtwin.cli.app import COMMANDS
from flashtwin.errors import FlashtwinError
from flashtwin.runner import target as targets
from flashtwin.runner.target import Target

GB = 10**9
# A module that is first imported while a stand-in is in its place would keep it.
for name in (
    "flashtwin.api",
    *(f"flashtwin.cli.{place.partition('.')[0]}" for place, _ in COMMANDS.values()),
):
    import_module(name)


def install(setattr_: Callable[[Any, str, Any], None]) -> None:
    """Put them in place."""
    setattr_(loader, "load", load)
    setattr_(summary, "load", load)
    setattr_(drives, "load", load)
    setattr_(targets, "twin_target", twin_target)
    setattr_(flashtwin.report, "build", build)


def fake_spec(target: str) -> Any:
    rows = [
        ("drive.capacity", "240 GB", "published"),
        ("nand.cell", "tlc", "published"),
        ("nand.slc.tprog", "404.8 us", "fitted"),
        ("slc_cache.mode", "dynamic", "fitted"),
        ("slc_cache.size", "24 GB", "published"),
        ("compression.rate", "0", "prior"),
    ]
    values = [
        {
            "key": key,
            "value": value,
            "unit": "",
            "origin": origin,
            "source": f"source of {key}",
            "unwritten": key == "compression.rate",
        }
        for key, value, origin in rows
    ]
    return SimpleNamespace(
        id=Path(target).stem,
        name=f"Name of {Path(target).stem}",
        capacity_bytes=240 * GB,
        memory_bytes=10**6,
        hash="0123456789abcdef",
        firmware_profiles=["slc-off"],
        notes=[],
        warnings=[],
        values=lambda: values,
        to_toml=lambda: "",
    )


def load(
    target: str,
    *,
    firmware: Sequence[str] = (),
    sets: Sequence[str] = (),
    scale: str | None = None,
) -> Any:
    """Any spec file and every drive of the catalogue is fine, but for the value bad=1."""
    if not target.endswith(".toml") and target not in loader.drive_ids():
        raise loader.unknown_drive(target)
    if "bad=1" in sets:
        issues = [
            loader.SpecIssue(file="--set", line=None, key="bad", message="m", hint="h"),
            loader.SpecIssue(file="a.toml", line=3, key="gc", message="n", hint="i"),
        ]
        raise loader.BadSpecError(target, issues)
    return fake_spec(target)


def twin_target(variant: targets.Variant, *, name: str | None = None) -> Target:
    called = name or variant.spec().id
    return Target(name=called, make=partial(FakeDrive, law=Law(), name=called), apart=True)


def build(
    runs: Sequence[Any], out: Path, *, within: Path | None = None, ranks: bool = False
) -> Path:
    if not runs:
        raise FlashtwinError("no run")
    out.write_text(f"<html>{len(runs)}</html>")
    return out


if __name__ == "__main__":
    from flashtwin.cli import main

    install(setattr)
    main()
