"""The steps of Containerfile in a bare Debian: a directory and chroot instead of an engine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))
from opened import CHROMIUM, Opened, chromium, move

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "Containerfile"


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction with its words, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, words = line.strip().partition(" ")
            yield name, " ".join(words.split())


@dataclass
class Image:
    """A directory that stands for the image, and what the instructions have set."""

    root: Path
    user: str = "root"
    place: str = "/"
    variables: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    )
    entry: list[str] = field(default_factory=list)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command within, as the user that is set."""
        enter = ["chroot", f"--userspec={self.user}", str(self.root), "/usr/bin/env", "-i"]
        settings = [f"{name}={value}" for name, value in self.variables.items()]
        return subprocess.run(
            [*enter, "-C", self.place, "HOME=/tmp", *settings, *command],
            capture_output=True,
            text=True,
            check=False,
        )

    def carry_out(self, name: str, words: str, context: Path) -> None:
        if name == "RUN":
            done = self.run("/bin/sh", "-c", words)
            assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        elif name == "COPY":
            pattern, to = words.split()
            for path in context.glob(pattern):
                shutil.copy(path, self.root / to.strip("/"))
        elif name == "ENV":
            variable, _, value = words.partition("=")
            self.variables[variable] = value
        elif name == "USER":
            self.user = words
        elif name == "WORKDIR":
            self.place = words
        elif name == "ENTRYPOINT":
            self.entry = json.loads(words)
        else:
            assert name in ("FROM", "CMD"), f"the test knows no {name}"


def test_it_ends_as_a_user_without_rights() -> None:
    steps = dict(instructions(FILE.read_text()))
    assert steps["USER"] not in ("root", "0")
    assert steps["ENTRYPOINT"] == '["flashtwin"]'
    assert steps["FROM"].startswith("debian:") and steps["FROM"].endswith("-slim")
    packages = " ".join(words for name, words in instructions(FILE.read_text()) if name == "RUN")
    assert {"fio", "smartmontools"} <= set(shlex.split(packages))


@pytest.mark.full
def test_its_steps_make_a_flashtwin_that_runs(wheel: Path, tmp_path: Path) -> None:
    if os.geteuid() or shutil.which("mmdebstrap") is None:
        pytest.skip("a bare Debian takes root and mmdebstrap")
    base = tmp_path / "root"
    make = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates", "bookworm"]
    subprocess.run([*make, base], check=True)
    _as_on_this_machine(base)
    (tmp_path / "dist").mkdir()
    shutil.copy(wheel, tmp_path / "dist")
    image = Image(base)
    for name, words in instructions(FILE.read_text()):
        image.carry_out(name, words, tmp_path)
    done = image.run(*image.entry, "demo")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5
    assert image.run("id", "-u").stdout.strip() == "1000"
    _is_played_with(image)
    measured = image.run(*image.entry, "test", "probe", "--size", "64MB", "--battery", "fill")
    assert measured.returncode == 0, measured.stderr


def _is_played_with(image: Image) -> None:
    """A page that the wheel makes there has the core in it: a slider moves the curve."""
    made = image.run(*image.entry, "play", "bx500-240", "--out", "play.html", "--quiet")
    assert made.returncode == 0, made.stderr
    if CHROMIUM is None:
        return
    with chromium() as browser:
        opened = Opened(browser).open(image.root / image.place.strip("/") / "play.html")
        opened.page.wait_for_selector("html[data-core=running]", timeout=120_000)
        opened.page.wait_for_selector("html[data-drawn]")
        before = opened.page.inner_html("#seen")
        move(opened.page, "#knob-1", "0")
        opened.page.wait_for_selector("html:not([data-drawn='1'])")
        assert opened.page.inner_html("#seen") != before
        assert opened.wrong == []


def _as_on_this_machine(base: Path) -> None:
    """How the machine reaches package indexes: an engine hands that on, a directory does not."""
    for name in ("etc/resolv.conf", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt"):
        if Path("/", name).exists():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path("/", name), base / name)
