"""Targets out of what was written down: of a run that is taken up, and of one that never began.

A twin is made from the spec as it was resolved, which the manifest holds: what the catalogue says
today, or whether it still has the drive, does not matter. A file is made where host.json says.
Several targets have a plan beside their run directories as long as not all of them are finished
(`plan.json`), so that a later process knows those that never began. Invariant: a twin of another
version of the model is refused, for half a run of each would be no drive's.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin import outputs
from flashtwin.drives import memory
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.outputs import disk
from flashtwin.runner.run import requests
from flashtwin.runner.targets import Target
from flashtwin.runner.together import Task
from flashtwin.runs import lock
from flashtwin.runs.rundir import Run, find_runs, why_of
from flashtwin.runs.shapes import WHOLE_PLAN, ShapeError
from flashtwin.runs.storage import damaged
from flashtwin.runs.whole import PLAN, read_plan, write_plan
from flashtwin.runs.writer import abandoned, check_schema, tidy

if TYPE_CHECKING:
    from flashtwin._core import Spec
    from flashtwin.drives.protocol import Drive
    from flashtwin.runner.observer import Observer

_NO_PLACE = "it says where the file lies that was measured: put it back as it was"
_ANEW = "begin it anew with flashtwin test; what it measured can still be read"


def target_of(run: Run, *, say: Callable[[str], None] | None = None) -> Target:
    """The target of a run that is not finished; `say` hears what a file's making has to tell."""
    check_schema(run)
    target = run.target
    if target["kind"] == "twin":
        return _twin_of(run, target)
    try:
        host = run.host
    except FlashtwinError as error:
        raise damaged(run.path / "host.json", why_of(error), hint=_NO_PLACE) from error
    try:
        form = {"kind": "file", "path": host["path"], "size_bytes": target["capacity_bytes"]}
    except KeyError:
        raise FlashtwinError(
            f"{run.path / 'host.json'} does not say where the file of {target['name']} lay",
            hint=_ANEW,
            exit_code=USAGE,
        ) from None
    return target_from(form, left=host.get("file"), say=say)


def _twin_of(run: Run, target: Mapping[str, Any]) -> Target:
    from flashtwin import _core

    model = target["identity"].get("model")
    if model != _core.MODEL:
        raise FlashtwinError(
            f"{run.path} was simulated by model {model} and this flashtwin has model"
            f" {_core.MODEL}: a run of both would be no drive's",
            hint=f"go on with the flashtwin that began it (it is {run.manifest['flashtwin']}), or"
            f" {_ANEW}",
            exit_code=USAGE,
        )
    toml = target["identity"].get("toml")
    if not isinstance(toml, str):
        raise damaged(run.path / "manifest.json", "it holds no spec of the twin")
    return twin_form(target["name"], toml, int(run.manifest["seed"]))


def twin_form(name: str, toml: str, seed: int) -> Target:
    """A twin to be, of a resolved spec."""
    spec = _spec_of(name, toml)
    memory.check(spec)
    form = {"kind": "twin", "name": name, "toml": toml, "seed": seed}
    make = partial(_make_twin, name, toml, seed)
    return Target(name=name, make=make, form=form, memory_bytes=spec.memory_bytes)


def target_from(
    form: Mapping[str, Any],
    *,
    left: Mapping[str, Any] | None = None,
    say: Callable[[str], None] | None = None,
) -> Target:
    """The target of a form; `left` is what host.json says of a file that a killed run left."""
    if form["kind"] == "twin":
        return twin_form(form["name"], form["toml"], form["seed"])
    path, size = Path(form["path"]), int(form["size_bytes"])
    return Target(
        name=path.name or "file",
        make=partial(_make_file, path, size, left, say),
        host={"path": str(path)},
        form=form,
    )


def _make_twin(name: str, toml: str, seed: int) -> Drive:
    from flashtwin.drives.snapshots import Store
    from flashtwin.drives.twin import Twin

    store = Store.from_environment()
    return Twin(_spec_of(name, toml), seed=seed, name=name, store=store)


def _spec_of(name: str, toml: str) -> Spec:
    from flashtwin.catalogue.loader import load

    scratch = Path(tempfile.gettempdir())
    with disk(scratch, "write"), tempfile.TemporaryDirectory(prefix="flashtwin-spec-") as place:
        path = Path(place) / f"{name}.toml"
        outputs.write(path, toml, within=path.parent)
        return load(str(path))


def _make_file(
    path: Path, size: int, left: Mapping[str, Any] | None, say: Callable[[str], None] | None
) -> Drive:
    from flashtwin.drives.real.real import Real
    from flashtwin.drives.real.real_file import Left

    found = None
    if left is not None:
        found = Left(path=Path(left["path"]), size_bytes=left["size_bytes"], mark=left["mark"])
    return Real(path, size, say=say, left=found)


@contextmanager
def planned(out: Path, tasks: Sequence[Task], seed: int, command: Sequence[str]) -> Iterator[None]:
    """The plan of several tasks lies in `out` until they are done, or if none of them began."""
    if len(tasks) > 1:
        _write_plan(out, tasks, seed, command)
    try:
        with going_on(out):
            yield
    except BaseException:
        if not any((task.place / "manifest.json").exists() for task in tasks):
            drop_plan(out)
            with contextlib.suppress(OSError):
                out.rmdir()
        raise
    drop_plan(out)


@contextmanager
def going_on(out: Path) -> Iterator[None]:
    """The plan in `out`, where there is one, is this process's; refused where another has it."""
    with lock.holding(out, PLAN) if (out / PLAN).exists() else contextlib.nullcontext():
        yield


def _write_plan(out: Path, tasks: Sequence[Task], seed: int, command: Sequence[str]) -> None:
    """Those tasks that another process can make."""
    rows = [
        {
            "place": task.place.name,
            "target": dict(task.target.form),
            "batteries": [
                {"name": one.name, "parameters": one.plain()} for one in requests(task.batteries)
            ],
            "budget_s": task.budget_s,
        }
        for task in tasks
        if task.target.form
    ]
    write_plan(out, {"seed": seed, "command": list(command), "tasks": rows})


def drop_plan(out: Path) -> None:
    """All of it is done."""
    (out / PLAN).unlink(missing_ok=True)


def _whole_plan(out: Path) -> dict[str, Any]:
    """The plan of a folder, with all that it takes to make its targets."""
    plan = read_plan(out)
    try:
        WHOLE_PLAN(plan, "")
    except ShapeError as error:
        raise damaged(out / PLAN, f"a task is malformed ({error})") from error
    return plan


def _asked(word: str) -> tuple[str, Path | None]:
    """A target as somebody types it: its name, and where its file lies if the word says so."""
    from flashtwin.runner.resolve import is_spec

    if is_spec(word):
        return (Path(word).stem if word.endswith(".toml") else word), None
    return _file_named(Path(word).expanduser().absolute())


def _file_named(path: Path | str) -> tuple[str, Path | None]:
    return Path(path).name or "file", Path(path)


def _formed(form: Mapping[str, Any]) -> tuple[str, Path | None]:
    return (form["name"], None) if form["kind"] == "twin" else _file_named(form["path"])


def _named(run: Run) -> tuple[str, Path | None]:
    """A run's target as `_asked` has it; the run of another machine's file has no path."""
    path = None if run.target["kind"] == "twin" else run.host.get("path")
    return str(run.target["name"]), None if path is None else Path(path)


def _are_same(asked: tuple[str, Path | None], kept: tuple[str, Path | None]) -> bool:
    return asked[0] == kept[0] and (kept[1] is None or asked[1] in (None, kept[1]))


class Kept:
    """What there is to go on with in a run directory, or in the folder of several."""

    def __init__(self, out: Path, *, say: Callable[[str], None] | None = None) -> None:
        self._out, self._say = out, say
        planned = out / PLAN
        none: dict[str, Any] = {"seed": 1, "command": [], "tasks": []}
        plan = _whole_plan(out) if planned.exists() else none
        self.seed, self.command = int(plan["seed"]), list(plan["command"])
        self._rows: list[dict[str, Any]] = plan["tasks"]
        self._runs = {run.path.name: run for run in self._found()}

    @property
    def places(self) -> list[Path]:
        """Every run directory that there is or is to be, in the order of the targets."""
        if (self._out / "manifest.json").exists():
            return [self._out]
        names = dict.fromkeys([*(row["place"] for row in self._rows), *self._runs])
        return [self._out / name for name in names]

    def check_targets(self, words: Sequence[str]) -> None:
        """Refuse targets that are not those of the run; without any there is nothing to refuse."""
        waiting = [row["target"] for row in self._rows if row["place"] not in self._runs]
        kept = [_named(run) for run in self._runs.values()] + [_formed(form) for form in waiting]
        asked = [_asked(word) for word in words]
        foreign = [
            word
            for word, target in zip(words, asked, strict=True)
            if not any(_are_same(target, other) for other in kept)
        ]
        missed = [name for name, _ in kept if name not in {asked_name for asked_name, _ in asked}]
        if words and (foreign or missed):
            wrong = f"not of {', '.join(foreign)}" if foreign else "not of one of them alone"
            raise FlashtwinError(
                f"{self._out} is a run of {', '.join(name for name, _ in kept)}, and {wrong}",
                hint=f"flashtwin test --resume {self._out} goes on with it",
                exit_code=USAGE,
            )

    def tasks(self, observer: Callable[[str], Observer]) -> list[Task]:
        """What is left to do, empty where all is finished; `observer` gets a target's name."""
        for run in self._runs.values():
            if run.finished:
                tidy(run.path)
        going = [run for run in self._runs.values() if not run.finished]
        waiting = [row for row in self._rows if row["place"] not in self._runs]
        return [
            *(self._taken_up(run, observer) for run in going),
            *(self._begun(row, observer) for row in waiting),
        ]

    def _taken_up(self, run: Run, observer: Callable[[str], Observer]) -> Task:
        target = target_of(run, say=self._say)
        return Task(
            target=target,
            batteries=(),
            place=run.path,
            apart=bool(run.target["virtual_time"]),
            observer=observer(target.name),
            resume=True,
        )

    def _begun(self, row: Mapping[str, Any], observer: Callable[[str], Observer]) -> Task:
        place = self._out / row["place"]
        if abandoned(place):
            shutil.rmtree(place)
        target = target_from(row["target"], say=self._say)
        return Task(
            target=target,
            batteries=[(one["name"], one["parameters"]) for one in row["batteries"]],
            place=place,
            apart=row["target"]["kind"] == "twin",
            observer=observer(target.name),
            budget_s=row["budget_s"],
        )

    def _found(self) -> list[Run]:
        places = [self._out / row["place"] for row in self._rows]
        if places and not any((place / "manifest.json").exists() for place in places):
            return []
        return find_runs(self._out)
