"""A Rust for WebAssembly from Debian's packages, where rustup does not answer.

`python backend/rust_web.py FOLDER` unpacks Debian's Rust for browsers (rustc-web, with the sources
of its standard library) into a folder, beside whatever Rust is there: nothing is installed and no
root is needed. cargo then takes FOLDER/rustc as its compiler and builds the standard library for
WebAssembly itself (`-Zbuild-std`), with FOLDER/bin first on its PATH for the linker. 140 MB are
fetched and 730 MB unpacked; their versions are what the package index has, and are printed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ASKED = ("rustc-web", "libstd-rust-web-dev", "rust-web-src")
# Packages of Debian that these depend on; a machine that builds flashtwin has all others.
NEEDED = re.compile(r"^(libstd-rust-web-[\d.]+|libllvm[\d.]+)$")
RUSTC = """#!/bin/sh
# Debian's compiler, which looks for its libraries where packages are installed.
usr='{usr}'
LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu:$(echo $usr/lib/llvm-*/lib) exec $usr/bin/rustc "$@"
"""


def main(folder: Path) -> None:
    """Make the folder, whole or not at all."""
    unfinished = folder.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "root").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as fetched:
        subprocess.run(["apt-get", "download", "-q", *packages()], cwd=fetched, check=True)
        for package in sorted(Path(fetched).glob("*.deb")):
            print(package.name, flush=True)
            subprocess.run(["dpkg-deb", "-x", package, unfinished / "root"], check=True)
    rustc = unfinished / "rustc"
    rustc.write_text(RUSTC.format(usr=folder / "root" / "usr"))
    rustc.chmod(0o755)
    (unfinished / "bin").mkdir()
    # By its name the linker knows in which of its ways it is called.
    (unfinished / "bin" / "rust-lld").symlink_to(linker())
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def packages() -> list[str]:
    """The packages by name, with the versions that belong together."""
    told = subprocess.run(
        ["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", *ASKED],
        capture_output=True,
        text=True,
        check=True,
    )
    newest = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", "rustc-web"],
        capture_output=True,
        text=True,
        check=True,
    )
    version = re.search(r"^Version: (\d+\.\d+)", newest.stdout, re.M)
    assert version, "an entry of the package index has a version"
    names = {line.strip() for line in told.stdout.splitlines() if NEEDED.match(line.strip())}
    libraries = {name for name in names if name == f"libstd-rust-web-{version[1]}"}
    compilers = {name for name in names if name.startswith("libllvm")}
    return [*ASKED, *sorted(libraries), max(compilers, key=lambda name: float(name[7:]))]


def linker() -> Path:
    """rustup's linker, or that of Debian's package lld."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True)
    brought = Path(sysroot.stdout.strip(), "lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld")
    if sysroot.returncode == 0 and brought.exists():
        return brought
    place = shutil.which("wasm-ld")
    if place is None:
        sys.exit("a linker of WebAssembly is lacking; type: sudo apt-get install -y lld")
    return Path(place)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
