"""Real: a file on a real drive, tested through fio.

The file is made when the drive is opened and filled with random data over its whole length before
the first step, as a sparse file answers reads from nothing; it is removed at `close`, or when the
process ends. Its clock begins after that filling; in a run that is taken up it goes on where it
stopped, on the file that a killed process left or on one made and filled again. What a file cannot
do (trim, purge) is answered with `NotPossible`. Invariant: only a regular file of our own is ever
opened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from flashtwin import system
from flashtwin.drives.real import disk, real_file
from flashtwin.drives.real.engines import Engine, caveats
from flashtwin.drives.real.instruments import Thermometer
from flashtwin.drives.real.jobfile import TARGET, job_file
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.drives.real.through_fio import GRAIN_BYTES, ThroughFio
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.step import Job, Run, Step
from flashtwin.model.target import Capabilities, DriveInfo, Progress, Watch
from flashtwin.model.units import readable_size

# From this size on the filling takes long enough to be told of.
_LONG_FILL_BYTES = 16 * 10**9
_PROBE = Job(name="probe", rw="write", block_bytes=4096, depth=4, size=GRAIN_BYTES)


class Real(ThroughFio):
    """A regular file of `size_bytes` at `path`, or under our own name in the directory `path`."""

    no_trim = "a regular file takes no TRIM, only a device does"
    no_purge = "a file cannot be purged: the drive under it holds other data"
    no_smart = "a file has no SMART data, only the drive under it has"

    def __init__(
        self,
        path: str | Path,
        size_bytes: int,
        *,
        say: Callable[[str], None] | None = None,
        leftover: real_file.Leftover | None = None,
        power: PowerLog | None = None,
    ) -> None:
        """`leftover`: the file of a killed run, which is used again if it is still there."""
        super().__init__(size_bytes, say=say, power=power)
        self._path, self._leftover = Path(path), leftover
        self._taken_over = self._filled = False

    def open(self) -> Self:
        """Make the file, or take over the one of a killed run, and find out how fio reaches it."""
        # What may not be written to is refused before a missing fio.
        if self._info is None and self._leftover is None:
            real_file.place(self._path)
        return super().open()

    def reach(self) -> Engine:
        taken_over = real_file.take_over(self._leftover) if self._leftover else None
        # The file of a killed run; whether it was filled is not known here.
        self._taken_over = taken_over is not None
        if taken_over:
            where = taken_over.path
        else:
            where = real_file.place(self._path, was_ours=self._leftover is not None)
            real_file.check_space(where, self._size)
        self._file = taken_over or real_file.create(where, self._size)
        size = readable_size(self._size)
        self._say(f"the target is {where}, {size}; it is removed at the end")
        self._say(
            "a file takes no TRIM and cannot be erased: what lies beside it on the drive, and the"
            " file system, are measured too"
        )
        return self._probe(_PROBE)

    @property
    def foreseen(self) -> DriveInfo:
        """What is known of the file before it is made."""
        thermometer = self.thermometer()
        return DriveInfo(
            name=self._path.absolute().name or "file",
            kind="file",
            capacity_bytes=self._size,
            can=Capabilities(
                whole_drive=False,
                filled_first=True,
                power_meter=self._power is not None,
                thermometer=bool(thermometer and thermometer.source),
            ),
            identity={},
        )

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Take over the file of a run that is resumed; see `model.drive.Resumes`. A file that was
        never filled is filled now."""
        is_filled = self._taken_over and at_ns > 0
        self._filled = is_filled
        self.get_ready(watch)
        if not is_filled:
            for step in preparing:
                self.do(step, watch)
        self._goes_on(at_ns)
        if self._taken_over:
            filled = "" if is_filled else ", filled with random data"
            return f"taken up on the file that the interrupted run left{filled}"
        repeated = ", ".join(step.label for step in preparing)
        prepared = f", and prepared by {repeated}" if repeated else ""
        return f"taken up on a file that was made again, filled with random data{prepared}"

    def host(self) -> dict[str, Any]:
        """The file's place and identity, and the disk under it; see `model.drive.TellsHost`."""
        file = real_file.left_behind(self._file, self._size)
        return {"file": file, **disk.facts_of(self._file.path)}

    def smart(self) -> dict[str, Any]:
        """SMART data of the disk under the file now; no step is told them, as others write to that
        disk too."""
        return disk.smart_of(self._file.path)

    def claim(self, run: Path) -> None:
        """The file belongs to that run; see `model.drive.BelongsToRun`."""
        real_file.claim(self._file, run)

    def close(self) -> None:
        """Remove the file and what fio left. A second call does nothing."""
        if hasattr(self, "_file"):
            real_file.remove(self._file)
        super().close()

    def identity(self) -> dict[str, object]:
        kind, _ = real_file.file_system(self._file.path)
        return {**super().identity(), "file_system": kind, "notes": self.notes()}

    def notes(self) -> list[str]:
        return [*caveats(self._engine), *real_file.remarks(self._file)]

    def thermometer(self) -> Thermometer | None:
        under = disk.under(self._path if self._path.is_dir() else self._path.absolute().parent)
        return None if under is None else Thermometer(under)

    def get_ready(self, watch: Watch) -> None:
        """Fill the file before the first step."""
        if self._filled:
            return
        self._say(
            "filling it with random data first: reads of what was never written would not reach the"
            " drive"
        )
        job = Job(name="fill", rw="write", block_bytes=GRAIN_BYTES, depth=8, size=self._size)
        file = job_file(
            Run(label="fill", jobs=(job,)),
            capacity_bytes=self._size,
            engine=self._engine,
            filename=self.name_for_fio,
            fresh_data=True,
        )
        shown_tenths = 0

        def report(bytes_done: int) -> bool:
            # Not part of the step that waits for it: the watch hears of no bytes and no time.
            nonlocal shown_tenths
            tenths = min(10 * bytes_done // self._size, 9)
            if tenths > shown_tenths and self._size >= _LONG_FILL_BYTES:
                shown_tenths = tenths
                self._say(f"filled {10 * tenths} %")
            return watch(Progress(bytes=0, drive_s=0.0))

        self._fio_in_directory(file.text, report)
        self.sync()
        self._filled = True
        self._zero_ns = time.monotonic_ns()

    def sync(self) -> None:
        system.reach_flash(self._file.handle)

    @property
    def name_for_fio(self) -> str:
        return TARGET if system.UNIX else real_file.name_for_fio(self._file.path)

    def put_target(self) -> tuple[int, ...]:
        if not self._file.is_there():
            raise FlashtwinError(
                f"{self._file.path} is no longer the file that was made for the test",
                hint="leave the file alone while it is measured, and begin anew",
                exit_code=ENVIRONMENT,
            )
        if system.UNIX:
            (self._work / TARGET).symlink_to(self._file.link)
        return (self._file.handle,)
