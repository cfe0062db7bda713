"""From a name to a checked drive: the catalogue's specs, or a spec file of the user's.

The specs are the TOML files in `drives/` and in the folders that a user adds (`folders`);
`flashtwin._core` reads and checks them. Invariant: whatever is wrong with a spec comes out as one
`BadSpecError` with all of its errors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from flashtwin._core import Spec
from flashtwin.catalogue import DRIVES, folders, shorthand
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError, UsageError
from flashtwin.inputs import is_text
from flashtwin.model.document import Document


class SpecIssue(Document, frozen=True):
    """One thing that is wrong with a spec: where, what, and what to change."""

    file: str
    line: int | None
    key: str
    message: str
    hint: str | None

    @property
    def text(self) -> str:
        """As compilers print it: place, key, message."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.message) if part)


_ID_LINE = re.compile(r"\s*id\s*=")


class BadSpecError(UsageError):
    """A spec, `target`, that cannot become a drive; `issues` has all that is wrong with it."""

    def __init__(self, target: str, issues: Sequence[SpecIssue], *, count: int | None = None):
        """`count` is how many errors there are, where the last issue counts those left out."""
        count = len(issues) if count is None else count
        errors = f"{count:,} error{'' if count == 1 else 's'}"
        super().__init__(f"{target} has {errors}", exit_code=USAGE)
        self.target, self.issues = target, tuple(issues)

    def __str__(self) -> str:
        """The message with all issues, for programs that do not print them one by one."""
        lines = [self.message]
        for issue in self.issues:
            lines += [issue.text, f"hint: {issue.hint}"] if issue.hint else [issue.text]
        return "\n".join(lines)


def drive_ids() -> list[str]:
    """The catalogue's drives, those of added folders too."""
    return sorted(folders.drive_files())


def shipped_ids() -> list[str]:
    """The drives that flashtwin comes with."""
    return sorted(path.stem for path in folders.specs_in(DRIVES))


def nearest_ids(name: str) -> list[str]:
    """Ids of drives close to a mistyped one, the closest first."""
    from difflib import get_close_matches

    return get_close_matches(name.lower(), drive_ids(), n=3, cutoff=0.5)


def unknown_drive(name: str) -> FlashtwinError:
    """The error for a name that is no drive, with what may have been meant."""
    near = nearest_ids(name)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return FlashtwinError(
        f"no drive {name} in the catalogue",
        hint=f"{meant}flashtwin drives lists them all",
        exit_code=USAGE,
    )


def _extension() -> ModuleType:
    """The compiled part; a checkout that was never built has none."""
    try:
        return import_module("flashtwin._core")
    except ModuleNotFoundError as error:
        raise FlashtwinError(
            "the compiled part of flashtwin is not built",
            hint="in a checkout use ./dev flashtwin, elsewhere pip install .",
            exit_code=ENVIRONMENT,
        ) from error


def load(
    target: str,
    *,
    firmware: Sequence[str] = (),
    sets: Sequence[str] = (),
    scale: str | None = None,
) -> Spec:
    """The checked spec of a catalogue drive, of a spec file (a path that ends in .toml), or of the
    text of a spec, which has more than one line.

    `scale` ("1/16") makes it a smaller drive with the same dies, planes and ratios. `sets` may
    hold the words of `catalogue.shorthand`.
    """
    for text in (target, *firmware, *sets, scale or ""):
        if not is_text(text) or "\0" in text:
            raise FlashtwinError(f"{text!a} is not text in UTF-8", hint="give it in UTF-8")
    if sets and shorthand.named(sets):
        known = load(target, firmware=firmware, sets=shorthand.plain(sets))
        sets = shorthand.expanded(sets, {row["key"]: row["value"] for row in known.values()})
    core = _extension()
    if is_spec_text(target):
        return _parsed(core, target, firmware, sets, scale)
    target = own_file(target) or target
    if target.endswith(".toml"):
        # What is there and is no file of text is refused by whoever reads it, with the reason.
        try:
            os.lstat(target)
        except FileNotFoundError:
            raise FlashtwinError(
                f"no spec file {target}", hint="flashtwin drives lists the catalogue's drives"
            ) from None
        search = [DRIVES, *folders.added()]
    else:
        files = folders.drive_files()
        if target not in files:
            raise unknown_drive(target)
        search = [DRIVES, *dict.fromkeys(file.parent for file in files.values())]
    searched = list(map(str, search))
    spec = _checked(target, core.load_spec, target, searched, list(firmware), list(sets), scale)
    if not target.endswith(".toml") and files[target].parent != DRIVES:
        check_called(files[target], spec.id)
    return spec


def check_called(file: Path, drive_id: str) -> None:
    """Refuse a drive of a folder whose file is not called by its id."""
    if file.stem == drive_id:
        return
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next((n for n, text in enumerate(lines, 1) if _ID_LINE.match(text)), None)
    message = f"is {drive_id!r}, and the file is called {file.name}"
    issue = SpecIssue(
        file=str(file), line=line, key="id", message=message, hint=f"write id = {file.stem!r}"
    )
    raise BadSpecError(file.stem, [issue])


def _checked(name: str, read: Callable[..., Spec], *words: Any) -> Spec:
    """What the extension reads; its list of errors becomes one that names the spec as `name`."""
    try:
        return read(*words)
    except _extension().SpecError as error:
        issues = [SpecIssue(**issue) for issue in error.errors]
        raise BadSpecError(name, issues, count=error.count) from error


def own_file(word: str) -> str | None:
    """The spec file of this directory that a bare word means, where no drive is called so: mine
    for ./mine.toml."""
    if not word or "/" in word or word.endswith(".toml") or "\n" in word or word in drive_ids():
        return None
    file = f"{word}.toml"
    return file if os.path.isfile(file) else None


def is_spec_text(target: str) -> bool:
    """Whether it is a spec and not the name of one."""
    return "\n" in target


def _parsed(
    core: ModuleType, text: str, firmware: Sequence[str], sets: Sequence[str], scale: str | None
) -> Spec:
    """The spec of a text, which may extend a drive of the catalogue."""
    parents = []
    if "extends" in text:
        files = folders.drive_files() | folders.class_files()
        parents = [(name, file.read_text(encoding="utf-8")) for name, file in files.items()]
    return _checked("the text", core.parse_spec, text, parents, list(firmware), list(sets), scale)


def check(
    target: str,
    *,
    firmware: Sequence[str] = (),
    sets: Sequence[str] = (),
    scale: str | None = None,
) -> Spec:
    """As `load`, and each of the spec's firmware profiles is switched on once as well.

    An error that several of these find is told once.
    """
    spec = load(target, firmware=firmware, sets=sets, scale=scale)
    issues: dict[SpecIssue, None] = {}
    for profile in spec.firmware_profiles:
        if profile not in firmware:
            try:
                load(target, firmware=[*firmware, profile], sets=sets, scale=scale)
            except BadSpecError as error:
                issues |= dict.fromkeys(error.issues)
    if issues:
        raise BadSpecError(target, list(issues))
    return spec
