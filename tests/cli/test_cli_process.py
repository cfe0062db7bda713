"""The program as a process: codes, streams, pipes, terminals, and what it does not import."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program import HERE, PROGRAM, environment, flashtwin
from thinning import thinned

from flashtwin.cli.app import COMMANDS

HEAVY = ("numpy", "polars", "altair", "scipy", "rich", "jinja2", "vl_convert", "multiprocessing")


def on_terminal(*arguments: str, cwd: Path, columns: int = 80, **more: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program with stand-ins, both streams being terminals."""
    reads = []
    writes = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        _set_width(theirs, columns)
        reads.append(ours)
        writes.append(theirs)
    process = subprocess.Popen(
        [sys.executable, str(HERE / "stand_ins.py"), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=writes[0],
        stderr=writes[1],
        cwd=cwd,
        env=environment(**more),
    )
    for end in writes:
        os.close(end)
    texts = _drain(reads)
    return process.wait(timeout=60), texts[0], texts[1]


def _set_width(terminal: int, columns: int) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def _drain(ends: list[int]) -> list[str]:
    import selectors

    found = {end: b"" for end in ends}
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                try:
                    data = os.read(key.fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                found[key.fd] += data
    return [found[end].decode() for end in ends]


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom flashtwin.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        check=True,
    )
    assert done.stderr.strip() == "[]"


def test_the_help_of_no_command_imports_numpy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom flashtwin.cli import main\nfrom flashtwin.cli.app import COMMANDS\n"
        "for name in COMMANDS:\n"
        "    try:\n        main([name, '--help'])\n    except SystemExit: pass\n"
        "    if sys.modules.pop('numpy', None): print(name, file=sys.stderr)\n"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=tmp_path, env=environment(), check=True
    )
    assert done.stdout.count("Usage: ") == len(COMMANDS) and done.stderr == ""


def test_codes_and_streams(tmp_path: Path) -> None:
    good = flashtwin("batteries", "--json", cwd=tmp_path)
    assert (good.returncode, good.stderr) == (0, "")
    names = {row["name"] for row in json.loads(good.stdout)["batteries"]}
    assert names >= {"fill", "crystaldiskmark"}
    bad = flashtwin("explain", "fill.cache-size", cwd=tmp_path)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.splitlines()[0] == "error: no finding is called fill.cache-size"
    assert bad.stderr.splitlines()[1].startswith("hint: did you mean fill.cache_size")
    usage = flashtwin("test", cwd=tmp_path)
    assert (usage.returncode, usage.stdout) == (2, "")
    assert "hint: flashtwin test --help" in usage.stderr


def test_a_pipe_that_closes_early_is_quiet(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "explain"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(PYTHONUNBUFFERED="1"),
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    "arguments",
    [["--help"], pytest.param(["batteries", "--help"], marks=pytest.mark.full), ["explain"]],
)
def test_a_full_disk_behind_stdout_is_no_success(tmp_path: Path, arguments: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "error: cannot write to stdout: No space left on device"


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize(
    "command",
    thinned([(["show", "bx500-240"],), (["drives"],), (["explain"],), (["batteries"],)], every=4),
)
def test_a_terminal_gets_colours_and_nothing_wider_than_it(
    tmp_path: Path, command: list[str]
) -> None:
    code, out, err = on_terminal(*command, cwd=tmp_path, columns=60)
    assert (code, err) == (0, "")
    assert "\x1b[1m" in out, "headings are bold"
    plain = ESCAPE.sub("", out)
    assert max(len(line) for line in plain.splitlines()) <= 60


def test_no_color_is_honoured(tmp_path: Path) -> None:
    code, _, err = on_terminal("show", "bx500", cwd=tmp_path, NO_COLOR="1")
    assert (code, ESCAPE.findall(err)) == (2, [])
    code, _, err = on_terminal("show", "bx500", cwd=tmp_path)
    assert code == 2 and "\x1b[31m" in err
    code, out, _ = on_terminal("show", "bx500-240", cwd=tmp_path, NO_COLOR="1")
    assert code == 0 and not re.search(r"\x1b\[[0-9;]*3[0-9]", out)


def test_the_live_block_is_on_stderr_and_the_findings_are_not(tmp_path: Path) -> None:
    code, out, err = on_terminal(
        "test", "bx500-240", "--battery", "fill:patterns=1m-q1", "--out", "r", cwd=tmp_path
    )
    assert code == 0
    assert "How sure: " in out and "Page: r/report.html" in out
    assert "100 %" in ESCAPE.sub("", err) and "done" in err
    assert "100 %" not in out
    assert max(len(line) for line in ESCAPE.sub("", out).splitlines()) <= 80


def test_no_tty_no_block(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(HERE / "stand_ins.py"),
            *["test", "bx500-240", "--battery", "fill:patterns=1m-q1", "--json"],
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {"report", "runs"}
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr.startswith("bx500-240: writes 480 GB")


def test_a_path_that_no_system_takes_is_one_sentence(tmp_path: Path) -> None:
    long = "x" * 5000
    for words in (
        ("runs", "show", long),
        ("report", long),
        ("compare", long, long),
        ("check", f"{long}.toml"),
        ("test", f"./{long}", "--size", "64MiB"),
        ("test", "bx500-240", "--out", long),
        ("test", "--resume", long),
    ):
        done = flashtwin(*words, cwd=tmp_path)
        assert done.returncode in (2, 3) and done.stdout == "", words[0]
        assert "Traceback" not in done.stderr and "error: " in done.stderr, words[0]
        assert "too long" in done.stderr, done.stderr[:200]


def test_without_a_stdout_nothing_breaks(tmp_path: Path) -> None:
    """`>&-` of a shell."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "batteries"],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
