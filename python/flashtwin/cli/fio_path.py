"""`flashtwin fio` on a path: fio itself runs the jobs, on files of our own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.errors import DONE

if TYPE_CHECKING:
    from flashtwin.cli.fio_shape import Asked
    from flashtwin.fio.language.script import Script
    from flashtwin.runner.target import Variant


def run(read: Script, variant: Variant, asked: Asked, quiet: bool) -> int:
    """Let fio run them; its exit code as ours."""
    from flashtwin.cli.fio_outputs import inputs_of
    from flashtwin.fio import on_files
    from flashtwin.runner.stop import listening
    from flashtwin.runner.target import free_path

    on = variant.drive
    path = free_path(on, sized=False, changes=variant.changes)
    prepared = on_files.prepare(read.jobs, on)
    notes = [note for note in (*read.notes, *prepared.notes) if not note.twin]
    terminal.notes(dict.fromkeys(notes), quiet)
    if asked.parse_only:
        return DONE
    shape = asked.shape
    words = [f"--output-format={','.join(shape.formats)}", f"--terse-version={shape.terse}"]
    if shape.status_ns:
        words += [f"--status-interval={max(shape.status_ns // 1_000_000, 1)}ms"]
    answering = on_files.Asked(
        words=tuple(words),
        readonly=asked.readonly,
        output=asked.output,
        inputs=frozenset(inputs_of(read, on)),
    )

    def say(text: str) -> None:
        if not quiet:
            terminal.note(text)

    with listening() as stop:
        return on_files.run(
            prepared, path, answering, say, partial(terminal.say, nl=False), lambda: stop.number
        )
