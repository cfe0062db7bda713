"""`flashtwin completions`, and what it completes besides commands and options: drives, runs, names.

The shell asks the program itself, which answers before a command runs.
"""

from __future__ import annotations

import contextlib

import click
from click.shell_completion import CompletionItem, get_completion_class

from flashtwin.cli import terminal

SHELLS = ("bash", "zsh", "fish")
# The environment variable by which a shell asks for completions.
VARIABLE = "_FLASHTWIN_COMPLETE"


def drives(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completions for a drive: ids of the catalogue, and files."""
    from flashtwin.catalogue.loader import drive_ids, shipped_ids
    from flashtwin.errors import FlashtwinError

    try:
        ids = drive_ids()
    except FlashtwinError:
        # A shell that asks for names has no place for a sentence about FLASHTWIN_CATALOGUE.
        ids = shipped_ids()
    return [*_beginning(ids, begun), CompletionItem(begun, type="file")]


def runs(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completions for a run: names in ./flashtwin-runs, and folders."""
    from flashtwin.runs.listing import DEFAULT_PARENT, folders_in

    names: list[str] = []
    # A shell that asks for names has no place for a sentence about a folder.
    with contextlib.suppress(OSError):
        names = [path.name for path in folders_in(DEFAULT_PARENT)]
    return [*_beginning(names, begun), CompletionItem(begun, type="dir")]


def batteries(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completions for the last of several batteries."""
    from flashtwin.batteries.base import registry

    before, comma, last = begun.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{item.value}")
        for item in _beginning(registry.names(), last)
    ]


def groups(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of groups of batteries."""
    from flashtwin.batteries.base import groups

    return _beginning([group.name for group in groups.groups()], begun)


def findings(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Stems of findings."""
    from flashtwin.batteries.base import registry

    return _beginning([meaning.stem for meaning in registry.meanings()], begun)


def _beginning(names: list[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]


@click.command(
    "completions",
    epilog="\b\nExamples:\n  flashtwin completions bash\n  flashtwin completions fish",
)
@click.argument("shell", metavar="bash|zsh|fish", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print what a shell reads to complete flashtwin's commands, options, drives and runs.

    Write it (flashtwin completions SHELL > FILE) where your shell looks for completions:

    \b
    bash  ~/.local/share/bash-completion/completions/flashtwin
    zsh   ~/.zfunc/_flashtwin, with ~/.zfunc in fpath
    fish  ~/.config/fish/completions/flashtwin.fish
    """
    of_shell = get_completion_class(shell)
    assert of_shell is not None, f"click completes for no {shell}"
    completion = of_shell(context.find_root().command, {}, "flashtwin", VARIABLE)
    terminal.say(completion.source().strip())
