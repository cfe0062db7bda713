"""What the documentation tells people to type: every command line of it is one that is taken."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.cli.app import EPILOG, app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What is meant by these is not typed as it stands.
NAMED = "(named)"
MEANT = {"ARGS…", "COMMAND", "DIR…"}


def code(text: str) -> Iterator[str]:
    """Lines in fences, lines four blanks in, and pieces between backquotes."""
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line
        else:
            # A command that is only named lacks what it needs: a word of it stands for the rest.
            yield from (f"{piece} {NAMED}" for piece in re.findall(r"`([^`]+)`", line))


def commands(text: str) -> Iterator[list[str]]:
    """The words of each call of the program, without `flashtwin`."""
    for line in code(re.sub(r"\\\n\s*", " ", text)):
        # In an indented block a wide gap parts the command from what is said of it.
        bare = re.split(r"\s#\s|\s{3,}(?=[a-z])", line.strip().removeprefix("$ "))[0]
        for call in re.split(r"\s*(?:;|&&)\s*", bare):
            call = call.removeprefix("./dev ").strip()
            if call.startswith("flashtwin "):
                words = shlex.split(call)[1:]
                if (
                    words[:1] not in ([], [NAMED], ["--version"])
                    and not MEANT.intersection(words)
                    and "…" not in call
                ):
                    yield words


def parse(words: list[str]) -> None:
    """As click parses them; nothing runs."""
    group, name, rest = app, words[0], words[1:]
    context = click.Context(app, info_name="flashtwin")
    while isinstance(group, click.Group):
        command = group.get_command(context, name)
        assert command is not None, f"there is no command {name}"
        if not isinstance(command, click.Group):
            break
        if (not rest or rest[0] not in command.commands) and "list" in command.commands:
            rest = ["list", *rest]
        if not rest or rest[0] not in command.commands:
            break
        context = click.Context(command, info_name=name, parent=context)
        group, name, rest = command, rest[0], rest[1:]
    if "--help" in rest:
        return
    named = rest[-1:] == [NAMED]
    try:
        command.make_context(name, rest[:-1] if named else rest, parent=context)
    except click.UsageError as error:
        lacking = isinstance(error, click.MissingParameter) or "requires an arg" in error.message
        if not (named and lacking):
            raise


CALLS = [
    pytest.param(words, id=f"{page.name}: {' '.join(words)[:60]}")
    for page in PAGES
    for words in commands(page.read_text())
]


@pytest.mark.parametrize("words", CALLS)
def test_a_command_of_the_docs_is_taken(words: list[str]) -> None:
    parse(words)


def test_there_are_as_many_as_there_should_be() -> None:
    assert len(CALLS) > 80
    assert {name for name, *_ in (call.values[0] for call in CALLS)} == set(app.commands)


def walk(group: click.Group) -> Iterator[click.Command]:
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from walk(command)


def test_every_drive_of_the_docs_can_be_scaled_as_they_say() -> None:
    scaled = {
        (word, words[words.index("--scale") + 1])
        for words in (call.values[0] for call in CALLS)
        if "--scale" in words
        for word in words
        if word in drive_ids()
    }
    assert len(scaled) > 4
    for drive, scale in sorted(scaled):
        assert load(drive, scale=scale).id == drive


def test_the_examples_of_every_help_page_are_taken() -> None:
    pages = [EPILOG, *(command.epilog or "" for command in walk(app))]
    assert all("Examples:" in page for page in pages)
    for page in pages:
        for line in page.partition("Examples:\n")[2].splitlines():
            if line.startswith("  flashtwin "):
                parse(shlex.split(line)[1:])


def test_what_is_said_of_dev_is_there() -> None:
    script = (ROOT / "dev").read_text()
    there = set(re.findall(r'^        "([a-z]+)": [a-z]+,$', script, re.M))
    tried = {"bench", "soak", "cuts", "abuse", "fuzz"}
    made = {"page", "docs", "wheel"}
    assert {"demo", "test", "check", "flashtwin"} | made | tried == there
    for page in PAGES:
        for line in code(page.read_text()):
            for word in re.findall(r"\./dev ([a-z]+)", line):
                assert word in there, f"{page.name}: {line}"
