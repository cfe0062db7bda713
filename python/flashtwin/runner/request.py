"""What somebody asks for, and its carrying out: the one door for command line, Python and workers.

A `Request` is words and numbers as they are typed, or a target and parameters that are made
already (fio's jobs); `test` checks all of it before anything runs, runs it, and gives the runs
back; `test_all` does so for several requests, side by side, and `resume` for a run that was begun
before. What happens on the way goes to observers (`runner.events`). Invariant: what is wrong with a
request raises `FlashtwinError` before the first byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.registry import Request as Asked
from flashtwin.drives import untimed
from flashtwin.drives.consent import DESTROY, NO_PURGE, Consent
from flashtwin.drives.device.facts import is_device
from flashtwin.drives.real import real_file, real_fio
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.errors import USAGE, FlashtwinError, wrong_value
from flashtwin.model.drive import Foresees
from flashtwin.model.units import parse_seconds, parse_size
from flashtwin.outputs import check_empty
from flashtwin.runner import target as targets
from flashtwin.runner.batch import (
    Unfinished,
    default_out,
    directories,
    plan_held,
    planned,
    run_tasks,
)
from flashtwin.runner.estimate import estimate
from flashtwin.runner.events import Observer
from flashtwin.runner.run import BatteryRequest, Task, requests_of
from flashtwin.runner.target import Say, Target, Variant
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run

_NOT_EMPTY = "choose another directory with --out, remove this one, or --resume its run"

# Characters that a heading of a page has room for.
LONGEST_LABEL = 40

# Shows runs while it is entered, and gives the observer of each by its name.
Show = Callable[[], AbstractContextManager[Callable[[str], Observer]]]


@dataclass(frozen=True, kw_only=True)
class Request:
    """Batteries on targets: ids of the catalogue, spec files, texts of specs, paths, or made ones.

    `batteries` are text as it is typed, or each with its parameters. `size` is for paths: a file of
    so many bytes is made there. `budget` bounds the time of each target on its drive's clock. `out`
    is the run directory, by default a new one. `command` does the same again and has no path of
    this machine; by default it is `flashtwin test` with these words. `kept`: prepared drives are
    looked up among those that are kept, and added to them. `preparation`: `drives.untimed`.
    `consent`: whether devices may be written over; without it they are only read. `purges`: whether
    they may be erased where a battery asks for it.
    `labels`: what the run of each target is called, on pages and in comparisons.
    `power`: what the program of a watt meter writes of the one target while it is measured.
    """

    targets: tuple[str | Target, ...]
    batteries: str | tuple[BatteryRequest, ...] = field(
        default_factory=lambda: ",".join(registry.standard())
    )
    size: str | int | None = None
    budget: str | float | None = None
    firmware: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    scale: str | None = None
    seed: int = 1
    out: Path | None = None
    command: tuple[str, ...] | None = None
    kept: bool = True
    preparation: str = untimed.TIMED
    labels: tuple[str, ...] = ()
    say: Say | None = None
    consent: Consent = field(default_factory=Consent)
    purges: bool = True
    power: PowerLog | None = None

    def variant(self, word: str) -> Variant:
        """The simulated drive that a target names."""
        return Variant(
            drive=word,
            firmware=self.firmware,
            sets=self.sets,
            scale=self.scale,
            seed=self.seed,
            kept=self.kept,
            preparation=self.preparation,
        )

    def words(self, chosen: Sequence[Target]) -> list[str]:
        """The command that does the same again, without a path of this machine."""
        if self.command is not None:
            return list(self.command)
        return self._words(
            [_plain_word(word, target) for word, target in zip(self.targets, chosen, strict=True)]
        )

    def unfinished(self) -> Path | None:
        """A run in ./flashtwin-runs that was asked for the same and can be gone on with."""
        if self.command is not None or not isinstance(self.batteries, str):
            return None
        words = [Path(word).name if isinstance(word, str) else word.name for word in self.targets]
        return listing.unfinished(self._words(words))

    def _words(self, targets: Sequence[str]) -> list[str]:
        assert isinstance(self.batteries, str), "parameters that are made have no words"
        words = ["flashtwin", "test", *targets, "--battery", self.batteries]
        words += ["--size", str(self.size)] if self.size is not None else []
        words += ["--budget", str(self.budget)] if self.budget is not None else []
        words += [word for label in self.labels for word in ("--label", label)]
        words += [DESTROY] if self.consent.is_given else []
        words += [] if self.purges else [NO_PURGE]
        return [*words, *self.variant("").words()]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a request: the folder, the runs in the order of the targets.

    `did_anything`: false where all had been done before.
    """

    where: Path
    runs: list[Run]
    did_anything: bool = True


def test(request: Request, show: Show) -> Outcome:
    """Check all of a request, then carry it out.

    Raises `Interrupted` where it was stopped, once what was finished is kept.
    """
    tasks = _tasks(request)
    alone = len(tasks) == 1
    where = tasks[0].place if alone else tasks[0].place.parent
    with show() as observer, planned(where, tasks):
        # Of several each is shown by its directory.
        runs = run_tasks(
            [
                replace(task, observer=observer(task.target.name if alone else task.place.name))
                for task in tasks
            ]
        )
    return Outcome(where=where, runs=runs)


def test_all(requests: Mapping[str, Request], show: Show) -> list[Run]:
    """Carry out requests of one target each, side by side; observers know them by their names."""
    tasks = {name: _tasks(request) for name, request in requests.items()}
    with show() as observer:
        return run_tasks(
            [replace(task, observer=observer(name)) for name in tasks for task in tasks[name]]
        )


def _tasks(request: Request) -> list[Task]:
    """A task a target of a request with which nothing is wrong."""
    if not request.targets:
        raise FlashtwinError(
            "there is no target", hint="name a drive, a spec file or a path", exit_code=USAGE
        )
    batteries = request.batteries
    requests = registry.parse(batteries) if isinstance(batteries, str) else requests_of(batteries)
    size, budget_s = _size(request.size), _budget_seconds(request.budget)
    chosen = _chosen(request, size)
    names = [target.name for target in chosen]
    where = request.out if request.out is not None else default_out(names, datetime.now())
    check_empty(where, _NOT_EMPTY)
    _confirm(chosen, requests)
    command, labels = request.words(chosen), _labels(request)
    return [
        Task(
            target=target,
            place=place,
            batteries=requests,
            budget_s=budget_s,
            seed=request.seed,
            command=command,
            label=label,
        )
        for target, place, label in zip(chosen, directories(names, where), labels, strict=True)
    ]


def _confirm(chosen: Sequence[Target], batteries: Sequence[Asked]) -> None:
    """Have what is lost on devices shown and typed back, before anything begins."""
    for target in chosen:
        if target.confirm is not None:
            drive = target.make()
            info = drive.foreseen if isinstance(drive, Foresees) else drive.info
            target.confirm(estimate(batteries, info).write_bytes)


def _labels(request: Request) -> Sequence[str | None]:
    """A label for each target, or none at all."""
    labels, targets = request.labels, len(request.targets)
    if not labels:
        return [None] * targets
    if len(labels) != targets:
        raise FlashtwinError(
            f"{len(labels)} labels for {targets} targets",
            hint="give --label once for each target, in their order",
            exit_code=USAGE,
        )
    for label in labels:
        if not label.strip() or not label.isprintable() or len(label) > LONGEST_LABEL:
            raise wrong_value(
                "--label", label, "label", f"write 1 to {LONGEST_LABEL} characters that print"
            )
    if len(set(labels)) < targets:
        raise FlashtwinError(
            "two targets have the same label",
            hint="labels tell runs apart: give each its own",
            exit_code=USAGE,
        )
    return labels


# pytest takes whatever is called test for one of its own.
test.__test__ = test_all.__test__ = False  # type: ignore[attr-defined]


def resume(
    run: Path,
    show: Show,
    *,
    words: Sequence[str] = (),
    consent: Consent | None = None,
    say: Say | None = None,
) -> Outcome:
    """Go on with a run, or with the runs of a folder, as they were asked for.

    What is finished stays as it is; targets that never began begin. `words` are targets as they are
    typed, which have to be those of the run. A device is written to only with consent, anew.
    """
    where = listing.find(run)
    with plan_held(where):
        unfinished = Unfinished(where, consent=consent, say=say)
        unfinished.check_targets(words)
        with show() as observer:
            did_anything = unfinished.finish(observer)
    return Outcome(
        where=where, runs=[Run(place) for place in unfinished.places], did_anything=did_anything
    )


def targets_of(request: Request) -> list[Target]:
    """The targets that are asked for, checked; nothing of them is made."""
    return _chosen(request, _size(request.size))


def is_only_read(request: Request) -> bool:
    """Whether every target is a device or an export that nobody may write to."""
    return not request.consent.is_given and all(
        isinstance(word, str) and targets.is_only_read(word) for word in request.targets
    )


def _check_power(request: Request) -> None:
    """Refuse a meter of what no meter of this machine can be on."""
    if request.power is None:
        return
    words = [word for word in request.targets if isinstance(word, str)]
    if len(request.targets) > 1 or any(
        targets.is_spec(word) or targets.is_served(word) for word in words
    ):
        raise FlashtwinError(
            "--power is of one drive of this machine: a device, or a file on it",
            hint="test that target alone; a simulated drive has a meter of its own",
            exit_code=USAGE,
        )


def _chosen(request: Request, size: int | None) -> list[Target]:
    _check_power(request)
    chosen = [_target(word, request, size) for word in request.targets]
    if size is not None and all(
        isinstance(word, Target) or targets.is_spec(word) for word in request.targets
    ):
        raise FlashtwinError(
            "--size is for files, and every target here is a simulated drive",
            hint="leave --size out, or give the path of a file to measure",
            exit_code=USAGE,
        )
    return chosen


def _target(word: str | Target, request: Request, size: int | None) -> Target:
    if isinstance(word, Target):
        return word
    if targets.is_spec(word):
        return targets.twin_target(request.variant(word))
    changes = request.variant(word).changes
    if targets.is_served(word):
        return _served(word, changes, size, request)
    path = Path(word).expanduser()
    if is_device(path):
        return _device(path, changes, size, request)
    _offer_to_remove(path, request)
    path = targets.free_path(word, sized=size is not None, changes=changes)
    if size is None and path.is_dir():
        size = real_file.room_in(path)
    if size is None:
        raise FlashtwinError(
            f"{word} is a file to be made, and its size is not given",
            hint="add --size, for example --size 4GB; simulated drives: flashtwin drives",
            exit_code=USAGE,
        )
    real_fio.find()
    return targets.file_target(path, size, say=request.say, power=request.power)


def _offer_to_remove(path: Path, request: Request) -> None:
    """Ask whether the file that a killed run left may go, where somebody can be asked."""
    left = real_file.remains(path)
    if left is not None and request.consent.ask is not None:
        question = (
            f"a run that was killed left {left}, with which --resume of that run goes on; type"
            " remove to remove it"
        )
        if request.consent.ask(question).strip() == "remove":
            real_file.remove_remains(left)


def _device(path: Path, changes: Sequence[str], size: int | None, request: Request) -> Target:
    if changes or size is not None:
        raise FlashtwinError(
            f"{path} is a device: --size, --firmware, --set and --scale do not belong to it",
            hint="leave them out, or name a directory for a file of --size",
            exit_code=USAGE,
        )
    real_fio.find()
    return targets.device_target(
        path,
        consent=request.consent,
        purges=request.purges,
        out=request.out,
        say=request.say,
        power=request.power,
    )


def _served(word: str, changes: Sequence[str], size: int | None, request: Request) -> Target:
    if changes or size is not None:
        raise FlashtwinError(
            f"{word} is served as it is: --size, --firmware, --set and --scale do not belong to it",
            hint="give them to flashtwin serve",
            exit_code=USAGE,
        )
    real_fio.find()
    return targets.served_target(word, consent=request.consent, say=request.say)


def _plain_word(word: str | Target, target: Target) -> str:
    """A target's word without where on this machine it is; a device's name in /dev/disk would
    hold its serial number."""
    if isinstance(word, Target) or "\n" in word or is_device(Path(word).expanduser()):
        return target.name
    return Path(word).name or target.name


def _size(size: str | int | None) -> int | None:
    if size is None or isinstance(size, int):
        return size
    try:
        return parse_size(size)
    except ValueError as error:
        raise wrong_value("--size", size, "size", str(error)) from None


def _budget_seconds(budget: str | float | None) -> float | None:
    """The seconds of a budget, if there is one."""
    if budget is None:
        return None
    try:
        seconds = parse_seconds(str(budget))
    except ValueError as error:
        raise wrong_value("--budget", budget, "time", str(error)) from None
    if not seconds:
        raise wrong_value("--budget", budget, "time to spend", "write one above 0 seconds")
    return seconds
