"""What a finding means and how it is found, in words: each battery brings those of its own.

They stand in a `findings.toml` beside a battery. A name there has a * for what varies, and the
first entry that fits a finding's name is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from flashtwin.inputs import read_toml
from flashtwin.model.document import Document

# What every battery's findings have, whoever wrote it.
COMMON = Path(__file__).with_name("findings.toml")
ANY = "*"


class MeaningRow(Document, frozen=True):
    """What findings of an id mean."""

    id: str
    title: str
    means: str
    found: str
    mind: str | None


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """The text of findings with a name. `variants`: there is such a finding for each way of
    testing.

    `example`: a name that fits, where the name has a *.
    """

    battery: str = ANY
    name: str
    example: str | None = None
    variants: bool = False
    title: str
    means: str
    found: str
    mind: str | None = None

    def __str__(self) -> str:
        mind = f"\n\nMind: {self.mind}" if self.mind else ""
        return f"{self.title} ({self.id})\n\n{self.means}\n\nHow it is found: {self.found}{mind}"

    @property
    def stem(self) -> str:
        """The id without its variant, with a * for what varies."""
        return f"{self.battery}.{self.name}" if self.name else self.battery

    @property
    def id(self) -> str:
        """The id of such findings, with a * for what varies."""
        return f"{self.stem}[*]" if self.variants else self.stem

    def fits(self, battery: str, name: str) -> bool:
        """Whether a finding is one of these."""
        return self.battery in (battery, ANY) and fnmatchcase(name, self.name)

    def row(self) -> MeaningRow:
        """The text as a page and `flashtwin explain` have it."""
        return MeaningRow(self.id, self.title, self.means, self.found, self.mind)


def beside(module: str, *names: str) -> Callable[[], Sequence[Meaning]]:
    """Read the findings.toml beside a battery's module, which passes its `__file__`, and before it
    the shared texts of these names: what a battery says last may fit every name."""
    return partial(_read, (*map(_shared, names), Path(module).with_name("findings.toml")))


def shared(*names: str) -> Callable[[], Sequence[Meaning]]:
    """Read texts that several batteries share: NAME.toml in this folder."""
    return partial(_read, tuple(map(_shared, names)))


def _shared(name: str) -> Path:
    return COMMON.with_name(f"{name}.toml")


def _read(paths: Sequence[Path]) -> Sequence[Meaning]:
    return tuple(meaning for path in paths for meaning in read(path))


def read(path: Path) -> Sequence[Meaning]:
    """The entries of a file."""
    return tuple(Meaning(**row) for row in read_toml(path)["finding"])
