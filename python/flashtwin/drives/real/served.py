"""Served: an NBD export in real time, tested through fio.

fio's nbd engine reaches it at its unix socket; flush, TRIM and SMART are asked for directly. It is
a whole drive that forgets nothing between two runs, as a real one. Invariant: an export is written
to only where it proved to be a simulated drive of ours (`nbd.look`, at each opening anew), or where
somebody consented to lose what is on it; else each step that writes is answered with `NotPossible`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from flashtwin.drives import control, nbd
from flashtwin.drives.real import real_fio
from flashtwin.drives.real.real import Real, quiet
from flashtwin.drives.real.scratch import Scratch
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.step import Ask, NotPossible, Purge, Result, Step, Trim
from flashtwin.model.target import Capabilities, DriveInfo, Watch, changes_data

_READ_ONLY = (
    "the export is not known to be a simulated drive: --destroy-data lets it be written over"
)


class Served(Real):
    """The export at an address, as `nbd.look` told of it before. `writes`: somebody consented to
    lose what is on it, where it is not ours."""

    def __init__(
        self,
        uri: str,
        export: nbd.Export,
        *,
        writes: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._uri, self._socket, self._export = uri, nbd.socket_of(uri), export
        self._writes = not export.is_read_only and (writes or not export.foreign)
        super().__init__(self._socket, export.size_bytes, say=say)
        self._engine = real_fio.Engine(name="nbd", direct=True, uri=uri)

    def open(self) -> Self:
        """Find fio, and find out that the export is still the one that was chosen."""
        if self._info is not None:
            return self
        self._fio = real_fio.find()
        export = nbd.look(self._uri)
        if (export.name, export.size_bytes, bool(export.foreign)) != (
            self._export.name,
            self._export.size_bytes,
            bool(self._export.foreign),
        ):
            raise FlashtwinError(
                f"another drive is served at {self._socket} now", exit_code=ENVIRONMENT
            )
        self._scratch = Scratch("fio")
        self._work = self._scratch.path
        self._zero_ns = time.monotonic_ns()
        # It is measured as it is served, and reads of what was never written are the drive's.
        self._filled = True
        identity: dict[str, object] = {
            "size_bytes": self._size,
            "fio": self._fio.version,
            "engine": self._engine.name,
            "drive": self._export.name,
        }
        self._info = replace(self.foreseen, identity=identity)
        return self

    @property
    def foreseen(self) -> DriveInfo:
        """What is known of it before it is opened."""
        return DriveInfo(
            name=self._export.name,
            kind="served",
            capacity_bytes=self._size,
            can=Capabilities(
                writes=self._writes,
                trim=self._writes and self._export.takes_trim,
                smart=not self._export.foreign,
            ),
            identity={},
        )

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step."""
        if changes_data(step) and not self._writes:
            return NotPossible(reason=_READ_ONLY)
        began_ns = self._now_ns()
        match step:
            case Trim() if not self._export.takes_trim:
                return NotPossible(reason="the export takes no TRIM")
            case Trim():
                size = self._size - step.offset if step.size is None else step.size
                self._asked(lambda session: session.trim(step.offset, size))
                return self._after(quiet(step.label, began_ns, self._now_ns() - began_ns))
            case Ask(of="smart") if self._export.foreign:
                return NotPossible(reason="NBD tells no SMART data")
            case Ask(of="smart"):
                marked = self._after(quiet(step.label, began_ns, 0))
                return replace(marked, smart=self.smart())
            case Purge():
                return NotPossible(reason="NBD has no command that erases a drive")
            case _:
                return super().do(step, watch)

    def smart(self) -> dict[str, Any]:
        """SMART data now; see `model.drive.TellsSmart`."""
        return control.send(control.beside(self._socket), {"order": "smart"})

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Go on with the drive as it is now; see `model.drive.Resumes`."""
        self._last_ns = at_ns
        self._zero_ns = time.monotonic_ns() - at_ns
        return "taken up on the drive as it is served now"

    def host(self) -> dict[str, Any]:
        """Where it is served; see `model.drive.TellsHost`."""
        return {"socket": str(self._socket)}

    def claim(self, run: Path) -> None:
        """A drive that somebody serves belongs to no run."""

    def _asked(self, work: Callable[[nbd.Session], None]) -> None:
        with nbd.Session(self._socket, nbd.name_in(self._uri)) as session:
            work(session)

    def _sync(self) -> None:
        if self._writes and self._export.takes_flush:
            self._asked(lambda session: session.flush())

    def _put_target(self) -> tuple[int, ...]:
        return ()
