"""examples/crash: a writer, a power cut, a check, and the drive that fails it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from served import SCALE, needs, power_losses

CRASH = Path(__file__).resolve().parents[2] / "examples" / "crash" / "crash.sh"


def crashed(place: Path, write: str, check: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = place / "flashtwin"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m flashtwin.cli "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(place), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        [CRASH, "bx500-240", "2", write, check, "--scale", SCALE, *options],
        cwd=place,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@needs("nbdinfo", "nbdcopy")
def test_checks_pass_on_a_drive_that_keeps_its_word(tmp_path: Path) -> None:
    write = 'head -c 64M /dev/zero | tr "\\0" x > image; nbdcopy image "$uri"'
    done = crashed(tmp_path, write, 'nbdinfo --map "$uri" > map')
    assert done.returncode == 0, done.stderr
    assert "2 cuts, every check passed" in done.stdout
    # What had come before the cut.
    assert "data" in (tmp_path / "map").read_text()


def test_the_power_goes_even_where_the_writer_ends_before(tmp_path: Path) -> None:
    done = crashed(tmp_path, "true # writes nothing", 'flashtwin ctl "$ctl" smart > smart')
    assert done.returncode == 0, done.stderr
    assert power_losses(json.loads((tmp_path / "smart").read_text())) == 2


@needs("nbdinfo")
def test_a_check_that_fails_ends_it(tmp_path: Path) -> None:
    done = crashed(tmp_path, "true", 'nbdinfo "$uri" | grep -q "no such line"')
    assert done.returncode == 1
    assert "the check failed after cut 1" in done.stderr
