"""The command line: one file a command, and none of them decides anything."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """The program `flashtwin`; always leaves by `SystemExit` with one of the documented codes."""
    from flashtwin.cli.app import app

    app.main(args=None if arguments is None else list(arguments), prog_name="flashtwin")
