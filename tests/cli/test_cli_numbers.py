"""Numbers of the command line are digits from 0 to 9, of a length that a number has."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from flashtwin.cli.app import app

COMMANDS = [
    ("test", "bx500-240", "--seed"),
    ("runs", "--limit"),
    ("runs", "prune", "--keep"),
    ("sweep", "bx500-240", "--vary", "op=0.1,0.2", "--jobs"),
    ("validate", "--theory", "--policy", "greedy", "--op"),
    ("validate", "--theory", "--policy", "greedy", "--op", "0.2", "--pages"),
    ("validate", "--theory", "--policy", "greedy", "--op", "0.2", "--trims"),
    ("new", "mine", "--dies"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[-1])
@pytest.mark.parametrize("text", ["٣", "1_0", " 7", "9" * 5000, "inf", "nan", "0x10", ""])
def test_what_is_not_plain_digits_is_no_number(command: tuple[str, ...], text: str) -> None:
    done = CliRunner().invoke(app, [*command, text])
    assert done.exit_code == 2
    assert "is not a number" in done.stderr
    assert command[-1] in done.stderr and len(done.stderr) < 500


@pytest.mark.parametrize(
    "option", ["--budget", "--size", "--battery", "--group", "--scale", "--nine"]
)
def test_a_message_does_not_repeat_all_of_a_long_word(option: str) -> None:
    words = [option, "9" * 3000] if option != "--nine" else [f"--{'9' * 3000}"]
    done = CliRunner().invoke(app, ["test", "bx500-240", *words])
    message, _, hint = done.stderr.partition("hint:")
    assert done.exit_code == 2 and "999…999" in message.replace("\n", "")
    assert len(message) < 400 and hint
