"""What a row of the option table says of one of fio's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from flashtwin.fio.language.kinds import Kind


class Role(Enum):
    """What an option does on a simulated drive."""

    STREAM = "changes the requests"
    OUTPUT = "changes what is reported"
    SILENT = "no effect"
    NOTED = "no effect, with a note"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: `says` is what it does here, why it does nothing, or why it is refused.

    `inert` are values at which a noted or refused option says or refuses nothing, as fio's own
    defaults. `engines` names the engines that an option belongs to; fio knows it under no other.
    """

    name: str
    kind: Kind
    role: Role
    says: str
    aliases: tuple[str, ...] = ()
    default: Any = None
    inert: tuple[Any, ...] = ()
    engines: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)
