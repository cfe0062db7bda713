"""What `--json` of the laboratory's commands prints, as types; see `flashtwin.cli.documents`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from flashtwin.cli.documents import Document


class Row(Document):
    drive: str
    test: str
    metric: str
    published: float | list[float | None] | None
    found: float | None
    error: float | None
    tolerance: float | None
    verdict: Literal["pass", "known", "miss", "computed", "shown"]
    kind: Literal["measured", "qualitative", "computed", "shown"]
    unit: str
    calibration: bool
    twins: list[str] | UnsetType = UNSET
    cell: str | UnsetType = UNSET
    variant: str | UnsetType = UNSET
    also: dict[str, float | None] | UnsetType = UNSET
    why: str | UnsetType = UNSET


class Validate(Document):
    """flashtwin validate --json"""

    rows: list[Row]
    missed: int


class BrokenRow(Document):
    drive: str
    test: str
    metric: str
    published: float | list[float | None] | None
    found: float | None


class KnockedOut(Document):
    name: str
    without: str
    sets: list[str]
    drives: list[str]
    tried: int
    broken: list[BrokenRow]


class ValidateKnockOut(Document):
    """flashtwin validate --knock-out --json"""

    knock_outs: list[KnockedOut]


class LawRow(Document):
    law: str
    point: dict[str, Any]
    expected: float | list[float | None]
    found: float | None
    error: float | None
    tolerance: float | None
    verdict: str
    unit: str
    origin: str


class ValidateTheory(Document):
    """flashtwin validate --theory --json"""

    rows: list[LawRow]
    missed: int


class BlindRow(Document):
    finding: str
    target: str
    found: str
    n: int
    verdict: str


class Blind(Document):
    """flashtwin blind --json"""

    rows: list[BlindRow]
    missed: int


# The document of each command, by its words.
DOCUMENTS: dict[str, type[Document]] = {
    "validate": Validate,
    "validate-theory": ValidateTheory,
    "validate-knock-out": ValidateKnockOut,
    "blind": Blind,
}
