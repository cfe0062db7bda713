"""The page of all options, docs/reference/fio-options.md, out of the table."""

from __future__ import annotations

from collections.abc import Iterable

from flashtwin.fio.language.table import (
    ASYNCHRONOUS,
    ELSEWHERE,
    LOCAL,
    PLAIN,
    PLUGINS,
    ROWS,
    SYNCHRONOUS,
    Option,
    Role,
    ruling,
)

_HEAD = """# fio's options on a simulated drive, and on a path

What `flashtwin fio` does with each option of fio 3.33: on a simulated drive, and on a path, where
fio itself runs the jobs on files of ours. This page is written by
`FLASHTWIN_BLESS=1 pytest tests/fio/test_language_page.py`, and the tests compare it with the
table in `python/flashtwin/fio/language/`.

An option that is not listed is refused with its line and what was probably meant. Values are read
as fio reads them; where fio would read something that nobody means (`1.5m` as 1, `1min` as a
microsecond, `bs=4k-8k` as reads of 4k and writes of 8k) the value is refused with what to write
instead. `(3*4k)` is reckoned, as fio does it where it was built with arithmetic.

On a path an option reaches fio only if somebody looked at what fio does with it:

- *passed on*: fio gets a line that is written anew from the value that was read, never the text of
  the job file. Text has to follow a form: names and descriptions are up to 250 bytes without
  control characters and without `$`, `;`, `#` and backslashes; other texts are listed below.
- *set by flashtwin*, *moved*: the files are ours, and so are the names that fio sees. Logs go where
  the job file says, in the current directory or below it; anywhere if the command line says so.
- *left out, with a note*: nothing that is measured depends on it.
- *refused* ends with exit code 2, *refused for safety* with exit code 4; both name the line.
"""

_TITLES = {
    Role.STREAM: "Options that change the requests",
    Role.OUTPUT: "Options that change what is reported",
    Role.NOTED: "Accepted with a note",
    Role.REFUSED: "Refused",
    Role.SILENT: "Accepted without effect",
}


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for role, title in _TITLES.items():
        rows = [row for row in ROWS if row.role is role and not row.engines]
        parts.append(f"## {title}\n\n{_table(rows)}")
    parts.append(f"## Engines\n\n{_engines()}")
    owned = [row for row in ROWS if row.engines]
    parts.append(f"## Options of engines\n\n{_table(owned)}")
    parts.append(f"## Text that fio gets on a path\n\n{_grammars()}")
    return "\n".join(parts)


def _grammars() -> str:
    lines = ["| option | all of it matches |", "|---|---|"]
    for row in sorted(ROWS, key=lambda row: row.name):
        grammar = ruling(row).grammar
        if grammar and grammar != PLAIN:
            lines.append(f"| {row.name} | `{grammar.replace('|', chr(92) + '|')}` |")
    return "\n".join(lines) + "\n"


def _table(rows: Iterable[Option]) -> str:
    lines = ["| option | value | on a simulated drive | on a path |", "|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: row.name):
        names = ", ".join(f"`{name}`" for name in (row.name, *row.aliases))
        text = row.says + (f" ({', '.join(row.engines)})" if row.engines else "")
        quiet = [row.kind.show(value) for value in row.inert]
        if quiet:
            text += f"; {' and '.join(f'`{value}`' for value in quiet)} says nothing"
        lines.append(
            f"| {names} | {row.kind.name} | {text} | {_in_words(row)} |".replace("…", "...")
        )
    return "\n".join(lines) + "\n"


def _in_words(option: Option) -> str:
    """The ruling in words, for the page of all options."""
    ruled = ruling(option)
    words = ruled.fate.value
    if ruled.only:
        values = ", ".join(f"`{option.kind.show(value)}`" for value in ruled.only)
        words = f"passed on if {values}, else {words}"
    return f"{words}: {ruled.says}" if ruled.says else words


def _engines() -> str:
    refused: dict[str, list[str]] = {}
    for engine, reason in ELSEWHERE.items():
        refused.setdefault(reason, []).append(engine)
    lines = [
        f"One request at a time, as in fio: {_listed(SYNCHRONOUS)}.",
        "",
        f"As many as `iodepth` says: {_listed(ASYNCHRONOUS)}.",
        "",
        f"With a note, as they are no part of fio: {_listed(PLUGINS)}, and the path of a plug-in.",
        "",
        "Refused, as they ask nothing of a drive:",
        "",
        *(f"- {reason}: {_listed(engines)}" for reason, engines in refused.items()),
        "",
        f"On a path, those that reach a file by its name: {_listed(LOCAL)}.",
    ]
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
