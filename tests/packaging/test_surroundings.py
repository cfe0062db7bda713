"""A wheel and a source archive where things are lacking: no network, no fio, a home that cannot be
written to, an old C library, a proxy that breaks off, every Python that is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UV = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
FILL = ("test", "bx500-240", "--scale", "1/64", "--battery", "fill:patterns=1m-q1", "--quiet")
# A manylinux2014 wheel asks for no later C library.
OLDEST_GLIBC = (2, 17)
pytestmark = pytest.mark.full


def pythons() -> list[str]:
    """A CPython of each version from 3.11 on: those on the PATH and those that pyenv keeps."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    there = []
    for minor in range(11, 30):
        name = f"python3.{minor}"
        on_path = [place] if (place := shutil.which(name)) else []
        places = [*sorted(kept.glob(f"*/bin/{name}")), *map(Path, on_path)]
        answering = (str(place) for place in places if _answers(place, minor))
        there += [place for place in [next(answering, None)] if place]
    return there


def _answers(python: Path, minor: int) -> bool:
    """A shim of pyenv stands for versions that are not chosen too, and refuses."""
    told = subprocess.run(
        [python, "-c", "import sys; print(sys.version_info.minor)"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() == str(minor)


def ran(
    *command: str | Path,
    where: Path,
    more: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """A command without this process's settings, but for the way to a package index."""
    kept = {name: os.environ[name] for name in os.environ if name.startswith(("UV_", "SSL_"))}
    cache = {"UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache/uv"))}
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(where)}
    return subprocess.run(
        [str(word) for word in command],
        cwd=where,
        env={**cache, **kept, **clean, **(more or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def installed(package: Path, place: Path, python: str = sys.executable) -> Path:
    """A fresh environment with the package; the answer is its `flashtwin`."""
    made = ran(UV, "venv", "--python", python, place, where=place.parent)
    assert made.returncode == 0, made.stderr
    python_there = place / "bin" / "python"
    done = ran(UV, "pip", "install", "--python", python_there, package, where=place.parent)
    assert done.returncode == 0, done.stderr
    return place / "bin" / "flashtwin"


@pytest.fixture(scope="session")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in an environment of its own."""
    return installed(wheel, tmp_path_factory.mktemp("installed") / "venv")


def test_every_python_that_is_there_runs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Looked for here and not when tests are collected: each has to be started."""
    for number, python in enumerate(pythons()):
        program = installed(wheel, tmp_path / f"venv-{number}", python)
        version = ran(program, "--version", where=tmp_path)
        assert version.returncode == 0, f"{python}: {version.stderr}"
        done = ran(program, *FILL, "--out", f"run-{number}", where=tmp_path)
        assert done.returncode == 0 and "writes" in done.stdout, f"{python}: {done.stderr}"


def test_without_a_network_it_measures_and_makes_its_page(program: Path, tmp_path: Path) -> None:
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("a network is taken away by root, with unshare")
    done = ran("unshare", "--net", program, *FILL, "--out", "run", where=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "run" / "report.html").read_text()
    assert 'src="http' not in page and 'href="http' not in page


def test_without_fio_it_says_how_to_get_it_and_leaves_nothing(
    program: Path, tmp_path: Path
) -> None:
    words = ("test", "./probe", "--size", "64MB", "--battery", "fill")
    done = ran(program, *words, where=tmp_path, more={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (3, "")
    assert "fio is not installed" in done.stderr and "apt install fio" in done.stderr
    assert list(tmp_path.iterdir()) == []


# Root writes where permissions forbid it, but on no file system that is mounted to be read.
READ_ONLY = """mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" &&
cd "$HOME" && exec "$@" """


def test_in_a_home_that_is_only_read_the_demo_has_its_page_elsewhere(
    program: Path, tmp_path: Path
) -> None:
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("a mount of its own takes root and unshare")
    enter = ("unshare", "--mount", "sh", "-c", READ_ONLY, "sh", program)
    done = ran(*enter, "demo", where=tmp_path)
    assert done.returncode == 0, done.stderr
    page = Path(done.stdout.splitlines()[-1].removeprefix("Page: "))
    assert page.is_file() and not page.is_relative_to(tmp_path)
    shutil.rmtree(page.parents[1])
    refused = ran(*enter, *FILL, where=tmp_path)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "Traceback" not in refused.stderr and "hint: " in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_old_c_library_is_enough(wheel: Path, tmp_path: Path) -> None:
    """By the versions that the compiled part asks for: no root with a library as old has a Python
    that is new enough."""
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, tmp_path], check=True)
    (core,) = (tmp_path / "flashtwin").glob("_core*.so")
    asked = re.findall(rb"GLIBC_(\d+)\.(\d+)", core.read_bytes())
    assert asked and max((int(major), int(minor)) for major, minor in asked) <= OLDEST_GLIBC


def test_a_proxy_that_breaks_off_installs_nothing(wheel: Path, tmp_path: Path, proxy: str) -> None:
    made = ran(UV, "venv", "--python", sys.executable, tmp_path / "venv", where=tmp_path)
    assert made.returncode == 0, made.stderr
    broken = {"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "UV_HTTP_RETRIES": "0"}
    words: Sequence[str | Path] = (
        "pip",
        "install",
        "--python",
        tmp_path / "venv/bin/python",
        wheel,
    )
    empty = {"UV_CACHE_DIR": str(tmp_path / "cache")}
    done = ran(UV, *words, where=tmp_path, more={**broken, **empty})
    assert done.returncode != 0
    assert list((tmp_path / "venv").rglob("flashtwin*")) == []
    again = ran(UV, *words, where=tmp_path)
    assert again.returncode == 0, again.stderr
    assert ran(tmp_path / "venv/bin/flashtwin", "--version", where=tmp_path).returncode == 0


def test_the_source_archive_builds_and_runs(tmp_path: Path) -> None:
    """Three minutes of a processor: it is compiled anew, as a release."""
    release = [sys.executable, "-B", ROOT / "backend" / "release.py", "--sdist", "--out", tmp_path]
    tools = {**os.environ, "PATH": f"{ROOT / '.tools/wheel/bin'}:{os.environ['PATH']}"}
    subprocess.run(release, cwd=ROOT, env=tools, check=True)
    (archive,) = tmp_path.glob("flashtwin-*.tar.gz")
    assert archive.stat().st_size < 20_000_000
    rust = {"PATH": os.environ["PATH"], "HOME": str(Path.home())}
    place = tmp_path / "venv"
    assert ran(UV, "venv", "--python", sys.executable, place, where=tmp_path).returncode == 0
    words = ("pip", "install", "--python", place / "bin" / "python", archive)
    done = ran(UV, *words, where=tmp_path, more=rust)
    assert done.returncode == 0, done.stderr
    version = ran(place / "bin" / "flashtwin", "--version", where=tmp_path)
    assert "release build" in version.stdout and "commit unknown" not in version.stdout
    assert ran(place / "bin" / "flashtwin", *FILL, where=tmp_path).returncode == 0
