"""Files as fio finds and makes them before its first job: on an empty directory, a first run.

fio looks at the files of all processes in their order (`create_serialize`). One that is shorter
than its process works on is made: laid out with data for a process that reads, or that overwrites,
or whose engine cannot extend a file; reserved without data, and emptied, for one that writes. So a
process behind another finds the file of that one, and a percentage is one of its length; of a file
that is not there yet, an offset in percent is 0. Checked against `setup_files` and `extend_file` of
fio 3.33.

What is laid out stands on the drive before the jobs begin, and takes none of their time. A job's
percentage of a file that no job sizes in bytes is one of the drive, where fio refuses the job.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.kinds import Percent
from flashtwin.fio.language.script import Note
from flashtwin.fio.language.table import LAY_NOTHING_OUT, NEVER_EXTEND, engine_of
from flashtwin.fio.plan.files import Ground, Part, Target, filesize, is_whole, names, parts
from flashtwin.fio.plan.processes import Clone
from flashtwin.model.job import directions_of

# Ways of `fallocate` after which a new file is as long as before it: 0.
_KEEPS_LENGTH = ("none", "keep", "0")


class Setup:
    """The files of the processes that were set up so far. `laid`: how much of each holds data,
    from its beginning."""

    def __init__(self, target: Target, clones: Sequence[Clone]) -> None:
        self._target = target
        self._lengths: dict[str, int] = {}
        self.laid: dict[str, int] = {}
        self.notes: list[Note] = []
        self._sized: dict[str, str] = {}
        for clone in clones:
            if _says_bytes(clone):
                for name in names(clone):
                    self._sized.setdefault(name, clone.job.name)

    def is_there(self, name: str) -> bool:
        """Whether a process before has made a file, with a length."""
        return name in self._lengths

    def parts(self, clone: Clone) -> list[Part]:
        """The files of the next process, which are made where they have to be."""
        self._check_percent(clone)
        pieces = parts(clone, Ground(target=self._target, lengths=self._lengths))
        self._tell_offset(clone, pieces)
        for part in pieces:
            if not part.is_drive and part.length > self._lengths.get(part.name, 0):
                self._make(clone, part)
        return pieces

    def _check_percent(self, clone: Clone) -> None:
        """Refuse a percentage of a file that another job sizes, and that is not there yet."""
        job = clone.job
        if not isinstance(job["size"], Percent) or filesize(job):
            return
        for name in names(clone):
            maker = self._sized.get(name)
            if maker is not None and name not in self._lengths and not is_whole(name, self._target):
                raise JobFileError(
                    job.line("size"),
                    f"job {job.name} works on a percentage of {name}, which job {maker} sizes, and"
                    " which is empty when fio looks at it: it refuses the job",
                    hint=f"put the job behind {maker} (without fallocate=none there), or write size"
                    " in bytes",
                )

    def _make(self, clone: Clone, part: Part) -> None:
        """Make a file as long as a process works on it."""
        job, engine = clone.job, engine_of(str(clone.job["ioengine"]))
        directions = directions_of(job["rw"].rw)
        reads, writes = "read" in directions, "write" in directions
        if engine in LAY_NOTHING_OUT:
            return
        if job["create_on_open"]:
            if reads:
                text = "nothing is laid out, and fio ends the job at the first read of nothing"
                self._tell(clone, "create_on_open", text, twin=True)
            return
        is_there = job.has("allow_file_create") and not job["allow_file_create"]
        if is_there:
            text = "the file is taken to be there, with data; without it fio refuses the job"
            self._tell(clone, "allow_file_create", text, twin=True)
        if reads or is_there or (writes and (job["overwrite"] or engine in NEVER_EXTEND)):
            self.laid[part.name] = part.length
        elif writes:
            self.laid.pop(part.name, None)
            if job["fallocate"] in _KEEPS_LENGTH:
                self._lengths.pop(part.name, None)
                return
        if _says_bytes(clone):
            self._lengths[part.name] = part.length

    def _tell_offset(self, clone: Clone, pieces: Sequence[Part]) -> None:
        """Note where an offset in percent is one of nothing."""
        offset = clone.job["offset"]
        if not isinstance(offset, Percent) or not offset.percent or not _says_bytes(clone):
            return
        for part in pieces:
            if not part.offset and part.later_offset:
                self._tell(
                    clone,
                    "offset",
                    f"{offset.percent}% of {part.name} is 0, as in a first run of fio: the file is"
                    f" not there yet; a run over the finished file begins at {part.later_offset}",
                )

    def _tell(self, clone: Clone, option: str, text: str, *, twin: bool = False) -> None:
        note = Note(where=clone.job.line(option), text=f"{option}: {text}", twin=twin)
        self.notes.append(note)


def _says_bytes(clone: Clone) -> bool:
    """Whether a job says in bytes how long its files are."""
    size = clone.job["size"]
    return bool(filesize(clone.job)) or (bool(size) and not isinstance(size, Percent))
