"""A block device that is to be written to, held exclusively from the first look to the end.

The kernel refuses an exclusive open (O_EXCL) where a file system, swap or a layer has the device or
one of its partitions, and refuses those while we hold it. It does not see a loop device, nor a
command that goes past the block layer, such as `nvme format --force`. So facts are read again and
held against the first ones before each such command. Invariant: nobody gets the handle to write
with but over `writable`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from flashtwin.drives.device import refusals
from flashtwin.drives.device.facts import Facts, Roots, facts_of, opened
from flashtwin.errors import ENVIRONMENT, REFUSED, FlashtwinError


class Held:
    """A device that is open: exclusively for writing, or for reading alone beside others."""

    def __init__(
        self,
        path: Path,
        *,
        writes: bool,
        of_interest: Sequence[tuple[str, Path]] = (),
        roots: Roots | None = None,
    ) -> None:
        """Open it; for writing only where nothing speaks against it."""
        self.path, self.writes = path, writes
        self.of_interest, self._roots = tuple(of_interest), roots
        self.facts = facts_of(path, of_interest=self.of_interest, roots=roots)
        if writes:
            refusals.check(self.facts)
        self.handle = self._open()
        try:
            # The device that was looked at has to be the one that was opened.
            self._check_identity(self._look())
        except BaseException:
            self.close()
            raise

    def _open(self) -> int:
        if not self.writes:
            return opened(self.path)
        try:
            return opened(self.path, os.O_RDWR | os.O_EXCL)
        except FlashtwinError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno == errno.EBUSY:
                raise FlashtwinError(
                    f"nothing is written to {self.path}: the kernel says that it is in use",
                    hint="lsblk shows by whom; it may be mounted in a container",
                    exit_code=REFUSED,
                ) from error
            raise

    def writable(self) -> int:
        """The handle to write with, once everything has been looked at again."""
        if not self.writes:
            raise FlashtwinError(
                f"{self.path} was opened for reading alone",
                hint="ask for writing with --destroy-data",
                exit_code=REFUSED,
            )
        facts = self._look()
        self._check_identity(facts)
        refusals.check(facts)
        return self.handle

    def _look(self) -> Facts:
        return facts_of(
            self.path, of_interest=self.of_interest, roots=self._roots, handle=self.handle
        )

    def _check_identity(self, now: Facts) -> None:
        before = self.facts
        if _identity(before) != _identity(now):
            raise FlashtwinError(
                f"{self.path} is another device than the one that was looked at",
                hint="name it by /dev/disk/by-id, and look again",
                exit_code=ENVIRONMENT,
            )

    def close(self) -> None:
        """Give it back. A second call does nothing."""
        handle, self.handle = getattr(self, "handle", -1), -1
        if handle >= 0:
            os.close(handle)


def _identity(facts: Facts) -> tuple[object, ...]:
    names = (facts.number, facts.sequence, facts.size_bytes, facts.model, facts.serial)
    return (*names, facts.wwn, facts.backing_file)
