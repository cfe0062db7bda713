"""Targets to be: simulated drives and files on real ones, as words, as JSON values, as drives.

`Variant` is the one place where a twin is made of what somebody asks for. A target's drive is built
where it runs: a twin of 240 GB holds its map in memory, and a worker has its own. Invariants: a
name of the catalogue wins over a file of that name; everything about a target that can be refused
is refused before anything runs; a twin of another version of the model than the one that began a
run is refused, for half a run of each would be no drive's.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin.drives import memory, nbd, untimed
from flashtwin.drives.consent import DESTROY, Consent, Word, require
from flashtwin.drives.device import refusals
from flashtwin.drives.device.confirm import confirm
from flashtwin.drives.device.drive import Device, looked_at
from flashtwin.drives.device.facts import is_device
from flashtwin.drives.device.identity import known_again, without_secrets
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.drives.real.served import Served
from flashtwin.errors import ENVIRONMENT, REFUSED, USAGE, FlashtwinError
from flashtwin.model import lazy
from flashtwin.model.units import readable_size
from flashtwin.runs.rundir import Run, why_of
from flashtwin.runs.storage import damaged

if TYPE_CHECKING:
    from flashtwin._core import Spec
    from flashtwin.drives.real.real_file import Leftover
    from flashtwin.drives.twin import Twin
    from flashtwin.model.drive import Drive

Say = Callable[[str], None]

_NO_PLACE = "host.json says where the measured file lies; put it back as it was"
ANEW = "begin it anew with flashtwin test; what it measured can still be read"


# The drive of a job file's files, from the room `fio`, which stands below this one.
FILES_DRIVE = "flashtwin.fio.drives:files_drive"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A drive to be: its name for directories, how to make it, what to write of it in host.json.

    `form` is the same as JSON values, for a run that begins in a later process; empty for a drive
    that only this process can make. `apart`: it may be measured beside others, in a process of its
    own, as its clock is virtual; `make` has to be picklable then. `memory_bytes` is what the drive
    takes of this machine's memory. `confirm` gets the bytes to be written, shows what is lost and
    raises where nobody consents. `notes`: what was turned off in it together with a mechanism.
    """

    name: str
    make: Callable[[], Drive]
    host: Mapping[str, object] = field(default_factory=dict)
    confirm: Callable[[int], None] | None = None
    form: Mapping[str, object] = field(default_factory=dict)
    apart: bool = False
    memory_bytes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A simulated drive with what is changed in it, and its seed.

    `drive` is an id of the catalogue, a spec file (.toml), or the text of a spec. `sets` may hold
    shorthands such as `op=0.2`. `kept`: prepared drives are looked up among those that are kept.
    `preparation`: whether what no battery looks at is written in its time (`drives.untimed`). It
    can be pickled.
    """

    drive: str
    firmware: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    scale: str | None = None
    seed: int = 1
    kept: bool = True
    preparation: str = untimed.TIMED

    def spec(self) -> Spec:
        """The checked spec."""
        from flashtwin.catalogue.loader import load

        return load(self.drive, firmware=self.firmware, sets=self.sets, scale=self.scale)

    def warnings(self, spec: Spec) -> list[str]:
        """What to warn of in this spec: not of what a drive of the catalogue has by itself, and not
        of a value that stands for drives of its kind. `check` and `show` tell all."""
        if not spec.warnings:
            return []
        is_own = self.drive.endswith(".toml") or "\n" in self.drive
        of_catalogue = [] if is_own else replace(self, firmware=(), sets=()).spec().warnings
        priors = {row["key"] for row in spec.values() if row["origin"] == "prior"}
        return [
            warning
            for warning in spec.warnings
            if warning not in of_catalogue and warning.partition(" ")[0] not in priors
        ]

    def twin(self, name: str | None = None) -> Twin:
        """The drive, to be opened."""
        from flashtwin.drives.snapshots import Store
        from flashtwin.drives.twin import Twin

        store = Store.from_environment() if self.kept else None
        return Twin(
            self.spec(), seed=self.seed, name=name, store=store, preparation=self.preparation
        )

    @property
    def changes(self) -> list[str]:
        """What makes it another drive than the one that is named."""
        return [*self.firmware, *self.sets, *([self.scale] if self.scale else [])]

    def words(self) -> list[str]:
        """The options of the command line that say the same."""
        words = [part for name in self.firmware for part in ("--firmware", name)]
        words += [part for setting in self.sets for part in ("--set", setting)]
        words += ["--scale", self.scale] if self.scale is not None else []
        if self.preparation != untimed.TIMED:
            words += ["--preparation", self.preparation]
        return [*words, "--seed", str(self.seed)]


def twin_target(variant: Variant, *, name: str | None = None, drive: Twin | None = None) -> Target:
    """A twin that is made when the run begins. `name` is given where it is not the spec's own
    id, `drive` where the twin is built already. Refused where it does not fit into memory."""
    spec = variant.spec()
    memory.check(spec)
    called = name or spec.id
    form = {"kind": "twin", "name": called, "toml": spec.to_toml(), "seed": variant.seed}
    if untimed.is_untimed(spec, variant.preparation):
        form[untimed.KEY] = untimed.UNTIMED
    note = untimed.note_of(spec, variant.preparation)
    make = partial(variant.twin, name)
    return Target(
        name=called,
        make=make if drive is None else lambda: drive,
        form=form,
        apart=drive is None,
        memory_bytes=spec.memory_bytes,
        notes=(*spec.notes, *variant.warnings(spec), *([note] if note else [])),
    )


def file_target(
    path: Path,
    size_bytes: int,
    *,
    leftover: Mapping[str, Any] | None = None,
    say: Say | None = None,
    power: PowerLog | None = None,
) -> Target:
    """A file that is made when the run begins. `leftover` is what host.json says of the file of
    a run that was killed, with that run's directory as `run`."""
    where = {"path": str(path.absolute()), **_metered(power)}
    return Target(
        name=path.name or "file",
        make=partial(_file, path, size_bytes, leftover, say, power),
        host=where,
        form={"kind": "file", "size_bytes": size_bytes, **where},
    )


def _file(
    path: Path,
    size: int,
    leftover: Mapping[str, Any] | None,
    say: Say | None,
    power: PowerLog | None,
) -> Drive:
    from flashtwin.drives.real.real import Real

    left = _leftover(leftover) if leftover else None
    return Real(path, size, say=say, leftover=left, power=power)


def _metered(power: PowerLog | None) -> dict[str, Any]:
    """Where a meter's CSV is, for the process that goes on with the run."""
    return {} if power is None else {"power": power.form()}


def served_target(uri: str, *, consent: Consent | None = None, say: Say | None = None) -> Target:
    """An NBD export: a drive that `flashtwin serve` serves is written to, anybody else's only where
    somebody consents."""
    export, consent = nbd.look(uri), consent or Consent()
    is_lost = bool(export.foreign) and consent.is_given
    if is_lost and export.is_read_only:
        raise FlashtwinError(
            f"{uri} lets nobody write to it",
            hint=f"leave out {DESTROY}: then it is only read",
            exit_code=USAGE,
        )
    return Target(
        name=export.name,
        make=partial(Served, uri, export, writes=is_lost, say=say),
        host={"uri": uri},
        # Consent is given to this process alone.
        form={} if is_lost else {"kind": "served", "uri": uri},
        confirm=partial(_confirm_export, uri, export, consent) if is_lost else None,
    )


def _confirm_export(uri: str, export: nbd.Export, consent: Consent, write_bytes: int) -> None:
    """Have the name and the size of an export typed back; a script gives the name alone."""
    size = str(export.size_bytes)
    shown = [
        f"{uri}: export {export.name!r} of {readable_size(export.size_bytes)}",
        f"  it is not known to be a simulated drive: {export.foreign}",
        f"  about {readable_size(write_bytes)} will be written",
        "  ALL DATA ON IT WILL BE LOST",
    ]
    words = [
        Word(name="name", text=export.name),
        Word(name="size", text=size, essential=False),
    ]
    require(consent, uri, shown, words)


def device_target(
    word: str | Path,
    *,
    consent: Consent,
    purges: bool = True,
    out: Path | None = None,
    salt: str | None = None,
    say: Say | None = None,
    power: PowerLog | None = None,
) -> Target:
    """A block device: written to where somebody consents, else only read. What speaks against
    writing is refused here. `salt` is that of the run that is gone on with."""
    of_interest = [
        ("the running system", Path("/")),
        ("the running system", Path("/boot")),
        ("the run directory", (out or Path()).absolute()),
        ("the working directory", Path().absolute()),
        ("the directory for temporary files", Path(tempfile.gettempdir())),
        ("flashtwin", Path(__file__)),
    ]
    facts = looked_at(Path(word), of_interest if consent.is_given else ())
    if consent.is_given:
        refusals.check(facts)
    drive = partial(
        Device,
        facts,
        writes=consent.is_given,
        purges=purges,
        of_interest=of_interest,
        salt=salt,
        say=say,
        power=power,
    )
    arguments = without_secrets([*sys.argv[1:]], [*facts.secrets, str(word)])
    return Target(
        name=facts.model or facts.name,
        make=drive,
        host={"arguments": arguments, **_metered(power)},
        confirm=partial(confirm, facts, consent) if consent.is_given else None,
    )


def is_served(word: str) -> bool:
    """Whether a word is the address of a drive that is served."""
    return word.startswith(nbd.PREFIX)


def is_only_read(word: str) -> bool:
    """Whether a word names what nobody may write to without consent."""
    if is_served(word):
        return bool(nbd.look(word).foreign)
    return not is_spec(word) and is_device(Path(word))


def files_target(
    file: Sequence[str],
    path: Path,
    *,
    leftovers: Sequence[Mapping[str, Any]] = (),
    formats: Sequence[str] = ("normal",),
    say: Say | None = None,
    drive: Drive | None = None,
) -> Target:
    """The files that a job file names, made when the run begins; `drive` is given where it is
    built already. `formats`: how fio is to report."""

    def make() -> Drive:
        rows = [_leftover(row) for row in leftovers]
        files: Drive = drive or lazy.named(FILES_DRIVE)(
            file, path, formats=tuple(formats), say=say, leftovers=rows
        )
        return files

    return Target(name=path.name or "file", make=make, host={"path": str(path.absolute())})


def _leftover(row: Mapping[str, Any]) -> Leftover:
    from flashtwin.drives.real.real_file import Leftover

    return Leftover.of(row, Path(row["run"]))


def from_form(
    form: Mapping[str, Any], *, leftover: Mapping[str, Any] | None = None, say: Say | None = None
) -> Target:
    """The target of a form."""
    if form["kind"] == "twin":
        prepared = form.get(untimed.KEY, untimed.TIMED)
        return _from_text(form["name"], form["toml"], form["seed"], prepared)
    if form["kind"] == "served":
        return served_target(form["uri"], say=say)
    power = PowerLog.of(form.get("power"))
    size = int(form["size_bytes"])
    return file_target(Path(form["path"]), size, leftover=leftover, say=say, power=power)


def _from_text(name: str, toml: str, seed: int, preparation: str) -> Target:
    """A twin of a resolved spec, whatever the catalogue says of that drive today."""
    return twin_target(Variant(drive=toml, seed=seed, preparation=preparation), name=name)


def of_run(run: Run, *, consent: Consent | None = None, say: Say | None = None) -> Target:
    """The target of a run that is not finished: a twin by the spec in the manifest, a file where
    host.json says it lay, a device by its hash there. `say` hears what the making of a file has to
    report."""
    target = run.target
    if target["kind"] == "twin":
        return _twin_of(run, target)
    try:
        host = run.host
    except FlashtwinError as error:
        raise damaged(run.path / "host.json", why_of(error), hint=_NO_PLACE) from error
    if target["kind"] == "device":
        return _device_of(run, target, host, consent or Consent(), say)
    if target["kind"] == "served" and isinstance(host.get("uri"), str):
        uri = host["uri"]
        writes = not nbd.look(uri).foreign or _may_write(run, target, uri, consent)
        return served_target(uri, consent=consent if writes else None, say=say)
    try:
        path = Path(host["path"])
    except KeyError:
        raise FlashtwinError(
            f"{run.path / 'host.json'} does not say where the file of {target['name']} lay",
            hint=ANEW,
            exit_code=USAGE,
        ) from None
    if target["kind"] == "files":
        return _files_of(run, path, host, say)
    left = host.get("file")
    leftover = None if left is None else {**left, "run": str(run.path)}
    power = PowerLog.of(host.get("power"))
    return file_target(path, target["capacity_bytes"], leftover=leftover, say=say, power=power)


def _files_of(run: Run, path: Path, host: Mapping[str, Any], say: Say | None) -> Target:
    """The files of a run of fio's jobs, whose job file is in the manifest."""
    try:
        (battery,) = run.manifest["batteries"]
        file = [str(line) for line in battery["parameters"]["file"]]
        leftovers = [
            {
                "path": str(row["path"]),
                "size_bytes": int(row["size_bytes"]),
                "mark": row["mark"],
                "run": str(run.path),
            }
            for row in host.get("files", ())
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(run.path / "manifest.json", "it holds no job file") from error
    formats = next((row["formats"] for step in run.steps for row in step.fio), ("normal",))
    return files_target(file, path, leftovers=leftovers, formats=formats, say=say)


def _may_write(
    run: Run, target: Mapping[str, Any], written: str | Path, consent: Consent | None
) -> bool:
    """Whether a run writes to what is not ours; refused where nobody consents to it anew."""
    writes = bool(target.get("can", {}).get("writes", True))
    if writes and not (consent and consent.is_given):
        raise FlashtwinError(
            f"{run.path} writes to {written}, and nobody said that it may be written over",
            hint=f"flashtwin test --resume {run.path} {DESTROY}",
            exit_code=REFUSED,
        )
    return writes


def _device_of(
    run: Run,
    target: Mapping[str, Any],
    host: Mapping[str, Any],
    consent: Consent,
    say: Say | None,
) -> Target:
    """The device that a run measured, whatever it is called by now."""
    stored = host.get("drive")
    if not isinstance(stored, dict) or not {"salt", "hash"} <= stored.keys():
        raise damaged(run.path / "host.json", "it does not say which device was measured")
    paths = known_again(stored)
    if len(paths) != 1:
        several = (
            f"may be any of {', '.join(map(str, paths))}: their model, size and serial number are"
            " the same, as those of one drive on two paths or of virtual disks are"
        )
        raise FlashtwinError(
            f"the device that {run.path} measured ({target['name']}) "
            + (several if paths else "is not in this machine"),
            hint=f"{'detach the others' if paths else 'attach it'}, or {ANEW}",
            exit_code=REFUSED if paths else ENVIRONMENT,
        )
    (path,) = paths
    writes = _may_write(run, target, path, consent)
    return device_target(
        path,
        consent=consent if writes else Consent(),
        purges=bool(target.get("can", {}).get("purge")),
        out=run.path,
        salt=str(stored["salt"]),
        say=say,
        power=PowerLog.of(host.get("power")),
    )


def _twin_of(run: Run, target: Mapping[str, Any]) -> Target:
    from flashtwin import _core

    model = target["identity"].get("model")
    if model != _core.MODEL:
        raise FlashtwinError(
            f"{run.path} was simulated by model {model} and this flashtwin has model"
            f" {_core.MODEL}: one run cannot hold steps of both",
            hint=f"go on with the flashtwin that began it (it is {run.manifest['flashtwin']}), or"
            f" {ANEW}",
            exit_code=USAGE,
        )
    toml = target["identity"].get("toml")
    if not isinstance(toml, str):
        raise damaged(run.path / "manifest.json", "it holds no spec of the twin")
    prepared = str(target["identity"].get(untimed.KEY, untimed.TIMED))
    return _from_text(target["name"], toml, int(run.manifest["seed"]), prepared)


def is_spec(word: str) -> bool:
    """Whether a word names a simulated drive, or is the text of one."""
    from flashtwin.catalogue.loader import drive_ids, is_spec_text, own_file

    by_name = is_spec_text(word) or word.endswith(".toml") or word in drive_ids()
    return by_name or own_file(word) is not None


def named(word: str) -> tuple[str, Path | None]:
    """A target as somebody types it: its name, and where its file lies if the word says so."""
    if is_spec(word):
        return (Path(word).stem if word.endswith(".toml") else word), None
    if is_served(word):
        return nbd.look(word).name, None
    path = Path(word).expanduser().absolute()
    if is_device(path):
        facts = looked_at(path, ())
        return facts.model or facts.name, None
    return path.name or "file", path


def free_path(word: str, *, sized: bool, changes: Sequence[str] = ()) -> Path:
    """The path that a word names, where a file may be made; everything else is refused.

    `sized`: a size is given, so the word is meant as a file. `changes` are for twins.
    """
    from flashtwin.catalogue.loader import nearest_ids, unknown_drive
    from flashtwin.drives.real import real_file

    if not word.strip():
        raise FlashtwinError(
            "the target is empty",
            hint="name a drive of the catalogue, a spec or a path",
            exit_code=USAGE,
        )
    path = Path(word).expanduser()
    looks_like_path = "/" in word or os.sep in word or word.startswith((".", "~"))
    looks_like_path |= bool(path.drive or path.suffix) or os.path.lexists(path)
    if not looks_like_path and (not sized or nearest_ids(word)):
        raise unknown_drive(word)
    if changes:
        raise FlashtwinError(
            f"--firmware, --set and --scale change simulated drives; {word} is a file",
            hint="test the file and the drives apart",
            exit_code=USAGE,
        )
    if any("\ud800" <= letter <= "\udfff" for letter in str(path.absolute())):
        raise FlashtwinError(
            "the path of the target is not UTF-8, and a run could not name it",
            hint="give a path that is UTF-8",
            exit_code=USAGE,
        )
    if word.endswith(("/", os.sep)) and not path.is_dir():
        raise FlashtwinError(
            f"there is no directory {word}",
            hint="make it, or leave out the slash at its end to name a file",
            exit_code=USAGE,
        )
    # What may not be written to is refused first, which is more to the point than a missing size.
    real_file.place(path)
    return path
