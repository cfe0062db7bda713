"""Series with labels that somebody has put into a directory, and what `infer` says of each.

`labels.toml` has a `[[series]]` for each: `file` (in the directory), `cache` (true or false, as the
eye sees it), and where they are known `history`, `size` of the cache and the `tolerance` of that as
a share, 0.1 by default.

Invariants: nothing but those files is read, and nothing is downloaded; a real series is counted and
named, and makes no percentage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.document import Document
from flashtwin.model.units import parse_size
from flashtwin.study.infer.infer import Inferred, InferredDocument, checked_history, infer
from flashtwin.study.infer.read import read

LABELS = "labels.toml"
KEYS = {"file": str, "cache": bool, "history": str, "size": str, "tolerance": float}
TOLERANCE = 0.1
HINT = (
    '[[series]] with file = "a.csv", cache = true, and where known history = "fresh", '
    'size = "79 GB", tolerance = 0.1'
)


class LabelledSeries(Document, frozen=True):
    """A `Labelled` as it is printed."""

    file: str
    cache: bool
    size_bytes: float | None
    miss: str | None
    answer: InferredDocument


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A label beside the answer. `miss`: what is wrong with that, none where nothing is."""

    file: str
    cache: bool
    size_bytes: float | None
    answer: Inferred
    miss: str | None

    def document(self) -> LabelledSeries:
        """What `flashtwin infer --labelled DIR --json` prints of it."""
        answer = self.answer.document()
        return LabelledSeries(self.file, self.cache, self.size_bytes, self.miss, answer)


def labelled(directory: Path) -> list[Labelled]:
    """Each series in the directory's labels with the answer of `infer`."""
    rows = read_toml(directory / LABELS).get("series")
    if not isinstance(rows, list) or not rows:
        raise _refused(directory, "has no [[series]]")
    return [_of(directory, row) for row in rows]


def _of(directory: Path, row: object) -> Labelled:
    if not isinstance(row, Mapping):
        raise _refused(directory, "has a series that is no table")
    for key, value in row.items():
        if key not in KEYS or not isinstance(value, KEYS[key]):
            raise _refused(directory, f"has {key} = {value!r}")
    lacking = [key for key in ("file", "cache") if key not in row]
    if lacking:
        raise _refused(directory, f"has a series without {lacking[0]}")
    path = directory / row["file"]
    if path.parent.resolve() != directory.resolve():
        raise _refused(directory, f"has {row['file']}, which does not lie beside it")
    history = row.get("history")
    try:
        size = float(parse_size(row["size"])) if "size" in row else None
        answer = infer(read(path), None if history is None else checked_history(history))
    except ValueError as error:
        raise _refused(directory, f"has {row['file']} with {error}") from error
    miss = _miss(row["cache"], size, row.get("tolerance", TOLERANCE), answer)
    name, cache = row["file"], row["cache"]
    return Labelled(file=name, cache=cache, size_bytes=size, answer=answer, miss=miss)


def _refused(directory: Path, why: str) -> FlashtwinError:
    return FlashtwinError(f"{directory / LABELS} {why}", hint=HINT, exit_code=USAGE)


def _miss(cache: bool, size: float | None, tolerance: float, answer: Inferred) -> str | None:
    """How the answer contradicts the label; who cannot tell misses a cache, and claims none."""
    if not cache:
        return "a cache is claimed where there is none" if answer.cache == "yes" else None
    if answer.size is None:
        return f"the cache is not seen: {answer.cache}"
    if size is not None and abs(answer.size.value / size - 1) > tolerance:
        return f"{answer.size.value / size - 1:+.0%} beside the size that is labelled"
    return None
