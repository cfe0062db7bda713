"""Batteries of other packages: what they are and give is checked, whatever they raise is told.

flashtwin's own batteries are held by its tests; another package's may do anything. `checked` looks
at what a battery is, `guarded` puts a guard before each of its functions. Invariants: what passes a
guard has the types that the rest of flashtwin counts on, and an end; what does not becomes a
`FlashtwinError` that names the package, the function, and how to do without.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass, replace
from itertools import islice
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import msgspec

from flashtwin.arguments import kind_of
from flashtwin.batteries.base import parameter
from flashtwin.batteries.base.declared import INSTRUMENTS, Clause, Forecast, Part
from flashtwin.batteries.base.meaning import Meaning
from flashtwin.errors import ENVIRONMENT, FlashtwinError, shortened
from flashtwin.model.finding import Finding
from flashtwin.model.step import Chain, Fill, Run, Step, Trim

if TYPE_CHECKING:
    from flashtwin.batteries.base.registry import Battery

T = TypeVar("T")

# What a function may give at most: more has no end.
MOST_VALUES = 100_000
# Steps in a row that ask for no request: a battery that asks for more waits for nothing.
MOST_IDLE = 10_000
_STEPS = get_args(Step)
_WORK = (Run, Fill, Trim, Chain)
# What a battery may raise that is told as its fault: an exit too, but never Ctrl-C.
FAULTS = (Exception, SystemExit)
_MESSAGE_SHOWN = 200
# Numbers of steps: of those there is one at least, these may be below zero, and none is larger.
_COUNTED, _SIGNED = {"block_bytes", "depth", "threads"}, {"add_bytes"}
_MOST_NUMBER, _MOST_SEED = 1 << 50, (1 << 64) - 1


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Who brings a battery, for messages."""

    battery: str
    package: str

    def unusable(self, why: str) -> FlashtwinError:
        """The error for a battery that is not offered at all."""
        return self._error(f"cannot be used: {why}")

    def failed(self, function: str, error: BaseException) -> FlashtwinError:
        """The error for what a function of a battery raised, with the place."""
        return self.wrong(function, f"fails, {told(error)}")

    def wrong(self, function: str, why: str) -> FlashtwinError:
        """The error for what a function of a battery does."""
        error = self._error(f"is broken: its {function} {why}")
        error.add_hint(f"to do without, leave {self.battery} out of --battery")
        return error

    def _error(self, why: str) -> FlashtwinError:
        return FlashtwinError(
            f"the battery {self.battery} of the package {self.package} {why}",
            hint=f"update {self.package}, or remove it: pip uninstall {self.package}",
            exit_code=ENVIRONMENT,
        )


def told(error: BaseException) -> str:
    """An exception in words, with the line that raised it."""
    try:
        text = shortened(" ".join(str(error).split()), _MESSAGE_SHOWN)
    except FAULTS:
        text = "it cannot say why"
    frames = extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{place}"


def checked(battery: Battery, origin: Origin) -> None:
    """Refuse a battery whose fields are not what they have to be."""
    for names, right, kind in _FIELDS:
        for name in names:
            value = getattr(battery, name)
            if not right(value):
                raise origin.unusable(f"its {name} is {_kind(value)} and not {kind}")
    try:
        parameter.rows(battery.parameters)
        parameter.plain(battery.parameters())
    except FAULTS as error:
        raise origin.unusable(f"its parameters cannot be made, {told(error)}") from error
    Guarded(origin, "meanings", battery.meanings, Meaning)()


def guarded(battery: Battery, origin: Origin) -> Battery:
    """The battery with a guard before each of its functions."""
    changes: dict[str, Any] = {
        "package": origin.package,
        "measure": GuardedSteps(origin, battery.measure),
        "conclude": GuardedFindings(origin, "conclude", battery.conclude, Finding),
        "departs": Guarded(origin, "departs", battery.departs, str),
        "parts": Guarded(origin, "parts", battery.parts, Part),
        "meanings": Guarded(origin, "meanings", battery.meanings, Meaning),
    }
    if battery.estimate is not None:
        changes["estimate"] = GuardedForecast(origin, battery.estimate)
    return replace(battery, **changes)


@dataclass(frozen=True)
class Guarded:
    """A function that gives several values of a kind."""

    origin: Origin
    name: str
    call: Callable[..., Any]
    kind: type

    def __call__(self, *arguments: Any) -> list[Any]:
        answer = called(self.origin, self.name, self.call, *arguments)
        return values_of(self.origin, self.name, answer, self.kind)


@dataclass(frozen=True)
class GuardedFindings(Guarded):
    """The function `conclude`: its findings are the battery's own, each of another id."""

    def __call__(self, *arguments: Any) -> list[Any]:
        findings = super().__call__(*arguments)
        ids: set[str] = set()
        for finding in findings:
            if finding.battery != self.origin.battery:
                why = f"gives a finding of the battery {finding.battery!r}"
                raise self.origin.wrong(self.name, why)
            if finding.id in ids:
                raise self.origin.wrong(self.name, f"gives two findings {finding.id!r}")
            ids.add(finding.id)
        return findings


@dataclass(frozen=True)
class GuardedForecast:
    """The function `estimate`."""

    origin: Origin
    call: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        answer = called(self.origin, "estimate", self.call, *arguments)
        if not isinstance(answer, Forecast):
            raise self.origin.wrong("estimate", f"gives {_kind(answer)} and no Forecast")
        expected, most = (
            values_of(self.origin, "estimate", steps, Step)
            for steps in (answer.expected, answer.most)
        )
        return Forecast(expected=expected, most=most)


@dataclass(frozen=True)
class GuardedSteps:
    """The function `measure`, a generator of steps."""

    origin: Origin
    call: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Generator[Any, Any, None]:
        going = called(self.origin, "measure", self.call, *arguments)
        if not isinstance(going, Generator):
            raise self.origin.wrong("measure", f"gives {_kind(going)} and no generator of steps")
        return self._steps(going)

    def _steps(self, going: Generator[Any, Any, Any]) -> Generator[Any, Any, None]:
        answer, idle = None, 0
        try:
            while True:
                try:
                    step = going.send(answer)
                except StopIteration:
                    return
                except (FlashtwinError, MemoryError):
                    raise
                except FAULTS as error:
                    raise self.origin.failed("measure", error) from error
                if why := wrong_step(step):
                    raise self.origin.wrong("measure", why)
                idle = 0 if isinstance(step, _WORK) else idle + 1
                if idle > MOST_IDLE:
                    why = f"asks for more than {MOST_IDLE:,} steps in a row without a request"
                    raise self.origin.wrong("measure", why)
                answer = yield step
        finally:
            # What it raises as it is closed hides nothing of what was told.
            with suppress(*FAULTS):
                going.close()


def called(origin: Origin, name: str, call: Callable[..., T], *arguments: Any) -> T:
    """What a function of a battery gives; its refusals are its own."""
    try:
        return call(*arguments)
    except (FlashtwinError, MemoryError):
        raise
    except FAULTS as error:
        raise origin.failed(name, error) from error


def values_of(origin: Origin, name: str, answer: Any, kind: Any) -> list[Any]:
    """The values that a function gave, each of a kind; an iterator is read, as far as one may."""
    kinds = "steps" if kind is Step else f"{kind.__name__} values"
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise origin.wrong(name, f"gives {_kind(answer)} and no list of {kinds}")
    values = called(origin, name, lambda: list(islice(answer, MOST_VALUES + 1)))
    if len(values) > MOST_VALUES:
        raise origin.wrong(name, f"gives more than {MOST_VALUES:,} values without an end")
    for value in values:
        if why := wrong_step(value) if kind is Step else wrong_value(value, kind):
            raise origin.wrong(name, why)
    return values


def wrong_step(step: Any) -> str | None:
    """What is wrong with a step; none where nothing is."""
    if not isinstance(step, _STEPS):
        return f"gives {_kind(step)} and no step"
    if isinstance(step, Chain):
        if not isinstance(step.label, str) or not isinstance(step.parts, tuple) or not step.parts:
            return "gives a Chain whose label is no text or whose parts are no tuple"
        return next(filter(None, map(wrong_step, step.parts)), None)
    if isinstance(step, Run) and not step.jobs:
        return f"gives the Run {step.label!r} without a job"
    return wrong_value(step, type(step)) or _out_of_bounds(asdict(step))


def _out_of_bounds(fields: Mapping[str, Any]) -> str | None:
    """The number of a step, or of its jobs, that no drive can be asked for."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            why = _out_of_bounds(value)
        elif isinstance(value, list | tuple):
            why = next(filter(None, (_out_of_bounds({name: item}) for item in value)), None)
        elif isinstance(value, int | float) and name not in _SIGNED:
            least = 1 if name in _COUNTED else 0
            most = _MOST_SEED if name == "seed" else _MOST_NUMBER
            why = None if least <= value <= most else f"gives a step whose {name} is {value}"
        else:
            why = None
        if why:
            return why
    return None


def wrong_value(value: Any, kind: Any) -> str | None:
    """What is wrong with a value that has to be of a kind; none where nothing is. Of a dataclass
    every field is looked at."""
    if not isinstance(value, kind):
        return f"gives {_kind(value)} and no {kind.__name__}"
    if is_dataclass(kind):
        try:
            msgspec.convert(asdict(value), kind)
        except FAULTS as error:
            why = shortened(str(error), _MESSAGE_SHOWN)
            return f"gives a {type(value).__name__} that is none: {why}"
    return None


def _kind(value: Any) -> str:
    return "None" if value is None else kind_of(value)


def _is_preset(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(word, str)
        and isinstance(row, Mapping)
        and all(isinstance(text, str) for pair in row.items() for text in pair)
        for word, row in value.items()
    )


_FIELDS: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
    (("name", "title", "trust", "program"), lambda value: isinstance(value, str), "a text"),
    (("parameters",), lambda value: isinstance(value, type) and is_dataclass(value), "a dataclass"),
    (("measure", "conclude", "departs", "parts", "meanings"), callable, "a function"),
    (("estimate",), lambda value: value is None or callable(value), "a function"),
    (
        ("present",),
        lambda value: value is None or isinstance(value, str) or callable(value),
        "a module's name or a function",
    ),
    (("configuration",), lambda value: value is None or isinstance(value, str), "a module's name"),
    (
        ("needs",),
        lambda value: isinstance(value, tuple) and all(need in list(INSTRUMENTS) for need in value),
        "a tuple of instruments",
    ),
    (("presets",), _is_preset, "texts by name and parameter"),
    (
        ("follows",),
        lambda value: (
            isinstance(value, list | tuple) and all(isinstance(row, Clause) for row in value)
        ),
        "a list of Clause",
    ),
)
