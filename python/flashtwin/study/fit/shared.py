"""A fit's search in a database: it can be resumed, and several machines can share it.

Every process that fits the same run with the same seed walks through the same search, batch by
batch. A batch's places are trials of an Optuna study: whoever comes first claims one, simulates it
and writes what came of it; nobody goes on before the batch is complete. Invariants: the answer is
that of one process without a database; a place is simulated again only where the process that
claimed it is gone, on this machine, or has not answered for `PATIENCE_S`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError

Floats = NDArray[np.float64]
Simulate = Callable[[Sequence[Floats]], list[Floats]]

PATIENCE_S = 120.0
# Between two looks at what others have done.
LOOK_S = 0.05
LOCKED_S = 60.0
TRIES = 5


@dataclass(kw_only=True)
class Shared:
    """One search in a study. `simulated`: places that this process has simulated itself.

    `study` and the trials in it are Optuna's, `engine` is SQLAlchemy's.
    """

    study: Any
    engine: Any
    patience_s: float = PATIENCE_S
    simulated: int = 0
    _batches: int = field(default=0, init=False)
    _known: dict[tuple[int, int], Floats] = field(default_factory=dict, init=False)

    def close(self) -> None:
        """Let the database go; SQLite then puts what is in its log into the file."""
        self.study._storage.remove_session()
        self.engine.dispose()

    def through(
        self, names: Sequence[str], places: Sequence[Floats], simulate: Simulate
    ) -> list[Floats]:
        """What `simulate` gives for each place, whoever simulated it."""
        batch = self._batches
        self._batches += 1
        keys = [(batch, index) for index in range(len(places))]
        if any(key not in self._known for key in keys):
            self._read()
        if any(key not in self._known for key in keys):
            self._complete(batch, names, places, simulate)
        return [self._known[key] for key in keys]

    def _complete(
        self, batch: int, names: Sequence[str], places: Sequence[Floats], simulate: Simulate
    ) -> None:
        trials = self._entered(batch, names, places)
        waited_from = time.monotonic()
        while True:
            open_ = [index for index in range(len(places)) if (batch, index) not in self._known]
            if not open_:
                return
            late = time.monotonic() - waited_from > self.patience_s
            claimed_here = self._claim(trials, open_, late)
            if claimed_here:
                self._simulate(batch, claimed_here, trials, places, simulate)
                waited_from = time.monotonic()
            else:
                time.sleep(LOOK_S)
                self._read()

    def _entered(
        self, batch: int, names: Sequence[str], places: Sequence[Floats]
    ) -> dict[int, Any]:
        """The batch's trials by index; they are made where there are none."""
        entered = self._trials(batch)
        lacking = [index for index in range(len(places)) if index not in entered]
        if lacking:
            for index in lacking:
                self.study.add_trial(_trial(batch, index, names, places[index]))
            # Another process may have made them too: of each the first counts.
            entered = self._trials(batch)
        return entered

    def _trials(self, batch: int) -> dict[int, Any]:
        first: dict[int, Any] = {}
        trials = self.study.get_trials(deepcopy=False)
        for trial in sorted(trials, key=lambda trial: trial.number):
            if trial.user_attrs.get("batch") == batch:
                first.setdefault(trial.user_attrs["index"], trial)
        return first

    def _claim(self, trials: dict[int, Any], open_: Sequence[int], late: bool) -> list[int]:
        """Places for this process, as many as it has cores: free, or of a process that is gone."""
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        storage = self.study._storage
        claimed_here: list[int] = []
        for index in open_:
            if len(claimed_here) == (os.cpu_count() or 1):
                break
            trial_id = trials[index]._trial_id
            try:
                claimed = storage.set_trial_state_values(trial_id, TrialState.RUNNING)
                if claimed:
                    storage.set_trial_user_attr(trial_id, "by", _process())
                elif not late and not _is_gone(storage.get_trial(trial_id).user_attrs.get("by")):
                    continue
            except UpdateFinishedTrialError:
                continue
            claimed_here.append(index)
        return claimed_here

    def _simulate(
        self,
        batch: int,
        claimed_here: Sequence[int],
        trials: dict[int, Any],
        places: Sequence[Floats],
        simulate: Simulate,
    ) -> None:
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        storage = self.study._storage
        answers = simulate([places[index] for index in claimed_here])
        self.simulated += len(claimed_here)
        for index, apart in zip(claimed_here, answers, strict=True):
            self._known[batch, index] = apart
            trial_id = trials[index]._trial_id
            state = TrialState.COMPLETE if apart.size else TrialState.FAIL
            values = [float(np.sum(np.square(apart)))] if apart.size else None
            try:
                storage.set_trial_user_attr(trial_id, "apart", [float(at) for at in apart])
                storage.set_trial_state_values(trial_id, state, values=values)
            except UpdateFinishedTrialError:
                # Somebody took this process for gone: the answer is the same.
                continue

    def _read(self) -> None:
        """All that is known by now."""
        for trial in self.study.get_trials(deepcopy=False):
            has = trial.user_attrs
            if trial.state.is_finished() and "apart" in has:
                key = has["batch"], has["index"]
                self._known.setdefault(key, np.array(has["apart"], dtype=np.float64))


def _trial(batch: int, index: int, names: Sequence[str], place: Floats) -> Any:
    """A trial to be claimed. As Optuna's parameters a place would cost more than to simulate it."""
    from optuna.trial import TrialState, create_trial

    values = {name: float(at) for name, at in zip(names, place, strict=True)}
    attributes = {"batch": batch, "index": index, "place": values}
    return create_trial(state=TrialState.WAITING, user_attrs=attributes)


def _process() -> str:
    return f"{socket.gethostname()} {os.getpid()}"


def _is_gone(process: str | None) -> bool:
    """Whether a process of this machine has ended; of another machine nobody knows."""
    host, _, number = (process or "").rpartition(" ")
    if host != socket.gethostname() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def opened(place: str, title: str, search: Any) -> Shared:
    """The study of a search (JSON: all that decides how it goes) in a file or at a database's URL.

    Several searches have room in one database: each has a study of its own.
    """
    try:
        import optuna
        from sqlalchemy import exc
        from sqlalchemy.event import listen
    except ImportError as error:
        raise FlashtwinError(
            "a search in a database needs Optuna",
            hint="pip install 'flashtwin[fit]'",
            exit_code=ENVIRONMENT,
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    digest = hashlib.sha256(json.dumps(search, sort_keys=True).encode()).hexdigest()
    url = place if "://" in place else f"sqlite:///{_file(place)}"
    timeout = {"connect_args": {"timeout": LOCKED_S}} if url.startswith("sqlite") else {}
    for number in range(TRIES):
        try:
            storage = optuna.storages.RDBStorage(url, engine_kwargs=timeout)
            if url.startswith("sqlite"):
                listen(storage.engine, "connect", _without_waits)
                listen(storage.engine, "begin", _alone)
                storage.engine.dispose()
            study = optuna.create_study(
                storage=storage, study_name=f"{title} {digest[:12]}", load_if_exists=True
            )
            return Shared(study=study, engine=storage.engine)
        except (exc.OperationalError, exc.IntegrityError) as error:
            # Two processes that begin at once make its tables at once.
            if number + 1 == TRIES:
                raise _no_database(error) from error
            time.sleep(0.2 * math.exp(number / 2))
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError) as error:
            raise _no_database(error) from error
    raise AssertionError("the last try returns or raises")


def _without_waits(connection: Any, _record: Any) -> None:
    """A commit does not wait for the disk: a search whose last places are lost makes them again."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    # The driver would begin a transaction only with a write, after what it read to claim a place.
    connection.isolation_level = None


def _alone(connection: Any) -> None:
    """SQLite locks no rows: two processes could claim one place."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _file(place: str) -> Path:
    path = Path(place).absolute()
    if not path.parent.is_dir():
        raise FlashtwinError(
            f"{path.parent} is no folder", hint="make it, or name another file", exit_code=USAGE
        )
    return path


def _no_database(error: Exception) -> FlashtwinError:
    # The address may carry a password, and SQLAlchemy's texts quote it: only the kind is told.
    return FlashtwinError(
        f"the database of --study cannot be opened: {type(error).__name__}",
        hint="name a file, such as fit.db, or a URL of SQLAlchemy, such as sqlite:////tmp/fit.db",
        exit_code=USAGE,
    )
