"""The real fio as a judge of job files: what it accepts, and which value it reads."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def accepts(text: str, folder: Path) -> tuple[bool, str]:
    """Whether `fio --parse-only` takes a job file, and what it says."""
    path = folder / "asked.fio"
    path.write_text(text)
    done = subprocess.run(
        ["fio", "--parse-only", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=60,
    )
    said = done.stdout + done.stderr
    return done.returncode == 0 and "Error" not in said, said


def numbers(option: str, value: str, *before: str) -> list[int]:
    """The values that fio reads an option's text as, from its own parse log."""
    done = subprocess.run(
        ["fio", "--parse-only", "--debug=parse", "--name=x", *before, f"--{option}={value}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    own = done.stdout.partition(f"__handle_option={option}")[2]
    return [int(one) for ok, one in re.findall(r"ret=(\d), out=(-?\d+)", own) if ok == "0"]


def option_names() -> set[str]:
    """Every option of this fio's."""
    done = subprocess.run(
        ["fio", "--cmdhelp=all"], capture_output=True, text=True, check=True, timeout=60
    )
    return {
        line.partition(":")[0].strip()
        for line in done.stdout.splitlines()
        if re.match(r" *[a-z][a-z0-9_-]* *:", line)
    }
