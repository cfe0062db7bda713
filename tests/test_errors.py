"""The base exception: what of it arrives where it is sent."""

from __future__ import annotations

import pickle

import pytest

from flashtwin.catalogue.loader import BadSpecError
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.errors import JobFileError, Where
from flashtwin.inputs import InputError
from flashtwin.runner.replay import CannotGoOnError


def _every(kind: type[FlashtwinError]) -> list[type[FlashtwinError]]:
    return [kind, *(each for below in kind.__subclasses__() for each in _every(below))]


MADE = {
    "InputError": lambda: InputError("there.csv", "it is empty", missing=True),
    "JobFileError": lambda: JobFileError(Where(file="a.fio", line=3), "no such option"),
    "BadSpecError": lambda: BadSpecError("mine", []),
    "CannotGoOnError": lambda: CannotGoOnError("the drive is another", hint="begin anew"),
}


@pytest.mark.parametrize("kind", _every(FlashtwinError), ids=lambda kind: kind.__name__)
def test_a_worker_can_send_back_any_error(kind: type[FlashtwinError]) -> None:
    """One whose making takes more than a message could not be read where it arrived, and whoever
    asked waited for ever."""
    make = MADE.get(kind.__name__, lambda: kind("it is so", hint="do this"))
    error = make()
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert (str(sent), sent.hint, sent.exit_code) == (str(error), error.hint, error.exit_code)
    assert vars(sent) == vars(error)
