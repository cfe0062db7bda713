"""Programs that are called fio and are something else: one sentence, exit code 3, nothing left."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from thinning import thinned

from flashtwin.cli.app import app
from flashtwin.drives.real import real_fio
from flashtwin.errors import ENVIRONMENT

# Where --output=FILE goes, which a program that is fio writes its answer to.
PLACE = """
for word in "$@"; do case "$word" in --output=*) place="${word#--output=}";; esac; done
"""
VERSION = '[ "$1" = --version ] && { echo fio-3.33; exit 0; }\n'
ESCAPES = r"\033]0;owned\007\033[31mred\033[2J"


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder.mkdir()
    program = folder / "fio"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """What a command says that ends for want of fio."""
    place = tmp_path / "here"
    place.mkdir(exist_ok=True)
    monkeypatch.chdir(place)
    done = CliRunner().invoke(app, words, prog_name="flashtwin")
    assert done.exit_code == ENVIRONMENT, done.output
    assert "\033" not in done.output and "\a" not in done.output
    assert "Traceback" not in done.output and len(done.output) < 100_000
    assert not (place / "probe.bin").exists()
    return done.stderr


COMMANDS = [
    ("fio", "--name=a", "--size=1m", "--on", "./probe.bin"),
    ("fio", "--name=a", "--size=1m", "--on", "./probe.bin", "--out", "run"),
    ("test", "./probe.bin", "--size", "64MB", "--battery", "qos", "--out", "other", "--no-report"),
]

VERSIONS = {
    "hangs": "exec sleep 1000",
    "hangs behind its answer": "echo fio-3.33; exec sleep 1000",
    "prints without end": "exec yes fio-3.33",
    "prints bytes": r"printf '\377\376\000fio-3.33'",
    "prints escapes": f"printf 'fio-3.33{ESCAPES}'",
    "prints a number without end": "echo fio-3.$(head -c 5000 /dev/zero | tr '\\0' 9)",
    "prints nothing": "exit 0",
    "dies": "kill -SEGV $$",
}


@pytest.mark.parametrize("script", VERSIONS.values(), ids=VERSIONS.keys())
def test_a_version_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(real_fio, "VERSION_S", 0.3)
    pretend(tmp_path / "bin", monkeypatch, script)
    said = ends(tmp_path, monkeypatch, *COMMANDS[0])
    assert "or later is needed" in said or "did not answer within" in said


def test_a_file_that_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path / "bin", monkeypatch, "")
    (tmp_path / "bin" / "fio").write_bytes(b"\x7fELF garbage")
    assert "cannot be started" in ends(tmp_path, monkeypatch, *COMMANDS[0])


def test_it_gets_no_more_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_SOMEBODY", "secret")
    pretend(tmp_path / "bin", monkeypatch, f"env > {tmp_path}/environment; echo fio-3.33")
    assert real_fio.find().version == "3.33"
    assert "secret" not in (tmp_path / "environment").read_text()


SIDE = {
    "total_ios": 4,
    "io_bytes": 4096,
    "runtime": 1,
    "lat_ns": {"mean": 1.0, "min": 1, "max": 2},
}


def of_a_job(write: str) -> str:
    return '{"jobs": [{"jobname": "fill", "error": 0, "write": ' + write + "}]}"


ANSWERS = {
    "nothing": "",
    "no jobs": '{"jobs": []}',
    "jobs that are none": '{"jobs": [1, null]}',
    "jobs as an object": '{"jobs": {"a": 1}}',
    "a list": "[1, 2]",
    "another object": '{"fio version": "fio-3.33"}',
    "a job without a name": '{"jobs": [{"error": 0}]}',
    "a side that is text": of_a_job('"x"'),
    "a side without numbers": of_a_job('{"total_ios": 1}'),
    "NaN": of_a_job('{"total_ios": NaN}'),
    "infinity": of_a_job('{"total_ios": 1e999}'),
    "4,300 digits": of_a_job('{"total_ios": ' + "9" * 5000 + "}"),
    "less than nothing": of_a_job(json.dumps({**SIDE, "io_bytes": -4096})),
    "deep": "{" + '"a":{' * 50_000,
    "objects without end": '{"a":\n' * 50_000,
    "less than was to be filled": of_a_job(json.dumps(SIDE)),
    "escapes": "\033]0;owned\a\033[2J",
}


@pytest.mark.parametrize("what", thinned(ANSWERS, every=2))
def test_answers_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    (tmp_path / "answer").write_text(ANSWERS[what] + "\n")
    script = f"{VERSION}{PLACE}cp {tmp_path}/answer $place\nprintf '{ESCAPES}' >&2"
    pretend(tmp_path / "bin", monkeypatch, script)
    for words in COMMANDS:
        assert "error: " in ends(tmp_path, monkeypatch, *words)


ENDS = {
    "at once": "exit 0",
    "with an error": "echo 'fio: no' >&2; exit 1",
    "by a signal": "kill -SEGV $$",
    "with much on stderr": "yes 'no' | head -n 200000 >&2; exit 1",
    "with a long line": "head -c 9000000 /dev/zero | tr '\\0' x >&2; exit 1",
}


@pytest.mark.parametrize("end", thinned(ENDS, every=2))
def test_programs_that_end_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    pretend(tmp_path / "bin", monkeypatch, VERSION + ENDS[end])
    for words in COMMANDS:
        ends(tmp_path, monkeypatch, *words)


def test_an_answer_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_fio, "ANSWER_BYTES", 1 << 20)
    pretend(tmp_path / "bin", monkeypatch, f"{VERSION}{PLACE}exec yes >&2")
    for words in COMMANDS:
        assert "fio writes more than 1 MiB" in ends(tmp_path, monkeypatch, *words)
