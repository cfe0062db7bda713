"""The base exception: what of it arrives where it is sent."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from flashtwin.catalogue.loader import BadSpecError
from flashtwin.drives.real.real_fio import FioError
from flashtwin.errors import ENVIRONMENT, FlashtwinError, UsageError
from flashtwin.fio.language.errors import JobFileError, Where
from flashtwin.inputs import InputError
from flashtwin.runner.replay import CannotGoOnError

MADE: list[Callable[[], FlashtwinError]] = [
    lambda: UsageError("it is so", hint="do this"),
    lambda: FlashtwinError("it is so", exit_code=ENVIRONMENT),
    lambda: InputError("there.csv", "it is empty", missing=True),
    lambda: JobFileError(Where(file="a.fio", line=3), "no such option"),
    lambda: BadSpecError("mine", []),
    lambda: CannotGoOnError("the drive is another", hint="begin anew"),
    lambda: FioError("Bad option <lat>"),
]


@pytest.mark.parametrize("make", MADE)
def test_a_worker_can_send_back_any_error(make: Callable[[], FlashtwinError]) -> None:
    """One whose making takes more than a message could not be read where it arrived, and whoever
    asked waited for ever."""
    error = make()
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert (str(sent), sent.hint, sent.exit_code) == (str(error), error.hint, error.exit_code)
    assert vars(sent) == vars(error)
