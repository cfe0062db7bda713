"""The batteries that there are, what one has to offer, how one is asked for and explained.

Each module or folder beside `base` is a battery and has a constant `BATTERY`. Other packages bring
theirs through entry points of the group `flashtwin.batteries`, `NAME = "module:BATTERY"`. One is
imported when it is first named. Invariants: what `parse` returns can run; a bad name, key or value
has been refused with what to write instead; a package's battery that cannot be used takes nothing
away from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Literal, Protocol

from flashtwin.batteries.base import foreign, parameter
from flashtwin.batteries.base.declared import INSTRUMENTS as INSTRUMENTS
from flashtwin.batteries.base.declared import Clause as Clause
from flashtwin.batteries.base.declared import Forecast as Forecast
from flashtwin.batteries.base.declared import Instrument as Instrument
from flashtwin.batteries.base.declared import Part as Part
from flashtwin.batteries.base.meaning import COMMON, Meaning, read
from flashtwin.batteries.base.record import Record, completed
from flashtwin.batteries.base.words import word_of
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.step import Mark, Result

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from flashtwin.model.finding import Finding
    from flashtwin.model.step import NotPossible, Step
    from flashtwin.model.target import DriveInfo

    Answer = Result | NotPossible
    Steps = Generator[Step, Answer, None]

GROUP = "flashtwin.batteries"
PROGRAM = "flashtwin test"
# The key by which a battery's named values are taken.
PRESET = "preset"
# Other names that people have for batteries.
SHORT = {"cdm": "crystaldiskmark", "diskmark": "crystaldiskmark", "assd": "as_ssd"}
# A shorter word is in too many texts to mean one finding.
LEAST_WORD = 4
# Those that run where nobody names one: to know them takes no look at the others.
_STANDARD = ("fill", "crystaldiskmark")
# The folder beside the batteries that is not a battery.
_BASE = "base"


PREPARATION = "preparation"
# Said of a battery whose sizes or times `parameter.here` divides on a scaled copy.
OF_A_COPY = (
    "files and times are 1/{} of the usual ones, like the drive. Its write buffer, the rests and"
    " the time after which it writes its map back are those of the whole drive: short writes look"
    " faster, a rest folds more, and WAF lacks part of what the map costs"
)


def prepared_parts(battery: str, titles: Mapping[str, str], *, begins: bool = True) -> list[Part]:
    """The preparation, and the parts that need it: titles by what follows the battery in labels."""
    return [
        Part(title=PREPARATION, labels=(f"{battery}/prepare",)),
        *(
            Part(title=title, labels=(f"{battery}/{stem}",), needs=(PREPARATION,), begins=begins)
            for stem, title in titles.items()
        ),
    ]


def with_mark(step: Step) -> Generator[Step, Answer, Answer]:
    """A step and, where it took place, a mark behind it: what it came to can be concluded now."""
    answer = yield step
    if isinstance(answer, Result):
        yield Mark(label=f"{step.label}/found")
    return answer


def undivided(parameters: object, info: DriveInfo) -> Sequence[Part]:
    """No parts: the battery is done as a whole or not at all."""
    return ()


def by_the_book(parameters: object, info: DriveInfo) -> list[str]:
    """No departures from the original."""
    return []


def host_ns(parameters: Any, info: DriveInfo) -> int:
    """The host's time for a command, for jobs on a simulated host; a real host takes its own
    time."""
    return round(parameters.host_us * 1000) if info.can.host_time else 0


class Setup(Protocol):
    """What a configuration file asks for: a battery as it is typed or, where the battery cannot say
    it, a job file of fio; and what is left out of it."""

    @property
    def battery(self) -> str | None: ...

    @property
    def jobs(self) -> str | None: ...

    @property
    def notes(self) -> Sequence[str]: ...


class Configuration(Protocol):
    """A module that reads and writes the configuration files of the program that a battery follows.

    `SUFFIX` is how their names end. `parse(text, name, targets)` raises with the line of the file
    `name`; where the file names several disks, `targets` are those that the drive stands for.
    `text_of(parameters)` is a file that asks the program for the same.
    """

    SUFFIX: str

    def parse(self, text: str, name: str, targets: Sequence[str]) -> Setup: ...

    def text_of(self, parameters: Any) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Battery:
    """A family of tests. `trust` is S, P or M: how well the original is known (see the docs).

    `measure(parameters, info)` is the generator of steps; it raises `FlashtwinError` before its
    first one if the target does not suit, and hears of each what came of it. `conclude(record)` is
    pure: the answered steps in, findings out, however the run came about. `departs(parameters,
    info)` says where it leaves the original. `parts(parameters, info)` are the parts that a budget
    may leave out, the one worth most first; steps in no part are done with the first of them.
    `estimate(parameters, info)` is for a battery whose steps depend on results: played without a
    drive it would not end. `thinks_s`: seconds of a processor that it computes beside a simulated
    drive, for the estimate. `meanings` are the texts of its findings, for `flashtwin explain`.
    `present` says how a page shows it (see `base.present`): the module whose `PRESENT` does, or a
    function that makes what does; none is for tables of its findings. `program` is the command that
    asks for it and goes on with its runs.
    `follows` says clause by clause whom it follows and where it departs on any target.
    `configuration` names the module that reads and writes the files of the program that it follows.
    `needs` are the instruments without which it measures nothing: it is refused on a target that
    has them not. `presets` are named values of parameters, as they are typed: those of an article,
    say; `NAME:preset=WORD` takes them, and what is set beside it wins. `package` brings it, and is
    empty for flashtwin's own; nobody sets it.
    """

    name: str
    title: str
    trust: Literal["S", "P", "M"]
    parameters: type
    measure: Callable[[Any, DriveInfo], Steps]
    conclude: Callable[[Record], Sequence[Finding]]
    departs: Callable[[Any, DriveInfo], list[str]] = by_the_book
    parts: Callable[[Any, DriveInfo], Sequence[Part]] = undivided
    present: str | Callable[[], Any] | None = None
    configuration: str | None = None
    program: str = PROGRAM
    estimate: Callable[[Any, DriveInfo], Forecast] | None = None
    thinks_s: float = 0.3
    meanings: Callable[[], Sequence[Meaning]] = tuple
    needs: tuple[Instrument, ...] = ()
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    follows: Sequence[Clause] = ()
    package: str = ""

    @property
    def origin(self) -> foreign.Origin | None:
        """Who brings it; none where flashtwin does."""
        if not self.package:
            return None
        return foreign.Origin(battery=self.name, package=self.package)

    def findings(self, record: Record) -> list[Finding]:
        """The findings that `conclude` draws from a record, rounded and with notes on cut steps."""
        return completed(record, self.conclude(record))

    def departures(self, parameters: Any, info: DriveInfo) -> list[str]:
        """How the battery departs from its original, and what is assumed of a simulated host."""
        departures = list(self.departs(parameters, info))
        if info.scale > 1 and parameter.shrinks(self.parameters):
            departures.append(OF_A_COPY.format(info.scale))
        host_us = getattr(parameters, "host_us", None)
        if info.can.host_time and host_us is not None:
            departures.append(f"the host takes {host_us:g} µs a command (a prior, set host_us)")
        return departures

    def check(self, info: DriveInfo) -> None:
        """Refuse, before a byte is written, a target that lacks what the battery needs."""
        for need in self.needs:
            if not getattr(info.can, need):
                raise FlashtwinError(
                    f"{self.name} cannot be measured on {info.name}: it has no {INSTRUMENTS[need]}",
                    hint=f"leave {self.name} out of --battery, or measure another target; flashtwin"
                    " doctor DEVICE says what can be had",
                    exit_code=USAGE,
                )

    def rows(self) -> list[parameter.Row]:
        """The parameters that can be set."""
        return parameter.rows(self.parameters)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A battery with its parameters."""

    battery: Battery
    parameters: Any

    @property
    def name(self) -> str:
        """The battery's name."""
        return self.battery.name

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return parameter.plain(self.parameters)


def names() -> list[str]:
    """All batteries, flashtwin's own first."""
    return list(dict.fromkeys([*own(), *(point.name for point in _points())]))


def standard() -> list[str]:
    """The batteries that run where nobody names one, in order; never one of another package."""
    return list(_STANDARD)


def get(name: str) -> Battery:
    """One battery."""
    if name in own():
        battery = import_module(f"{GROUP}.{name}").BATTERY
        assert isinstance(battery, Battery), f"{GROUP}.{name} has no battery"
        return battery
    point = next((point for point in _points() if point.name == name), None)
    if point is not None:
        return _loaded(point)
    raise FlashtwinError(
        f"there is no battery {name!r}{parameter.nearest(name, names())}",
        hint=f"batteries: {', '.join(names())}",
        exit_code=USAGE,
    )


def available() -> tuple[list[Battery], list[FlashtwinError]]:
    """All batteries that can be used, and what is wrong with those of packages that cannot."""
    batteries, wrong = [get(name) for name in own()], []
    names = set(own())
    for point in _points():
        try:
            if point.name in names:
                raise _origin(point).unusable("there is one of that name already")
            batteries.append(_loaded(point))
            names.add(point.name)
        except FlashtwinError as error:
            wrong.append(error)
    return batteries, wrong


def configured_by(suffix: str) -> tuple[Battery, Configuration]:
    """The battery that follows the program whose configuration files end so, and their module."""
    for battery in available()[0]:
        if battery.configuration is not None:
            find: Callable[[], Any] = partial(import_module, battery.configuration)
            origin = battery.origin
            module = foreign.called(origin, "configuration", find) if origin else find()
            if suffix == module.SUFFIX:
                return battery, module
    raise FlashtwinError(
        f"no battery reads and writes {suffix} files",
        hint="flashtwin batteries lists those that there are",
        exit_code=ENVIRONMENT,
    )


@cache
def own() -> tuple[str, ...]:
    """The names of flashtwin's own batteries: the modules and folders beside `base`."""
    modules = iter_modules([str(Path(__file__).parents[1])])
    return tuple(sorted(module.name for module in modules if module.name != _BASE))


def _points() -> list[EntryPoint]:
    """The entry points of other packages' batteries, sorted by name."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _loaded(point: EntryPoint) -> Battery:
    origin = _origin(point)
    try:
        battery = point.load()
    except foreign.FAULTS as error:
        raise origin.unusable(foreign.told(error)) from error
    if not isinstance(battery, Battery):
        raise origin.unusable(f"{point.value} is a {type(battery).__name__} and no Battery")
    if battery.name != point.name:
        raise origin.unusable(f"it calls itself {battery.name!r}")
    foreign.checked(battery, origin)
    return foreign.guarded(battery, origin)


def _origin(point: EntryPoint) -> foreign.Origin:
    package = point.dist.name if point.dist is not None else point.value
    return foreign.Origin(battery=point.name, package=package)


def request(name: str, values: Mapping[str, object] | object = ()) -> Request:
    """A battery with some of its parameters set; text values are parsed."""
    battery = get(name)
    if isinstance(values, battery.parameters):
        return Request(battery=battery, parameters=values)
    settings: Mapping[str, object] = values if isinstance(values, Mapping) else {}
    settings = _with_preset(battery, settings)
    build = partial(parameter.build, battery.parameters, name, settings)
    parameters = foreign.called(battery.origin, "parameters", build) if battery.origin else build()
    return Request(battery=battery, parameters=parameters)


def _with_preset(battery: Battery, settings: Mapping[str, object]) -> Mapping[str, object]:
    """The values of a preset, and over them those that are set beside it."""
    if not battery.presets or PRESET not in settings:
        return settings
    word = str(settings[PRESET])
    if word not in battery.presets:
        raise FlashtwinError(
            f"{battery.name} has no preset {word}{parameter.nearest(word, list(battery.presets))}",
            hint=f"presets: {', '.join(battery.presets)}",
            exit_code=USAGE,
        )
    rest = {name: value for name, value in settings.items() if name != PRESET}
    return {**battery.presets[word], **rest}


def parse(text: str) -> list[Request]:
    """`fill:passes=1,idle_s=10m,crystaldiskmark:loops=5`: a name starts the next battery."""
    batteries: list[tuple[str, dict[str, str]]] = []
    for part in (piece.strip() for piece in text.split(",")):
        name, colon, rest = part.partition(":")
        starts = bool(colon) and "=" not in name
        if starts or "=" not in part:
            batteries.append((_meant(name), {}))
            part = rest
        if part:
            _set(batteries, text, part)
    for name, _ in batteries:
        if [other for other, _ in batteries].count(name) > 1:
            raise FlashtwinError(
                f"{name} is asked for twice; its findings would bear the same names",
                hint="name each battery once, or make two runs",
                exit_code=USAGE,
            )
    return [request(name, values) for name, values in batteries]


def _meant(word: str) -> str:
    """The battery that people mean by a word: cdm, AS-SSD."""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    return SHORT.get(plain, plain if plain in own() else word)


def _set(batteries: list[tuple[str, dict[str, str]]], text: str, part: str) -> None:
    """`key=value` belongs to the battery named last."""
    key, equals, value = (piece.strip() for piece in part.partition("="))
    if not batteries:
        raise FlashtwinError(
            f"{text!r} sets {key} before it names a battery", hint=_FORM, exit_code=USAGE
        )
    name, values = batteries[-1]
    if not equals or not key or not value:
        raise FlashtwinError(f"{name}: {part!r} is not key=value", hint=_FORM, exit_code=USAGE)
    if key in values:
        raise FlashtwinError(f"{name}: {key} is set twice", hint=_FORM, exit_code=USAGE)
    values[key] = value


_FORM = "write --battery NAME or --battery NAME:key=value,key=value; lists are joined with +"


def meanings() -> tuple[Meaning, ...]:
    """The texts of all batteries' findings, in the order in which they are tried."""
    own = (meaning for battery in available()[0] for meaning in meanings_of(battery.name))
    return (*_common(), *own)


def meaning_of(finding: Finding) -> Meaning | None:
    """The text for a finding; none where its battery is not installed or has no text for it."""
    known = (*_common(), *meanings_of(finding.battery))
    return next((entry for entry in known if entry.fits(finding.battery, finding.name)), None)


@cache
def _common() -> tuple[Meaning, ...]:
    return tuple(read(COMMON))


@cache
def meanings_of(name: str) -> tuple[Meaning, ...]:
    """The texts of one battery, so that a page imports no other; none where it cannot be used."""
    try:
        battery = get(name)
    except FlashtwinError:
        return ()
    return tuple(replace(meaning, battery=name) for meaning in battery.meanings())


def explain(word: str) -> Meaning:
    """The text for a finding's id, with or without its battery and variant; raises with what may
    have been meant."""
    stem = word.strip().partition("[")[0]
    if of_the_field := word_of(stem):
        stem = of_the_field.finding
    known = meanings()
    fitting = [meaning for meaning in known if fnmatchcase(stem, meaning.stem)]
    fitting += [meaning for meaning in known if meaning.name and meaning.name == stem]
    if not fitting and "." in stem:
        # `slowed_by.outside` without its battery.
        dotted = [meaning for meaning in known if "." in meaning.name]
        fitting = [meaning for meaning in dotted if fnmatchcase(stem, meaning.name)]
    if fitting:
        return fitting[0]
    # A word of people's own: that of a title, else of a text.
    texts = [meaning for meaning in known if stem.lower() in meaning.title.lower()]
    texts += [meaning for meaning in known if stem.lower() in meaning.means.lower()]
    if len(stem) >= LEAST_WORD and texts:
        return texts[0]
    usual = [replace(entry, name=entry.example or entry.name).stem for entry in known]
    near = get_close_matches(stem, usual, n=3, cutoff=0.4)
    near += [name for name in usual if stem and stem in name and name not in near]
    meant = f"did you mean {' or '.join(near[:3])}? " if near else ""
    raise FlashtwinError(
        f"no finding is called {word.strip()}",
        hint=f"{meant}flashtwin explain lists them all",
        exit_code=USAGE,
    )
