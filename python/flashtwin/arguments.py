"""What a program passes to flashtwin, held against what the function says that it takes.

A program may pass anything where the command line has text. Invariant: an argument that is of no
type which its annotation names is a `FlashtwinError` with the parameter's name, raised before the
function does anything; so is text that can be no name of a file, and a number that is none.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from operator import index
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError, shortened
from flashtwin.inputs import is_text

P = ParamSpec("P")
R = TypeVar("R")

_SHOWN = 60
_LISTS = (Sequence, list, tuple)
_WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "None",
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which looks at its arguments before it does anything."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        check(function, arguments, options)
        with _system_errors():
            return function(*arguments, **options)

    return call


@contextmanager
def _system_errors() -> Iterator[None]:
    """What the system says of a path that was passed: the command line's words for it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        path = error.filename if isinstance(error.filename, str) else repr(error.filename)
        raise FlashtwinError(
            f"{path}: {error.strerror or error}",
            hint="check the path and what may be done there",
            exit_code=ENVIRONMENT,
        ) from error


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which looks at its arguments once something went wrong: for what is called a
    million times and does nothing before it has looked at them itself."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            return function(*arguments, **options)
        except (TypeError, ValueError, OverflowError, AttributeError):
            check(function, arguments, options)
            raise

    return call


def check(
    function: Callable[..., Any], arguments: Sequence[object], options: Mapping[str, object]
) -> None:
    """Refuse arguments that a function does not take."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*arguments, **options)
    except TypeError as error:
        raise FlashtwinError(
            f"{_called(function)}: {error}",
            hint=f"it takes {', '.join(name for name in signature.parameters if name != 'self')}",
            exit_code=USAGE,
        ) from None
    forms = _forms(function)
    for name, value in bound.arguments.items():
        if name not in forms:
            continue
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        for each in value if several else (value,):
            if why := _wrong(each, forms[name]):
                raise FlashtwinError(
                    f"{name} {why}",
                    hint=f"{_called(function)} takes {_named(forms[name])} for {name}",
                    exit_code=USAGE,
                )


@cache
def _forms(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's parameters, but for columns, which NumPy looks at."""
    names = inspect.unwrap(function).__globals__
    return {
        name: eval(text, names) if isinstance(text, str) else text
        for name, text in function.__annotations__.items()
        if name != "return" and "ArrayLike" not in str(text)
    }


def _called(function: Callable[..., Any]) -> str:
    return function.__qualname__.removesuffix(".__init__")


def _wrong(value: object, form: Any) -> str | None:
    """What is wrong with a value; none where it is of the form."""
    if not _fits(value, form):
        return f"is {_shown(value)}, {kind_of(value)}"
    return _odd(value)


def _fits(value: Any, form: Any) -> bool:
    if form is Any or form is object or isinstance(form, TypeVar):
        return True
    if form is None or form is NoneType:
        return value is None
    origin, inside = get_origin(form), get_args(form)
    if origin in (Union, UnionType):
        return any(_fits(value, one_of) for one_of in inside)
    if origin is Literal:
        return isinstance(value, str | int) and value in inside
    if origin in _LISTS:
        return _is_list(value, origin) and all(_fits(item, inside[0]) for item in value)
    if origin is Iterable:
        return isinstance(value, Iterable) and not isinstance(value, bytes | str)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, inside[0]) and _fits(item, inside[1]) for key, item in value.items()
        )
    if origin is not None:
        return isinstance(value, origin)
    if form is int:
        return _is_whole(value)
    if form is float:
        return isinstance(value, float) or _fits(value, int)
    return isinstance(value, form)


def _is_whole(value: object) -> bool:
    """Whether a value is a whole number, also one of NumPy's."""
    try:
        index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not isinstance(value, bool)


def _is_list(value: object, origin: Any) -> bool:
    if origin is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return isinstance(value, origin)


def _odd(value: object) -> str | None:
    """Why a value of the right type can be no answer all the same."""
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        if isinstance(text, bytes) or "\0" in text or not is_text(text):
            return f"is {_shown(value)}, which can be no name"
    if isinstance(value, float) and not math.isfinite(value):
        return f"is {value}, which is not a number"
    if isinstance(value, list | tuple):
        return next(filter(None, map(_odd, value)), None)
    if isinstance(value, Mapping):
        return next(filter(None, (_odd(item) for pair in value.items() for item in pair)), None)
    return None


def _shown(value: object) -> str:
    try:
        return shortened(ascii(value), _SHOWN)
    except Exception:
        # Even how a value shows itself may fail.
        return "something"


def kind_of(value: object) -> str:
    """The type of a value, with its article."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _named(form: Any) -> str:
    """A type in words."""
    origin, inside = get_origin(form), get_args(form)
    if origin in (Union, UnionType):
        words = list(dict.fromkeys(map(_named, inside)))
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    if origin is Literal:
        return " or ".join(map(repr, inside))
    if origin in (*_LISTS, Iterable):
        return f"a list of {_named(inside[0]).removeprefix('a ')}" if inside else "a list"
    if origin is Mapping:
        return "a mapping"
    if origin is not None:
        return "a function" if origin.__name__ == "Callable" else str(origin.__name__)
    if form is None:
        return "None"
    return _WORDS.get(form) or ("a path" if form.__name__ == "Path" else f"a {form.__name__}")
