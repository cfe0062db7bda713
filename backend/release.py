"""Makes what a release consists of: `python backend/release.py --out dist` makes a wheel.

    --zig             with zig as linker: a Linux wheel for glibc 2.17 (manylinux2014)
    --compatibility   another tag than manylinux2014, such as musllinux_1_2
    --target TRIPLE   for another system than this one
    --sdist           the source archive instead

`./dev wheel` calls it with the locked tools, the release workflow with those of its runner. What
goes into a package and is not committed is made before: the scripts of the charts, the manual page
where flashtwin runs here, and the commit.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import commit
import page_scripts

ROOT = commit.ROOT
MANUAL = ROOT / "packaging/data/share/man/man1/flashtwin.1"
SUMS = "SHA256SUMS"


def main() -> None:
    """Make one file of a release, and the sums of all that lie beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--zig", action="store_true")
    parser.add_argument("--sdist", action="store_true")
    parser.add_argument("--target")
    parser.add_argument("--compatibility", default="manylinux2014")
    asked = parser.parse_args()
    if not page_scripts.PLACE.exists():
        page_scripts.make()
    make_manual()
    words = ["maturin", "sdist"] if asked.sdist else ["maturin", "build", "--release", "--locked"]
    words += ["--out", str(asked.out)]
    words += ["--zig", "--compatibility", asked.compatibility] if asked.zig else []
    words += ["--target", asked.target] if asked.target else []
    # What zig links is not what the system's linker has made: each keeps its own.
    places = {"CARGO_TARGET_DIR": str(ROOT / "target" / "zig")} if asked.zig else {}
    with commit.written():
        subprocess.run(words, cwd=ROOT, check=True, env=os.environ | places)
    write_sums(asked.out)


def make_manual() -> None:
    """The manual page, where flashtwin can be called; a wheel without one works as well."""
    page = subprocess.run(
        [sys.executable, "-m", "flashtwin.cli", "help", "man"],
        capture_output=True,
        text=True,
        check=False,
    )
    if page.returncode == 0:
        MANUAL.parent.mkdir(parents=True, exist_ok=True)
        MANUAL.write_text(page.stdout)


def write_sums(folder: Path) -> None:
    """What `sha256sum --check` reads."""
    packages = sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in packages]
    (folder / SUMS).write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
