"""One point of a sweep, run wherever a worker is: in a process here, or on another machine.

An order holds the whole spec, so a worker needs neither the user's files nor the catalogue. The
answer of a worker that shares no disk is the run directory as a tar archive, its entries in order
and without owner or time, so that it says nothing of the worker.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.real.scratch import Scratch
from flashtwin.drives.twin import Twin
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.outputs import disk
from flashtwin.runner.run import run_batteries
from flashtwin.runs import lock
from flashtwin.study.sweep.plan import Failure, Order

if TYPE_CHECKING:
    from flashtwin._core import Spec


def run_point(order: Order, place: Path) -> Failure | None:
    """Run a point into `place`; what was there of an earlier attempt goes."""
    if lock.held(place):
        # A worker of a sweep that was killed, on its way out.
        return failed(
            order, f"another process is writing {place}", "the same command tries it again"
        )
    try:
        with disk(place, "replace"):
            if place.exists():
                shutil.rmtree(place)
            place.parent.mkdir(parents=True, exist_ok=True)
        run_batteries(
            Twin(spec_of(order), seed=order.seed),
            registry.parse(order.batteries),
            place,
            seed=order.seed,
            command=order.command,
        )
    except FlashtwinError as error:
        # A full disk is as full for the next point.
        ends = error.exit_code == ENVIRONMENT
        return replace(failed(order, error.message, error.hint), ends=ends)
    return None


def run_apart(order: Order) -> tuple[Failure | None, bytes]:
    """Run a point in a directory of the worker's own and hand the directory over."""
    with Scratch("point") as scratch:
        place = scratch.path / "run"
        try:
            failure = run_point(order, place)
        except Interrupted:
            return failed(order, "its worker was told to stop"), b""
        if failure is not None:
            # What this machine lacks, another one may have.
            failure = replace(failure, ends=False)
        return failure, _packed(place) if place.exists() else b""


def unpack(archive: bytes, place: Path) -> None:
    """Put the run directory of a worker where it belongs."""
    unfinished = place.with_name(place.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    with disk(place, "write"):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(unfinished, filter="data")
        if place.exists():
            shutil.rmtree(place)
        os.replace(unfinished, place)


def failed(order: Order, message: str, hint: str | None = None) -> Failure:
    """A point without a result."""
    return Failure(number=order.point.number, name=order.point.name, message=message, hint=hint)


def spec_of(order: Order) -> Spec:
    """The drive of a point, out of the text that the order holds."""
    spec = load(order.toml)
    assert spec.hash == order.hash, f"point {order.point.number} is another drive here"
    return spec


def _packed(place: Path) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as tar:
        for path in sorted(place.rglob("*")):
            member = tar.gettarinfo(str(path), arcname=str(path.relative_to(place)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = 0
            if path.is_file():
                with path.open("rb") as file:
                    tar.addfile(member, file)
            else:
                tar.addfile(member)
    return sink.getvalue()
