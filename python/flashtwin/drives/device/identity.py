"""How a run knows its drive again without storing who it is: a hash, salted for each run.

Serial number, WWN and EUI name a machine, and its owner with it. Invariant: they go through `of`
and `without_secrets` and into no file.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flashtwin.drives.device.facts import Facts, Roots, facts_from, line

# A serial number has few digits that vary: trying all of them has to take long.
_COST = {"n": 1 << 14, "r": 8, "p": 1}
_SALT_BYTES = 16
# Members of what smartctl and nvme-cli print that name the very device.
_NAMES = frozenset(
    (
        *("serial_number", "wwn", "eui64", "nguid", "uuid", "sn", "serial", "logical_unit_id"),
        *("euid", "subnqn", "argv"),
    )
)
_HIDDEN = "(left out)"


def of(facts: Facts, salt: str | None = None) -> dict[str, str]:
    """Salt and hash of a device, as host.json has them."""
    salt = salt or secrets.token_hex(_SALT_BYTES)
    words = (facts.model, facts.serial, facts.wwn, facts.eui, facts.backing_file)
    text = "\0".join((*words, str(facts.size_bytes))).encode()
    digest = hashlib.scrypt(text, salt=salt.encode(), dklen=32, **_COST)
    return {"salt": salt, "hash": digest.hex()}


def known_again(stored: Mapping[str, Any], roots: Roots | None = None) -> list[Path]:
    """The devices of this machine that a stored hash is of, whatever their names are by now:
    several where one drive has two paths, or where none of them has a serial number."""
    roots = roots or Roots()
    paths = []
    for place in sorted((roots.sys / "block").glob("*")):
        path = roots.dev / place.name
        number = line(place / "dev")
        if not number or not (roots.sys / "dev" / "block" / number).exists():
            continue
        # Its names and its size say who it is; nothing is read from the device.
        facts = facts_from(path, number, lambda at, count: b"", (), roots)
        if facts.size_bytes and of(facts, str(stored["salt"]))["hash"] == stored["hash"]:
            paths.append(path)
    return paths


def without_secrets(value: Any, words: Sequence[str]) -> Any:
    """A value of JSON without what names the device: members by their keys, and the words
    wherever they stand within a text."""
    match value:
        case dict():
            return {
                key: without_secrets(member, words)
                for key, member in value.items()
                if key not in _NAMES
            }
        case list():
            return [without_secrets(member, words) for member in value]
        case str():
            for word in words:
                value = value.replace(word, _HIDDEN)
            return value
    return value
