"""The real fio as a judge of job files: what it accepts, and which value it reads."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
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


def numbers(asked: Sequence[tuple[str, str, int]]) -> list[list[int]]:
    """The values that fio reads each option's text as, under a kb_base, from its own parse log.

    Each is an option of a job of its own, so that one start of fio reads them all.
    """
    jobs = [
        (f"--name=asked{place}", f"--kb_base={base}", f"--{option}={text}")
        for place, (option, text, base) in enumerate(asked)
    ]
    done = subprocess.run(
        ["fio", "--parse-only", "--debug=parse", *(word for job in jobs for word in job)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    parts = re.split(r"handle_option=name, ptr=asked\d+\n", done.stdout)[1:]
    owns = [
        part.partition(f"__handle_option={ask[0]}")[2]
        for part, ask in zip(parts, asked, strict=True)
    ]
    return [
        [int(value) for code, value in re.findall(r"ret=(\d), out=(-?\d+)", own) if code == "0"]
        for own in owns
    ]


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
