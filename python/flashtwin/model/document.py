"""The base of every type that `--json` prints: a command's room declares it and builds it once.

docs/reference/schemas/commands has the types' schemas, docs/reference/json.md what each key means.
Invariant: a key may be added, and keeps its meaning.
"""

from __future__ import annotations

from msgspec import Struct


class Document(Struct, frozen=True, forbid_unknown_fields=True):
    """An object with exactly these keys, in this order."""
