"""What becomes of each option where fio itself runs the jobs: on a path, on files of our own.

fio's options reach far beyond the file under test: they overwrite other files (`mem=mmapshared:`),
change the host (`ioscheduler`), start programs (`exec_prerun`), pin memory (`lockmem`). So nothing
is passed on because it is not known to do harm. An option is passed on because somebody looked at
what fio does with it and wrote it down here; one that is not listed is refused. Invariants:

- fio gets a line that we print from the typed value, never the text of a job file;
- text is passed on only where all of it follows a grammar that has no `$`, `;`, `#`, `\\` or
  control character, and no path: those are what fio reads within a value;
- every row of the option table (`options.csv`, `path`) is ruled upon (`tests/fio/test_on_path.py`).
"""

from __future__ import annotations

from flashtwin.fio.language.table import LOCAL, ROWS, Fate, Option, Ruling

_UNRULED = Ruling(fate=Fate.REFUSED, says="nobody has looked at what it does to a host")
_ELSEWHERE = Ruling(fate=Fate.REFUSED, says="belongs to an engine that reaches no file")


def ruling(option: Option) -> Ruling:
    """What becomes of an option on a path; what nobody ruled upon is refused."""
    if option.engines and not set(option.engines) & set(LOCAL):
        return _ELSEWHERE
    return option.on_path or _UNRULED


def undecided() -> set[str]:
    """Rows of the table that reach a file and have no ruling."""
    return {row.name for row in ROWS if ruling(row) is _UNRULED}


def in_words(option: Option) -> str:
    """The ruling in words, for the page of all options."""
    found = ruling(option)
    words = found.fate.value
    if found.only:
        shown = ", ".join(f"`{option.kind.show(value)}`" for value in found.only)
        words = f"passed on if {shown}, else {words}"
    return f"{words}: {found.says}" if found.says else words
