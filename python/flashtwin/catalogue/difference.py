"""What tells two drives apart: the values that differ, key by key."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashtwin._core import Spec, SpecValue


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A key whose value is not the same in both drives; values as they are shown, with unit."""

    key: str
    first: str
    second: str
    first_origin: str
    second_origin: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def differences(first: Spec, second: Spec) -> list[Difference]:
    """The keys that differ, in the order of a spec; an origin alone makes no difference."""
    other = {row["key"]: row for row in second.values()}
    pairs = ((row, other[row["key"]]) for row in first.values())
    return [_difference(a, b) for a, b in pairs if a["value"] != b["value"]]


def _difference(first: SpecValue, second: SpecValue) -> Difference:
    return Difference(
        key=first["key"],
        first=first["value"],
        second=second["value"],
        first_origin=first["origin"],
        second_origin=second["origin"],
    )
