"""The runs that `same` compares: stored ones as they are, all else measured as the first run was.

A drive of the catalogue is simulated, a device or a path measured, by the batteries of the run with
its parameters. Invariants: a device is written to with consent alone, as by `flashtwin test`; what
is measured is a run of its own, which stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from flashtwin.batteries.base import registry
from flashtwin.drives.consent import Consent
from flashtwin.drives.device import identity
from flashtwin.drives.device.drive import looked_at
from flashtwin.drives.device.facts import is_device
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.runner import request
from flashtwin.runner import target as targets
from flashtwin.runner.request import Show
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run, find_runs
from flashtwin.study.same.judge import Judgement, judge, priors


@dataclass(frozen=True, kw_only=True)
class Question:
    """A run, and the drives that may be its. `prior`: how likely before anything is compared."""

    run: Path
    drives: tuple[str, ...]
    prior: float | None = None
    out: Path | None = None
    consent: Consent = field(default_factory=Consent)
    say: Callable[[str], None] | None = None


def answer(question: Question, show: Show) -> list[Judgement]:
    """A judgement a drive, in their order; everything that is wrong is refused before anything is
    measured."""
    prior = float(priors()["prior"]) if question.prior is None else question.prior
    if not 0 < prior < 1:
        raise FlashtwinError(
            f"a prior of {prior:g} is decided before anything is compared",
            hint="write a share between 0 and 1, such as 0.5",
            exit_code=USAGE,
        )
    first = _single(question.run)
    stored = {word: run for word in question.drives if (run := _stored(word)) is not None}
    waiting = [word for word in question.drives if word not in stored]
    if len(waiting) > 1 and question.out is not None:
        raise FlashtwinError(
            f"--out is one directory, and {len(waiting)} drives are to be measured",
            hint="leave --out away, or ask for one drive after another",
            exit_code=USAGE,
        )
    requests = {word: _request(first, word, question) for word in waiting}
    for each in requests.values():
        request.targets_of(each)
    judgements = []
    for word in question.drives:
        second = stored.get(word) or request.test(requests[word], show).runs[0]
        name = second.path.name if word in stored else str(second.target["name"])
        notes = _names(first, word)
        judgements.append(judge(first, second, name=name, prior=prior, notes=notes))
    return judgements


def _single(place: Path) -> Run:
    runs = find_runs(listing.find(place))
    if len(runs) > 1:
        raise FlashtwinError(
            f"{place} holds {len(runs)} runs, and one drive is asked for",
            hint=f"name one of them, such as {runs[0].path}",
            exit_code=USAGE,
        )
    return runs[0]


def _stored(word: str) -> Run | None:
    """The run that a word names; none where it is a drive, a device or a path."""
    if targets.is_spec(word) or targets.is_served(word) or is_device(Path(word)):
        return None
    place = listing.find(word)
    return _single(place) if (place / "manifest.json").exists() else None


def _request(first: Run, word: str, question: Question) -> request.Request:
    batteries = tuple(
        registry.request(str(row["name"]), row.get("parameters") or {})
        for row in first.manifest["batteries"]
    )
    is_twin = targets.is_spec(word)
    is_file = not is_twin and not targets.is_served(word) and not is_device(Path(word))
    if is_file and "/" not in word and not Path(word).is_dir():
        # A name that was mistyped is no wish for a file of that name.
        raise FlashtwinError(
            f"{word} is no run, no drive of the catalogue and no device",
            hint=f"flashtwin runs and flashtwin drives list them; ./{word} is a file to be made",
            exit_code=USAGE,
        )
    scale = first.target["identity"].get("scale")
    return request.Request(
        targets=(word,),
        batteries=batteries,
        size=int(first.target["capacity_bytes"]) if is_file else None,
        # A drive of the catalogue is made as small as the twin that it is held against.
        scale=f"1/{scale}" if is_twin and isinstance(scale, int) and scale > 1 else None,
        seed=int(first.manifest.get("seed") or 1),
        out=question.out,
        command=("flashtwin", "same", first.path.name),
        consent=question.consent,
        say=question.say,
    )


def _names(first: Run, word: str) -> list[str]:
    """A note on whether a device is the run's by its serial number, WWN and EUI, as far as the run
    kept a hash of them."""
    known = first.host.get("drive")
    if not is_device(Path(word)) or not isinstance(known, dict) or "salt" not in known:
        return []
    names = identity.of(looked_at(Path(word), ()), str(known["salt"]))["hash"]
    if names == known.get("hash"):
        return ["by serial number, WWN and EUI it is the very device that the run measured"]
    return ["by serial number, WWN and EUI it is another device than the run measured"]
