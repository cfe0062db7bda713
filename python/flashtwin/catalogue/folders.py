"""The folders that drives are looked for in: the one that is shipped, and those that a user adds.

`FLASHTWIN_CATALOGUE` is a list of folders as PATH is one (parted by ":" on Linux). A folder has a
TOML file a drive, called by the drive's id; where it has a folder `drives`, they are in there, as
in the catalogue that is shipped. `published.toml`, which may lie beside them, is no drive: it has
outcomes as `facts` reads them.
Invariants: an id names one file among all folders, so that no result depends on the order of the
list; without the variable nothing but the shipped folder is looked into.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from flashtwin.catalogue import DRIVES
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.outputs import disk

VARIABLE = "FLASHTWIN_CATALOGUE"
# What lies among the drives of a folder and is none.
OUTCOMES = "published.toml"
# A folder of drives within a catalogue that has more than drives.
WITHIN = "drives"
# Within the shipped drives: what whole classes of them have.
CLASSES = "classes"
ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
ID_RULE = "lower-case letters, digits, -, _ and . make an id"


def added() -> list[Path]:
    """The folders of drives that `FLASHTWIN_CATALOGUE` adds, each of which has to be there."""
    return [_added(folder) for folder in _listed()]


def outcome_files() -> list[Path]:
    """The files of what was published about drives, of those folders that have one."""
    return [file for folder in _listed() if (file := folder / OUTCOMES).is_file()]


def _listed() -> list[Path]:
    listed = dict.fromkeys(filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))
    return [Path(text) for text in listed]


def _added(folder: Path) -> Path:
    try:
        there = folder.is_dir()
    except (OSError, ValueError):
        there = False
    if not there:
        raise FlashtwinError(
            f"{VARIABLE} names {folder}, which is no folder",
            hint=f"make it, or take it out of {VARIABLE}; it is a list of folders parted by"
            f" {os.pathsep!r}",
            exit_code=USAGE,
        )
    return drives_of(folder)


def drives_of(folder: Path) -> Path:
    """Where the drives of a catalogue are."""
    within = folder / WITHIN
    return within if within.is_dir() else folder


def specs_in(folder: Path) -> list[Path]:
    """The files of a folder of drives that are drives, by name."""
    with disk(folder, "read"):
        names = sorted(os.listdir(folder))
    return [folder / name for name in names if name.endswith(".toml") and name != OUTCOMES]


def searched() -> list[Path]:
    """All folders of drives, the shipped one first."""
    return [DRIVES, *added()]


def drive_files() -> dict[str, Path]:
    """The file of each drive by its id; raises `FlashtwinError` where two files have one id."""
    files: dict[str, Path] = {}
    for folder in searched():
        for file in specs_in(folder):
            if folder != DRIVES:
                _check_name(file)
            if (first := files.setdefault(file.stem, file)) != file:
                raise _named_twice(first, file)
    return files


def class_files() -> dict[str, Path]:
    """The files that shipped drives extend and that are no drives, by the names that drives and
    other classes call them."""
    files = specs_in(DRIVES / CLASSES)
    return {name: file for file in files for name in (f"{CLASSES}/{file.name}", file.name)}


def _check_name(file: Path) -> None:
    if not ID.fullmatch(file.stem):
        raise FlashtwinError(
            f"{str(file)!r}: a drive cannot be called {file.stem!r}",
            hint=f"call the file as the drive's id: {ID_RULE}",
            exit_code=USAGE,
        )


def _named_twice(first: Path, second: Path) -> FlashtwinError:
    which = "the catalogue has" if first.parent == DRIVES else "another folder has"
    same = first.parent.resolve() == second.parent.resolve()
    return FlashtwinError(
        f"{second}: {which} a drive {second.stem} already, {first}",
        hint=f"name the folder once in {VARIABLE}"
        if same
        else f"rename the file and its id, or take the folder out of {VARIABLE}",
        exit_code=USAGE,
    )
