"""examples/crash and action/crash: a writer, power cuts, a check, and the drive that fails it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from block_devices import lacking
from served import SCALE, needs, power_losses

ROOT = Path(__file__).resolve().parents[2]
CRASH = ROOT / "examples" / "crash" / "crash.sh"
COMMITS = shlex.join([sys.executable, str(CRASH.with_name("commits.py"))])
WRITE, CHECK = (f'{COMMITS} {verb} rows.db "$keep/told"' for verb in ("write", "check"))
on_a_device = pytest.mark.skipif(bool(lacking()), reason=f"lacking: {', '.join(lacking())}")


def with_program(place: Path) -> dict[str, str]:
    """The environment in which flashtwin is this checkout's."""
    program = place / "flashtwin"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m flashtwin.cli "$@"\n')
    program.chmod(0o755)
    return {"PATH": os.pathsep.join([str(place), os.environ.get("PATH", os.defpath)])}


def ran(command: list[str | Path], place: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=place,
        env={**os.environ, **with_program(place), **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def crashed(
    place: Path, write: str, check: str, *options: str, on: str = "uri"
) -> subprocess.CompletedProcess[str]:
    words = [CRASH, "bx500-240", "2", write, check, "--scale", SCALE, *options]
    return ran(words, place, CRASH_ON=on, CRASH_WITHIN="300")


@needs("nbdinfo", "nbdcopy")
@pytest.mark.full
def test_checks_pass_on_a_drive_that_keeps_its_word(tmp_path: Path) -> None:
    write = 'head -c 64M /dev/zero | tr "\\0" x > image; nbdcopy image "$uri" || true'
    done = crashed(tmp_path, write, 'nbdinfo --map "$uri" > map')
    assert done.returncode == 0, done.stderr
    assert "2 cuts, every check passed" in done.stdout
    # What had come before the cut.
    assert "data" in (tmp_path / "map").read_text()


@pytest.mark.full
def test_the_power_goes_even_where_the_writer_ends_before(tmp_path: Path) -> None:
    done = crashed(tmp_path, "true # writes nothing", 'flashtwin ctl "$ctl" smart > smart')
    assert done.returncode == 0, done.stderr
    assert power_losses(json.loads((tmp_path / "smart").read_text())) == 2


@pytest.mark.full
def test_a_check_that_fails_ends_it(tmp_path: Path) -> None:
    done = crashed(tmp_path, "true", "false")
    assert done.returncode == 1
    assert "the check failed after cut 1" in done.stderr
    again = crashed(tmp_path, "true", "true")
    assert (again.returncode, "is in the way" in again.stderr) == (2, True)


def test_a_writer_that_fails_by_itself_is_no_power_cut(tmp_path: Path) -> None:
    done = crashed(tmp_path, "no-such-program", "true")
    assert done.returncode == 2
    assert "RUN ended with code 127 before the power went" in done.stderr


@on_a_device
def test_sqlite_on_a_liar_fails_and_its_cut_is_replayed(tmp_path: Path) -> None:
    done = crashed(tmp_path, WRITE, CHECK, "--worse", "flush-ignored", on="folder")
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = [row for row in done.stderr.splitlines() if row.startswith("replay: ")]
    again = ran(shlex.split(line.removeprefix("replay: ")), tmp_path)
    assert again.returncode == 0, again.stderr
    (image,) = (tmp_path / "crash").glob("after-*.img")
    # The file system that was on the drive: its magic number is where ext4 has it.
    with image.open("rb") as file:
        file.seek(1024 + 56)
        assert file.read(2) == b"\x53\xef"


@on_a_device
def test_the_action_runs_sqlite(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action" / "crash" / "action.yml").read_text())
    inputs = {name: str(row.get("default", "")) for name, row in action["inputs"].items()}
    inputs |= {"cuts": "2", "seed": "7", "state": "half-full", "run": WRITE, "check": CHECK}
    inputs["options"] = f"--scale {SCALE}"
    step = action["runs"]["steps"][-1]
    values = {
        name: inputs[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, text in step["env"].items()
    }
    values["GITHUB_ACTION_PATH"] = str(ROOT / "action" / "crash")
    done = ran(["bash", "-e", "-c", step["run"]], tmp_path, **values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 cuts, every check passed" in done.stdout
    assert int((tmp_path / "crash" / "keep" / "told").read_text().split()[-1]) > 0
