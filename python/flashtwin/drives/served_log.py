"""The log of a served drive: which drive it is of, and the drive that is asked the same again.

The first line says how the drive was made: spec, seed, state. A drive that is made so and asked
what the other lines tell, at the same instants of its own time, holds the same bytes after each
power cut; only its log has to be kept. Invariant: a log of another version of the model, or of a
state file that has changed, is refused, for the drive would be another one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flashtwin import _core, outputs
from flashtwin.catalogue.loader import load
from flashtwin.drives import memory, serving
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.inputs import is_text, open_regular, parse_json, read_regular
from flashtwin.model.document import Document

FORM = 1
# Bytes of the longest first line, which holds a spec, and of the largest state file.
MOST_BYTES, MOST_STATE_BYTES = 1 << 20, 1 << 40
_KINDS: Mapping[str, type] = {
    "model": int,
    "spec": str,
    "spec_hash": str,
    "seed": int,
    "state": str,
    "worse": dict,
    "bytes": bool,
}


class Replayed(Document, frozen=True):
    """flashtwin replay --json: the log, the image that was written, and what the core counted."""

    log: str
    image: str | None
    reads: int
    writes: int
    trims: int
    flushes: int
    answered: int
    broken_off: int
    cuts: int
    clock_s: float
    start_s: float
    comes_back: bool
    held_bytes: int | None


def begun(
    path: Path,
    spec: _core.Spec,
    *,
    state: str,
    seed: int,
    worse: serving.Worse,
    with_bytes: bool,
) -> serving.Log:
    """The log to be written of a drive that is made in a state with a seed."""
    is_file = state not in serving.STATES
    header = {
        "flashtwin_log": FORM,
        "model": _core.MODEL,
        "drive": spec.id,
        "spec": spec.to_toml(),
        "spec_hash": spec.hash,
        "seed": seed,
        "state": str(Path(state).absolute()) if is_file else state,
        "state_sha256": _digest(Path(state)) if is_file else None,
        "worse": asdict(worse),
        "bytes": with_bytes,
    }
    return serving.Log(path=path, with_bytes=with_bytes, header=header)


def _digest(path: Path) -> str:
    return hashlib.sha256(read_regular(path, most_bytes=MOST_STATE_BYTES)).hexdigest()


def replay(
    path: Path, until_cut: int | None, image: Path | None, watch: Callable[[float], bool]
) -> Replayed:
    """Ask a drive that is made as a log's was for all that the log tells of, up to the cut of a
    number or to the end, and write what it then holds into `image`.

    Raises `FlashtwinError` where the drive cannot be made again.
    """
    serving.check_system()
    values = _values(path)
    spec = _spec(path, values)
    if image is not None:
        outputs.check(image, inputs=(path,))
    memory.check(spec)
    drive = serving.prepared(spec, values["state"], values["seed"]).simulation
    worse = json.dumps(values["worse"])
    with nullcontext() if image is None else outputs.replacing(image) as part:
        try:
            outcome = _core.replay(spec, drive, path, worse, until_cut, part, watch)
        except _core.ServeError as error:
            raise serving.explained(error) from error
    return Replayed(str(path), None if image is None else str(image), **outcome)


def _spec(path: Path, values: Mapping[str, Any]) -> _core.Spec:
    """The spec of the drive that a log is of, which is checked to be that drive."""
    if values["model"] != _core.MODEL:
        raise FlashtwinError(
            f"{path} is of model {values['model']}, and this flashtwin has model {_core.MODEL}",
            hint="replay it with the flashtwin that served the drive",
            exit_code=USAGE,
        )
    if not values["bytes"]:
        raise FlashtwinError(
            f"{path} has no bytes to be written again",
            hint="serve the drive with --log-data",
            exit_code=USAGE,
        )
    spec, state = load(values["spec"]), values["state"]
    digest = values.get("state_sha256")
    has_changed = state not in serving.STATES and _digest(Path(state)) != digest
    if spec.hash != values["spec_hash"] or has_changed:
        changed = f"the state file {state}" if has_changed else "its spec"
        raise FlashtwinError(
            f"{path} is of another drive now: {changed} is not what it was",
            hint="put the spec and the state back as they were",
            exit_code=ENVIRONMENT,
        )
    return spec


def _values(path: Path) -> dict[str, Any]:
    handle = open_regular(path)
    try:
        first, newline, _ = os.read(handle, MOST_BYTES).partition(b"\n")
    finally:
        os.close(handle)
    try:
        values = parse_json(first)
    except ValueError as error:
        raise _damaged(path) from error
    if not newline or not isinstance(values, dict) or values.get("flashtwin_log") != FORM:
        raise _damaged(path)
    for name, kind in _KINDS.items():
        if type(values.get(name)) is not kind:
            raise _damaged(path)
    known = asdict(serving.Worse()).keys() >= values["worse"].keys()
    if not (known and 0 <= values["seed"] < 1 << 64 and is_text(values["state"])):
        raise _damaged(path)
    return values


def _damaged(path: Path) -> FlashtwinError:
    return FlashtwinError(
        f"{path} is no log of a served drive",
        hint="flashtwin serve --log writes one",
        exit_code=USAGE,
    )
