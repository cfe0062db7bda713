"""`flashtwin serve`: a simulated drive as a block device, until it is told to stop."""

from __future__ import annotations

import ipaddress
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from flashtwin.cli import options, terminal
from flashtwin.drives import served_log, serving
from flashtwin.drives.serving import Addresses, Cuts, Service, Worse
from flashtwin.drives.twin import Twin
from flashtwin.errors import DONE, USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.units import percent
from flashtwin.runner.target import Variant

# The command of --run has this time to end after SIGTERM before it is killed.
PATIENCE_S = 5
LOOPBACK = "127.0.0.1"
# With more than this share of late answers, among this number of answers at least, the user is told
# that the machine is too slow.
LATE_SHARE = 0.1
LEAST_ANSWERS = 100


class ServedState(Document, frozen=True):
    """flashtwin ctl SOCKET state, and what serve ends with; the server counts and names it."""

    name: str
    capacity_bytes: int
    unit_bytes: int
    dies: int
    superblocks: int
    clock_s: float
    clients: int
    connections: int
    reads: int
    writes: int
    trims: int
    flushes: int
    fua_writes: int
    failed: int
    bytes_read: int
    bytes_written: int
    bytes_trimmed: int
    cuts: int
    start_s: float
    free_superblocks: int
    cache_bytes_used: int
    waf: float
    celsius: float
    read_only: bool
    answers: int
    lateness_us_p50: float | None
    lateness_us_p99: float | None
    late_share: float


class Served(Document, frozen=True):
    """flashtwin serve --json"""

    drive: str
    uri: str
    start_s: float | None
    exit_code: int
    state: ServedState
    answers: int
    lateness_us_p50: float | None
    lateness_us_p99: float | None
    late_share: float
    connections: int


def run(
    drive: str,
    state: str,
    changes: options.Changes,
    as_json: bool,
    quiet: bool,
    **wishes: Any,
) -> int:
    if wishes["log_data"] and wishes["log"] is None:
        raise click.UsageError("--log-data belongs to --log")
    service = _service(wishes)
    worn: tuple[str, ...] = ()
    spec = Variant(drive=drive, **_kept(changes)).spec()
    if state == "worn":
        worn = (serving.worn(spec),)
        changed = {**_kept(changes), "sets": (*changes["sets"], *worn)}
        spec = Variant(drive=drive, **changed).spec()
    if wishes["log"] is not None:
        log = served_log.begun(
            wishes["log"],
            spec,
            state=state,
            seed=changes["seed"],
            worse=service.worse,
            with_bytes=wishes["log_data"],
        )
        service = replace(service, log=log)
    session = _Session(spec.id, wishes, quiet=quiet or as_json)

    def prepared() -> Twin:
        return serving.prepared(spec, state, changes["seed"])

    with _signals(session):
        outcome = serving.serve(
            spec, prepared, service, session.ready, session.hear, with_state=bool(wishes["watch"])
        )
    if as_json:
        assert session.addresses is not None, "it was served"
        served_at, inside = session.addresses, ServedState(**outcome["state"])
        about = (spec.id, served_at.uri, served_at.start_s, session.exit_code)
        terminal.print_json(Served(*about, **{**outcome, "state": inside}))
    elif not quiet:
        _say(outcome)
    return session.exit_code


def _kept(changes: options.Changes) -> dict[str, Any]:
    return {**changes, "kept": False}


def _service(wishes: Mapping[str, Any]) -> Service:
    return Service(
        speed=wishes["speed"],
        is_timed=not wishes["no_timing"],
        data=wishes["data"],
        packed=wishes["compress"],
        socket=wishes["socket"],
        tcp=_address("--tcp", wishes["tcp"]),
        metrics=_address("--metrics", wishes["metrics"]),
        worse=_worse(wishes["worse"]),
        cuts=Cuts(at=wishes["cut_at"], chance=wishes["cut_chance"], seed=wishes["cut_seed"]),
    )


def _worse(ways: tuple[str, ...]) -> Worse:
    flags = {"flush-ignored", "fua-ignored", "never-back"}
    counts = {"lost-superblocks": "superblocks_lost", "shorn-writes": "shorn"}
    values: dict[str, Any] = {}
    for way in ways:
        name, equals, number = way.partition("=")
        if name in flags and not equals:
            values[name.replace("-", "_")] = True
        elif name in counts and number.isascii() and number.isdecimal() and int(number) < 1 << 20:
            values[counts[name]] = int(number)
        else:
            raise FlashtwinError(
                f"a drive cannot be worse by {way!r}",
                hint="write flush-ignored, fua-ignored, never-back, lost-superblocks=N or"
                " shorn-writes=N",
                exit_code=USAGE,
            )
    return Worse(**values)


def _address(option: str, text: str | None) -> str | None:
    """An address with its port; without one it is this machine's own."""
    if text is None:
        return None
    host, colon, port = text.rpartition(":")
    try:
        number = int(port) if port.isascii() and port.isdecimal() else -1
        address = ipaddress.ip_address(host.strip("[]") if colon else LOOPBACK)
        if not 0 <= number <= 65535:
            raise ValueError("no port")
    except ValueError:
        raise FlashtwinError(
            f"{option} {text} is no port",
            hint="write a port from 0 (any) to 65535, or an address before it: 127.0.0.1:10809",
            exit_code=USAGE,
        ) from None
    shown = f"[{address}]" if address.version == 6 else str(address)
    return f"{shown}:{number}"


class _Session:
    """The command that runs beside the server, the notes to the user, the reason to end."""

    def __init__(self, name: str, wishes: Mapping[str, Any], *, quiet: bool) -> None:
        self._name, self._wishes, self._quiet = name, wishes, quiet
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = 0
        self._before: Mapping[str, Any] | None = None
        self.is_stopped = False
        self.exit_code = DONE
        self.addresses: Addresses | None = None

    def ready(self, addresses: Addresses) -> None:
        """Clients may connect."""
        self.addresses = addresses
        if self._wishes["print_uri"]:
            terminal.say(addresses.uri)
            sys.stdout.flush()
        if not self._quiet:
            self._announce(addresses)
        if self._wishes["command"] is not None:
            self._child = subprocess.Popen(
                self._wishes["command"],
                shell=True,
                env={
                    **os.environ,
                    "uri": addresses.uri,
                    "socket": str(addresses.socket),
                    "ctl": str(addresses.control),
                },
                start_new_session=True,
            )

    def _announce(self, addresses: Addresses) -> None:
        terminal.note(f"{self._name} is served at {addresses.uri}")
        for name, where in (("NBD by TCP", addresses.tcp), ("metrics", addresses.metrics)):
            if where is not None:
                terminal.note(f"{name}: {where}")
        control = shlex.quote(str(addresses.control))
        terminal.note(terminal.typed(f"its power and its faults: flashtwin ctl {control} --help"))
        if addresses.start_s is not None:
            terminal.note(f"it started from its data in {addresses.start_s:.3g} s of its time")

    def hear(self, state: Mapping[str, Any] | None) -> bool:
        """Once in a tenth of a second: true to go on serving."""
        self._turn += 1
        if state is not None and self._turn % 10 == 0:
            self._show(state)
        if self._child is not None and (code := self._child.poll()) is not None:
            self.exit_code = code if code >= 0 else 128 - code
            return False
        return not self.is_stopped

    def _show(self, state: Mapping[str, Any]) -> None:
        before, self._before = self._before or state, state
        wrote, read = (
            (state[name] - before[name]) / 1e6 for name in ("bytes_written", "bytes_read")
        )
        late = state["lateness_us_p99"]
        terminal.note(
            f"write {wrote:.1f} MB/s  read {read:.1f} MB/s  cache"
            f" {state['cache_bytes_used'] / 1e9:.2f} GB  free {state['free_superblocks']}"
            f" superblocks  WAF {state['waf']:.2f}  {state['celsius']:.1f} °C  late p99"
            f" {'-' if late is None else f'{late:.0f} µs'}"
        )

    def end(self) -> None:
        """Stop the command, if it still runs."""
        child = self._child
        if child is None or child.poll() is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, number)
                child.wait(PATIENCE_S)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


@contextmanager
def _signals(session: _Session) -> Iterator[None]:
    """SIGINT and SIGTERM end the server in order; before it serves they are as always."""

    def stop(number: int, frame: Any) -> None:
        if session.addresses is None:
            raise KeyboardInterrupt
        session.is_stopped = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        session.end()
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(outcome: Mapping[str, Any]) -> None:
    state = outcome["state"]
    terminal.note(
        f"{state['reads']} reads, {state['writes']} writes ({state['fua_writes']} with FUA),"
        f" {state['trims']} trims, {state['flushes']} flushes, {state['failed']} failed,"
        f" {state['cuts']} power cuts"
    )
    if not outcome["answers"]:
        return
    terminal.note(
        f"{outcome['answers']} answers came late by {outcome['lateness_us_p50']:.1f} µs in the"
        f" median, {outcome['lateness_us_p99']:.0f} µs at the 99th percentile;"
        f" {percent(outcome['late_share'], 1)} took a tenth longer than the drive"
    )
    if outcome["late_share"] > LATE_SHARE and outcome["answers"] >= LEAST_ANSWERS:
        terminal.note(
            "this machine was too slow for the drive: what was measured on it is the machine's",
            head="note:",
            colour="yellow",
        )
