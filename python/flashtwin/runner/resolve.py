"""What a word for a target names: a drive of the catalogue, a spec file, or a real file.

Invariants: a name of the catalogue wins over a file of that name; everything about a target that
can be refused is refused here, before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from flashtwin.runner.targets import Target


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A target as asked for; `word` names it without telling where on this machine it is."""

    word: str
    twin: bool
    target: Target


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The options that apply to targets."""

    size: int | None = None
    firmware: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    scale: str | None = None
    seed: int = 1
    quiet: bool = False


def resolve(words: Sequence[str], wishes: Wishes) -> list[Chosen]:
    """The targets, checked."""
    chosen = [_twin(word, wishes) if is_spec(word) else _file(word, wishes) for word in words]
    if wishes.size is not None and all(one.twin for one in chosen):
        raise FlashtwinError(
            "--size is for files, and every target here is a simulated drive",
            hint="leave it out, or give the path of a file to measure",
            exit_code=USAGE,
        )
    return chosen


def command_of(
    chosen: Sequence[Chosen],
    batteries: str,
    size: str | None,
    budget: str | None,
    wishes: Wishes,
) -> list[str]:
    """The command that does the same again, without a path of this machine."""
    words = ["flashtwin", "test", *(one.word for one in chosen), "--battery", batteries]
    words += ["--size", size] if size is not None else []
    words += ["--budget", budget] if budget is not None else []
    words += [part for name in wishes.firmware for part in ("--firmware", name)]
    words += [part for one in wishes.sets for part in ("--set", one)]
    words += ["--scale", wishes.scale] if wishes.scale is not None else []
    return [*words, "--seed", str(wishes.seed)]


def is_spec(word: str) -> bool:
    """Whether a word names a simulated drive."""
    from flashtwin.catalogue.loader import drive_ids

    return word.endswith(".toml") or word in drive_ids()


def _twin(word: str, wishes: Wishes) -> Chosen:
    from flashtwin.catalogue.loader import load
    from flashtwin.runner.together import twin_target

    spec = load(word, firmware=wishes.firmware, sets=wishes.sets, scale=wishes.scale)
    target = twin_target(
        word,
        firmware=wishes.firmware,
        sets=wishes.sets,
        scale=wishes.scale,
        seed=wishes.seed,
        name=spec.id,
    )
    form = {"kind": "twin", "name": spec.id, "toml": spec.to_toml(), "seed": wishes.seed}
    return Chosen(word=Path(word).name, twin=True, target=replace(target, form=form))


def path_of(word: str, wishes: Wishes) -> Path:
    """The path that a word names, where a file may be made; everything else is refused."""
    from flashtwin.catalogue.loader import nearest_ids, unknown_drive
    from flashtwin.drives.real import real_file

    path = Path(word).expanduser()
    if not _looks_like_path(word, path) and (wishes.size is None or nearest_ids(word)):
        raise unknown_drive(word)
    if wishes.firmware or wishes.sets or wishes.scale:
        raise FlashtwinError(
            f"--firmware, --set and --scale change simulated drives; {word} is a file",
            hint="test the file and the drives apart",
            exit_code=USAGE,
        )
    # What may not be written to is refused first, which is more to the point than a missing size.
    real_file.place(path)
    return path


def _file(word: str, wishes: Wishes) -> Chosen:
    from flashtwin.drives.real import real_fio
    from flashtwin.drives.real.real import Real
    from flashtwin.runner.targets import Target

    path = path_of(word, wishes)
    if wishes.size is None:
        raise FlashtwinError(
            f"{word} is a file to be made, and its size is not given",
            hint="add --size, for example --size 4GB; simulated drives: flashtwin drives",
            exit_code=USAGE,
        )
    real_fio.find()
    target = Target(
        name=path.name or "file",
        make=partial(Real, path, wishes.size, say=_silent if wishes.quiet else None),
        host={"path": str(path.absolute())},
        form={"kind": "file", "path": str(path.absolute()), "size_bytes": wishes.size},
    )
    return Chosen(word=path.name or "file", twin=False, target=target)


def _looks_like_path(word: str, path: Path) -> bool:
    return "/" in word or word.startswith((".", "~")) or bool(path.suffix) or path.exists()


def _silent(text: str) -> None:
    """For --quiet."""
