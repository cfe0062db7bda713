"""What of a battery is data: its battery.toml, read into the values that a `Battery` has.

The file beside a battery's module holds title, trust, parameters, presets, clauses, the texts of
findings and what a page shows; measuring and concluding are the module's. A file is read when its
module is imported, which is when somebody asks for its battery. Invariant: a key that nobody reads
is refused by name, and so is a default that its parameter does not take.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import make_dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from flashtwin.batteries.base import meaning, parameter
from flashtwin.batteries.base.declared import Clause, Instrument, Part
from flashtwin.batteries.base.page import NAME, Page, Table, convert, wrong
from flashtwin.batteries.base.registry import Battery
from flashtwin.inputs import read_toml

if TYPE_CHECKING:
    from flashtwin.batteries.base.present import Present
    from flashtwin.model.target import DriveInfo

# Parameters and clauses that several batteries have.
SHARED = Path(__file__).with_name("shared.toml")
KINDS = {
    "size": parameter.SIZE,
    "time": parameter.SECONDS,
    "block": parameter.BLOCK,
    "sample": parameter.SAMPLE,
}


class ParameterRow(Table):
    """A parameter: what it takes, what it means and, as it is typed, its default.

    It takes whole numbers or others within bounds, one of a few words, or a kind by name, which may
    be the battery's own. `several`: the plural, where values are joined with +. `none`: a word for
    no value. `usual_s`: the seconds of a time that is left to the battery, on simulated drives and
    in real time. `shrinks`: bytes or seconds of the whole drive (`parameter.here`).
    """

    means: str
    default: str | int | float = ""
    whole: tuple[int, int] | None = None
    number: tuple[float, float] | None = None
    words: tuple[str, ...] = ()
    kind: str = ""
    several: str = ""
    none: str = ""
    usual_s: tuple[float, float] | None = None
    shrinks: bool = False

    def field(self, kinds: Mapping[str, parameter.Kind], presets: Sequence[str]) -> Any:
        """The field of a dataclass; `presets` are its values in presets, as they are typed."""
        if self.usual_s is not None:
            simulated_s, real_s = self.usual_s
            usual = parameter.UsualTime(simulated_s=simulated_s, real_s=real_s)
            return usual.parameter(self.means)
        if self.whole is not None:
            kind = parameter.integer(*self.whole)
        elif self.number is not None:
            kind = parameter.decimal(*self.number)
        elif self.words:
            kind = parameter.choice(*self.words)
        elif self.kind in kinds:
            kind = kinds[self.kind]
        else:
            raise ValueError(f"there is no kind {self.kind!r}: {', '.join(kinds)}")
        if self.several:
            kind = parameter.several(kind, self.several)
        if self.none:
            kind = parameter.or_word(self.none, kind)
        default = kind.parse(str(self.default))
        of_drive = (default, *map(kind.parse, presets)) if self.shrinks else ()
        return parameter.parameter(default, kind, self.means, of_drive)


class ClauseRow(Table):
    """A clause, or a shared one by its name, in which `of` stands for {}."""

    says: str = ""
    source: str = ""
    here: str = ""
    shared: str = ""
    of: str = ""


class FindingRow(Table):
    """The texts of findings; their name, with [*] where there are variants, is the table's."""

    title: str
    means: str
    found: str
    example: str | None = None
    mind: str | None = None


class PartRow(Table):
    """A part (`declared.Part`); `steps` are its labels below the battery's."""

    title: str
    steps: tuple[str, ...]
    needs: tuple[str, ...] = ()
    begins: bool = False


class Declaration(Table):
    """A battery.toml. `texts`: shared texts of findings, which are tried before its own. `parts`:
    where they do not depend on the parameters."""

    title: str
    trust: Literal["S", "P", "M"]
    needs: tuple[Instrument, ...] = ()
    texts: tuple[str, ...] = ()
    parameters: dict[str, ParameterRow | str | int | float] = msgspec.field(default_factory=dict)
    presets: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    follows: tuple[ClauseRow, ...] = ()
    parts: tuple[PartRow, ...] = ()
    findings: dict[str, FindingRow] = msgspec.field(default_factory=dict)
    page: Page | None = None


class Shared(Table):
    """What several batteries declare by name."""

    parameters: dict[str, ParameterRow]
    clauses: dict[str, ClauseRow]


@cache
def shared() -> Shared:
    """The parameters and clauses that several batteries have."""
    return convert(read_toml(SHARED), Shared, SHARED)


def declared(name: str, **code: Any) -> Battery:
    """The battery of the battery.toml beside a module, which passes its `__name__` and as `code`
    what is no data: functions by the names that they have in `Battery`, and `kinds` of its own.

    The class of the parameters becomes the module's `Parameters`, where other processes find it.
    """
    module = sys.modules[name]
    path = Path(module.__file__ or "").with_name(NAME)
    declaration = convert(read_toml(path), Declaration, path)
    kinds = KINDS | code.pop("kinds", {})
    try:
        if declaration.parameters:
            code["parameters"] = _parameters(declaration, kinds)
            code["parameters"].__module__ = name
            vars(module)["Parameters"] = code["parameters"]
        return Battery(**(_fields(declaration, path.parent.name) | code))
    except ValueError as error:
        raise wrong(path, str(error)) from error


def _parameters(declaration: Declaration, kinds: Mapping[str, parameter.Kind]) -> type:
    rows = []
    for name, row in declaration.parameters.items():
        if not isinstance(row, ParameterRow):
            if name not in shared().parameters:
                raise ValueError(f"parameters.{name} says no more than its default")
            row = msgspec.structs.replace(shared().parameters[name], default=row)
        try:
            presets = [values[name] for values in declaration.presets.values() if name in values]
            rows.append((name, Any, row.field(kinds, presets)))
        except ValueError as error:
            raise ValueError(f"parameters.{name}: {error}") from error
    return make_dataclass("Parameters", rows, frozen=True, kw_only=True)


def _fields(declaration: Declaration, name: str) -> dict[str, Any]:
    fields = {
        "name": name,
        "title": declaration.title,
        "trust": declaration.trust,
        "needs": declaration.needs,
        "presets": declaration.presets,
        "follows": tuple(map(_clause, declaration.follows)),
        "meanings": partial(_meanings, declaration),
    }
    if declaration.parts:
        parts = tuple(
            Part(
                title=row.title,
                labels=tuple(f"{name}/{step}" for step in row.steps),
                needs=row.needs,
                begins=row.begins,
            )
            for row in declaration.parts
        )
        fields["parts"] = partial(_parts, parts)
        titles = {row.title for row in declaration.parts}
        needed = {title for row in declaration.parts for title in row.needs}
        if unknown := needed - titles:
            raise ValueError(f"there is no part {', '.join(sorted(unknown))}")
    if declaration.page is not None:
        fields["present"] = partial(_present, name, declaration.page)
    return fields


def _parts(parts: tuple[Part, ...], parameters: Any, info: DriveInfo) -> tuple[Part, ...]:
    return parts


def _clause(row: ClauseRow) -> Clause:
    if row.shared:
        if row.shared not in shared().clauses:
            raise ValueError(f"there is no shared clause {row.shared!r}")
        text = shared().clauses[row.shared]
        return Clause(says=text.says.format(row.of), source=text.source, here=text.here)
    return Clause(says=row.says, source=row.source, here=row.here)


def _meanings(declaration: Declaration) -> tuple[meaning.Meaning, ...]:
    rows = [
        meaning.Meaning(
            name=name.removesuffix("[*]"),
            variants=name.endswith("[*]"),
            **msgspec.structs.asdict(row),
        )
        for name, row in declaration.findings.items()
    ]
    return (*meaning.shared(*declaration.texts)(), *rows)


def _present(battery: str, page: Page) -> Present:
    from flashtwin.batteries.base.presents import DeclaredPresent

    return DeclaredPresent(battery, page)
