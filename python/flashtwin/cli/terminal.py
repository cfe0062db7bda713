"""How things look: JSON, tables and notes, on a wide terminal, a narrow one, or in a pipe.

Names come from specs, job files and runs that anybody may have written, so everything that is shown
goes through here: what would move the cursor, change the screen or turn the direction of writing is
shown as its escape.

Invariants: data goes to stdout, the rest to stderr; in a pipe nothing is cut or wrapped and no line
ends in blanks, on a terminal nothing is wider than it; colours only where they are wanted (rich and
click both honour NO_COLOR).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

# Wider than any row, so that a pipe gets a line a row.
UNLIMITED = 4096
# Controls but for tab and line feed, marks and overrides of direction, halves of characters.
_ACTIVE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def print_json(document: object) -> None:
    """One object on stdout. NaN and infinity are no JSON and are a mistake of ours."""
    import msgspec

    value = msgspec.to_builtins(document)
    # Python's encoder writes numbers as our files have them, but takes seconds to indent thousands
    # of rows.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        say(msgspec.json.format(text, indent=2))
    except UnicodeEncodeError:
        # Half a character, as in a name that is not UTF-8: `say` makes an escape of it.
        say(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def say(text: str, *, nl: bool = True, stdout: TextIO | None = None) -> None:
    """Text on stdout; in JSON the escapes of `printable` mean what they stand for.

    `stdout`: what it was before something else took its place.
    """
    click.echo(printable(text), file=stdout, nl=nl)


def note(text: str, *, head: str = "", colour: str = "") -> None:
    """A line for the reader, not for a pipe; `head` stands before it, in a colour."""
    begin = f"{coloured(head, colour)} " if head else ""
    click.echo(f"{begin}{printable(text)}", err=True)


def typed(text: str) -> str:
    """A text in which flashtwin's commands stand as they are typed here: in a checkout that is
    ./dev flashtwin."""
    word = os.environ.get("FLASHTWIN_TYPED")
    return re.sub(r"(?<![\w./-])flashtwin (?=[a-z])", f"{word} ", text) if word else text


def printable(text: str) -> str:
    """Text without characters that do anything but print; such characters are shown as escapes."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def notes(texts: Iterable[object], quiet: bool) -> None:
    """Notes on what was asked for, each on its line."""
    if not quiet:
        for text in texts:
            note(str(text), head="note:", colour="yellow")


def coloured(text: str, colour: str) -> str:
    """A word on stderr in colour, unless colours are unwanted; click strips them in a pipe."""
    return (
        text
        if os.environ.get("NO_COLOR") or not colour
        else click.style(text, fg=colour, bold=True)
    )


def emit(*parts: RenderableType) -> None:
    """Print tables and text on stdout."""
    console = _console(sys.stdout)
    with console.capture() as captured:
        for part in parts:
            console.print(part, highlight=False)
    text = captured.get()
    if not console.is_terminal:
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    click.echo(text, nl=False)


def rendered(*parts: RenderableType) -> str:
    """What `emit` would print, for a program that prints it itself."""
    console = _console(sys.stdout)
    with console.capture() as captured:
        for part in parts:
            console.print(part, highlight=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def width() -> int:
    """How many characters a line on stdout may have."""
    return _console(sys.stdout).width


def stderr_console() -> Console:
    """The console for progress."""
    return _console(sys.stderr)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]] = (),
    *,
    title: str | None = None,
    right: Iterable[str] = (),
) -> Table:
    """A table; the columns named in `right` hold numbers. A cell is anything or a `cell`."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        title=None if title is None else cell(title),
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for name in columns:
        grid.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(text if isinstance(text, Text) else cell(text) for text in row))
    return grid


def plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Iterable[str] = ()
) -> str | None:
    """The text of a `table` without colours, for thousands of rows, which rich takes seconds for;
    none where a line would not fit."""
    from rich.cells import cell_len

    from flashtwin.model.text import table as text_table

    heads, *lines = [[printable(text) for text in row] for row in (columns, *rows)]
    if any("\n" in text or "\t" in text for row in lines for text in row):
        return None
    text = text_table(heads, lines, right=right, measured=cell_len)
    # The rule under the heads is as wide as the table.
    return text if len(text.split("\n", 2)[1]) <= width() else None


def with_content(
    columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> tuple[list[str], list[list[object]]]:
    """The columns in which some row has a value, and the rows with only these."""
    all_rows = list(rows)
    filled = [at for at in range(len(columns)) if any(str(row[at]) for row in all_rows)]
    return [columns[at] for at in filled], [[row[at] for at in filled] for row in all_rows]


def fits(grid: Table) -> bool:
    """Whether a table is shown without a wrapped cell."""
    from rich.measure import Measurement

    console = _console(sys.stdout)
    wide = console.options.update(max_width=UNLIMITED)
    return Measurement.get(console, wide, grid).maximum <= console.width


def cell(text: object, style: str = "") -> Text:
    """Text as it is: specs contain brackets, which rich would take for markup."""
    from rich.text import Text

    return Text("" if text is None else printable(str(text)), style=style)


def _console(stream: TextIO) -> Console:
    from rich.console import Console
    from rich.segment import Segment

    class PrintableConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text), style, control)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    terminal = stream.isatty() or bool(os.environ.get("FORCE_COLOR"))
    width = None if terminal or "COLUMNS" in os.environ else UNLIMITED
    if stream.isatty():
        width = shutil.get_terminal_size().columns
    return PrintableConsole(file=stream, width=width, soft_wrap=False)


def counted_findings(count: int) -> str:
    """A count of findings, in words."""
    return "1 finding" if count == 1 else f"{count} findings"
