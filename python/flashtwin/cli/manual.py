"""The manual page, `flashtwin help man`, for man(1): every command with its options.

It is made of what `--help` shows. A line that begins with a point or a quote would be an order to
roff and a hyphen would be set as one: both are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from flashtwin import __version__
from flashtwin.cli.app import COMMANDS

CODES = {
    "0": "done",
    "1": "a miss: a value lies outside of its tolerance",
    "2": "usage: an argument or a spec is wrong",
    "3": "environment: a program, a permission or a part of the package is lacking",
    "4": "refused for safety",
    "70": "a fault of flashtwin's own",
    "130": "interrupted",
}
VARIABLES = {
    "FLASHTWIN_CATALOGUE": "folders with drives of your own, separated by colons",
    "NO_COLOR": "no colours",
    "XDG_CACHE_HOME": "where prepared drives and the index of runs are kept; by default ~/.cache",
}


def page(root: click.Context) -> str:
    """The whole page."""
    group = root.command
    assert isinstance(group, click.Group), "the program is a group of commands"
    lines = [
        f'.TH FLASHTWIN 1 "" "flashtwin {__version__}" "User Commands"',
        ".SH NAME",
        r"flashtwin \- measure an SSD, infer what it hides, and simulate it",
        ".SH SYNOPSIS",
        r".B flashtwin \fICOMMAND\fR [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(group.help or ""),
        ".SH COMMANDS",
    ]
    # Commands of other packages, such as a checkout's laboratory, have pages of their own.
    for name in sorted(COMMANDS):
        command = group.get_command(root, name)
        assert command is not None, name
        lines += _command(command, click.Context(command, info_name=name, parent=root))
    lines += [".SH EXIT STATUS", *_terms(CODES), ".SH ENVIRONMENT", *_terms(VARIABLES)]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {_escaped(context.command_path)} {_escaped(usage)}"
    yield from _paragraphs(command.help or "")
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    yield from _terms({names: text for names, text in filter(None, records)})
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None, name
            yield from _command(below, click.Context(below, info_name=name, parent=context))


def _paragraphs(text: str) -> Iterator[str]:
    """The text of a docstring; what follows click's \\b keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in paragraph.splitlines()]
        yield ".PP"
        if lines[:1] == ["\b"]:
            yield from (".nf", *map(_escaped, lines[1:]), ".fi")
        else:
            yield _escaped(" ".join(lines))


def _terms(texts: dict[str, str]) -> Iterator[str]:
    for term, text in texts.items():
        yield from (".TP", rf".B {_escaped(term)}", _escaped(" ".join(text.split())))


def _escaped(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped
