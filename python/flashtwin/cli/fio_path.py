"""`flashtwin fio` on a path: fio itself runs the jobs, on files of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.errors import DONE

if TYPE_CHECKING:
    from flashtwin.cli.fio_shape import Asked
    from flashtwin.fiojob.language.sections import Script
    from flashtwin.runner.resolve import Wishes


def run(read: Script, on: str, wishes: Wishes, asked: Asked) -> int:
    """Let fio run them; its exit code as ours."""
    from flashtwin.drives import real_jobs
    from flashtwin.runner.resolve import path_of
    from flashtwin.runner.stop import listening

    path = path_of(on, wishes)
    terminal.notes(read.notes, wishes.quiet)
    prepared = real_jobs.prepare(read.jobs, on)
    if asked.parse_only:
        return DONE
    shape, output = asked.shape, asked.output
    arguments = [f"--output-format={','.join(shape.formats)}", f"--terse-version={shape.terse}"]
    if shape.status_ns:
        arguments += [f"--status-interval={max(shape.status_ns // 1_000_000, 1)}ms"]
    arguments += [f"--output={output.absolute()}"] if output else []

    def say(text: str) -> None:
        if not wishes.quiet:
            terminal.note(text)

    with listening() as stop:
        return real_jobs.run(prepared, path, arguments, say, lambda: stop.number)
