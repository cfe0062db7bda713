"""Which drive of the catalogue a drive says that it is, by its model string and its size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.errors import FlashtwinError
from flashtwin.model.units import parse_size

if TYPE_CHECKING:
    from flashtwin._core import Spec

# Two drives of one name and of one size differ by less than this share of it.
_SAME_SIZE = 0.06
# Words of a model string that tell no drive from another.
_COMMON = frozenset(
    (
        *("ssd", "nvme", "sata", "m2", "drive", "blue", "digital", "group", "power", "forza"),
        *("samsung", "crucial", "micron", "intel", "wd", "wdc", "western", "kingston", "adata"),
        *("xpg", "ocz", "hp", "corsair", "sabrent", "team", "silicon", "neo"),
    )
)
_SIZE = re.compile(r"\b\d+\s*[gt]b\b")


def of_model(model: str, capacity_bytes: int) -> Spec | None:
    """The drive of the catalogue; none where no name and size fits."""
    words = _words(model)
    squeezed = "".join(re.findall(r"[a-z0-9]+", model.lower()))
    for drive_id in drive_ids() if squeezed else ():
        try:
            spec = load(drive_id)
        except FlashtwinError:
            # A broken spec of somebody's catalogue names no drive.
            continue
        # A name with a comma is of a drive that was changed, as by its maker's tool.
        name = spec.name.partition("(")[0]
        names = [] if "," in name else _words(name)
        same_size = abs(spec.capacity_bytes - capacity_bytes) < _SAME_SIZE * capacity_bytes
        if not names or not same_size or not all(each in squeezed for each in names):
            continue
        # "970 EVO Plus" has a word more than "970 EVO", and is another drive.
        if all(any(each in word for each in names) for word in words):
            return spec
    return None


def rated_bytes(spec: Spec) -> int:
    """The bytes that a drive is rated to take; 0 where its spec does not say."""
    text = {row["key"]: str(row["value"]) for row in spec.values()}.get("drive.rated_tbw", "0")
    return 0 if text == "0" else parse_size(text)


def _words(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", _SIZE.sub(" ", text.lower()))
    return [word for word in words if word not in _COMMON]
