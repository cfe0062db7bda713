"""Served: an NBD export in real time, tested through fio.

fio's nbd engine reaches it at its unix socket; flush, TRIM and SMART are asked for directly. It is
a whole drive that forgets nothing between two runs, as a real one. Invariant: an export is written
to only where it proved to be a simulated drive of ours (`nbd.look`, at each opening anew), or where
somebody consented to lose what is on it; else each step that writes is answered with `NotPossible`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flashtwin.drives import control, nbd
from flashtwin.drives.real.engines import Engine
from flashtwin.drives.real.through_fio import ThroughFio
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.step import NotPossible, Result, Trim
from flashtwin.model.target import Capabilities, DriveInfo, Watch


class Served(ThroughFio):
    """The export at an address, as `nbd.look` told of it before. `writes`: somebody consented to
    lose what is on it, where it is not ours."""

    no_trim = "the export takes no TRIM"
    no_purge = "NBD has no command that erases a drive"
    no_smart = "NBD tells no SMART data"
    read_only = (
        "the export is not known to be a simulated drive: --destroy-data lets it be written over"
    )
    taken_up = "taken up on the drive as it is served now"

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
        super().__init__(export.size_bytes, say=say)

    def reach(self) -> Engine:
        """Find out that the export is still the one that was chosen. It is measured as it is
        served: reads of what was never written are the drive's."""
        export = nbd.look(self._uri)
        if (export.name, export.size_bytes, bool(export.foreign)) != (
            self._export.name,
            self._export.size_bytes,
            bool(self._export.foreign),
        ):
            raise FlashtwinError(
                f"another drive is served at {self._socket} now",
                hint="serve the drive of this run again, or begin a new run",
                exit_code=ENVIRONMENT,
            )
        return Engine(name="nbd", direct=True, uri=self._uri)

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

    def smart(self) -> dict[str, Any]:
        """SMART data now; see `model.drive.TellsSmart`."""
        if self._export.foreign:
            return {}
        return control.send(control.beside(self._socket), {"order": "smart"})

    def host(self) -> dict[str, Any]:
        """Where it is served; see `model.drive.TellsHost`."""
        return {"socket": str(self._socket)}

    def identity(self) -> dict[str, object]:
        names = ("size_bytes", "fio", "engine")
        identity = super().identity()
        return {**{name: identity[name] for name in names}, "drive": self._export.name}

    def trim(self, step: Trim, watch: Watch) -> Result | NotPossible:
        if not self._export.takes_trim:
            return NotPossible(reason=self.no_trim)
        began_ns = self._now_ns()
        size = self._size - step.offset if step.size is None else step.size
        self._asked(lambda session: session.trim(step.offset, size))
        return self._passed(step.label, began_ns)

    def _asked(self, work: Callable[[nbd.Session], None]) -> None:
        with nbd.Session(self._socket, nbd.name_in(self._uri)) as session:
            work(session)

    def sync(self) -> None:
        if self._writes and self._export.takes_flush:
            self._asked(lambda session: session.flush())

    def put_target(self) -> tuple[int, ...]:
        return ()
