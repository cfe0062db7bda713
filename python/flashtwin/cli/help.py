"""`flashtwin help`: the help of a command, and the pages that come with the program."""

from __future__ import annotations

from collections.abc import Callable

import click

from flashtwin.cli import manual, options, terminal
from flashtwin.errors import USAGE, FlashtwinError


def _fio_options() -> str:
    from flashtwin.fio.language.page import page

    return page()


def _findings() -> str:
    from flashtwin.batteries.base import registry

    sections = [
        f"## {meaning.id}: {meaning.title}\n\n"
        + "\n\n".join(
            f"{head}{' '.join(text.split())}"
            for head, text in (
                ("", meaning.means),
                ("Found: ", meaning.found),
                ("Mind: ", meaning.mind),
            )
            if text
        )
        for meaning in registry.meanings()
    ]
    return "\n\n".join(["# Findings, and how they are found", *sections]) + "\n"


# Pages by name, each with its line in the list; they are made of what is in the package.
PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "fio-options": ("every option of fio: what it does on a twin and on a path", _fio_options),
    "man": (
        "the manual page: flashtwin help man > flashtwin.1",
        lambda: manual.page(click.get_current_context().find_root()),
    ),
    "findings": ("every finding: what it means and how it is found", _findings),
}


def topics(context: click.Context) -> list[str]:
    """Commands and pages."""
    root = context.find_root().command
    assert isinstance(root, click.Group), "help is a command of a group"
    return [*PAGES, *root.list_commands(context)]


def _complete(context: click.Context, param: click.Parameter, begun: str) -> list[str]:
    return [topic for topic in topics(context) if topic.startswith(begun)]


@click.command(
    "help",
    epilog=options.examples("flashtwin help", "flashtwin help test", "flashtwin help fio-options"),
)
@click.argument("topic", required=False, shell_complete=_complete)
@click.pass_context
def command(context: click.Context, topic: str | None) -> None:
    """Show the help of a command or a page; without TOPIC, what there is."""
    root = context.find_root()
    if topic is None:
        terminal.say(root.get_help())
        terminal.say("\nPages:")
        for name, (line, _) in PAGES.items():
            terminal.say(f"  {name:<12} {line}")
        return
    if topic in PAGES:
        terminal.say(PAGES[topic][1](), nl=False)
        return
    assert isinstance(root.command, click.Group), "help is a command of a group"
    of_topic = root.command.get_command(root, topic)
    if of_topic is None:
        raise FlashtwinError(
            f"there is no help on {topic}",
            hint=f"there is help on {', '.join(topics(context))}",
            exit_code=USAGE,
        )
    terminal.say(of_topic.get_help(click.Context(of_topic, info_name=topic, parent=root)))
