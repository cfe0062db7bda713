"""Campaigns of hostile cases: seeds handed to workers, failures counted, kept and shown again.

A case is a kind and a seed, nothing else: the same two give the same input. The workers are forked
from one process that has imported flashtwin and run nothing of it.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from pkgutil import walk_packages

from promises import signature
from sandbox import Sandbox, become_subreaper, block_device

Case = Callable[[Sandbox], None]
PROGRESS_S = 2.0
_LATER = ("duckdb", "jinja2", "rich.console")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a kind of cases tries; `prepare` makes once, with the program, what they begin from.

    `slow`: that alone takes most of a minute, and only who names the kind waits for it.
    """

    name: str
    tries: str
    case: Case
    prepare: Callable[[Path], None] | None = None
    slow: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of one case; `kept` is where its input lies, of one that failed."""

    seed: int
    failures: tuple[str, ...]
    calls: int
    seconds: float
    worst_s: float
    worst_cpu_s: float
    worst_bytes: int
    kept: Path | None = None


@dataclass(kw_only=True)
class Tally:
    """The cases of one kind together."""

    kind: str
    seconds: float = 0.0
    cases: int = 0
    calls: int = 0
    worst_s: float = 0.0
    worst_cpu_s: float = 0.0
    worst_bytes: int = 0
    failed: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        """Count a case."""
        self.cases += 1
        self.calls += verdict.calls
        self.worst_s = max(self.worst_s, verdict.worst_s)
        self.worst_cpu_s = max(self.worst_cpu_s, verdict.worst_cpu_s)
        self.worst_bytes = max(self.worst_bytes, verdict.worst_bytes)
        if verdict.failures:
            self.failed.append(verdict)

    def causes(self) -> dict[str, list[Verdict]]:
        """Failures that read alike, together."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.failed:
            for one in dict.fromkeys(signature(failure) for failure in verdict.failures):
                found.setdefault(one, []).append(verdict)
        return found


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much of one kind is tried: from a seed, so many cases or so long, whatever ends first."""

    kind: Kind
    seed: int
    cases: int | None
    seconds: float | None
    jobs: int
    keep: Path


def run(plan: Plan, say: Callable[[str], None]) -> Tally:
    """Try a kind."""
    tally = Tally(kind=plan.kind.name)
    with _place() as place, ExitStack() as devices:
        prepared = place / "prepared"
        prepared.mkdir()
        if plan.kind.prepare is not None:
            plan.kind.prepare(prepared)
        _import_all()
        began = time.monotonic()
        workers = []
        for number in range(plan.jobs):
            block = devices.enter_context(block_device(place / f"device-{number}"))
            workers.append(_started(plan, number, place / f"worker-{number}", prepared, block))
        try:
            for verdict in _verdicts(workers, plan, tally, began, say):
                tally.add(verdict)
        finally:
            for process, _ in workers:
                process.terminate()
                process.join(5)
            gc.unfreeze()
        tally.seconds = time.monotonic() - began
    return tally


@contextmanager
def _place() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="flashtwin-abuse-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _import_all() -> None:
    """All of flashtwin, and what it imports when it needs it: a case finds it there."""
    import flashtwin

    ours = (module.name for module in walk_packages(flashtwin.__path__, "flashtwin."))
    for name in (*ours, *_LATER):
        if not name.endswith("__main__"):
            import_module(name)
    # What is there now is nobody's garbage: a child that looks at it would copy it.
    gc.collect()
    gc.freeze()


def _started(plan: Plan, number: int, folder: Path, prepared: Path, block: str | None):
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    work = (theirs, plan, number, folder, prepared, block)
    process = context.Process(target=_worker, args=work, daemon=False)
    process.start()
    theirs.close()
    return process, ours


def _worker(
    pipe: Connection, plan: Plan, number: int, folder: Path, prepared: Path, block: str | None
) -> None:
    """Tries every `jobs`-th seed until the time is over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    become_subreaper()
    began, seed = time.monotonic(), plan.seed + number
    while plan.cases is None or seed < plan.seed + plan.cases:
        if plan.seconds is not None and time.monotonic() - began >= plan.seconds:
            break
        pipe.send(seed)
        pipe.send(_tried(plan, seed, folder / str(seed), prepared, block))
        seed += plan.jobs
    pipe.close()


def _tried(plan: Plan, seed: int, folder: Path, prepared: Path, block: str | None) -> Verdict:
    began = time.monotonic()
    box = Sandbox(kind=plan.kind.name, seed=seed, folder=folder, prepared=prepared, block=block)
    try:
        plan.kind.case(box)
    except Exception:
        # A case that does not work is no finding about flashtwin, and must not pass for none.
        box.fail(f"the case itself failed: {traceback.format_exc()}")
    box.look_around()
    kept = _kept(plan, box) if box.failures else None
    box.remove()
    return Verdict(
        seed=seed,
        failures=tuple(box.failures),
        calls=len(box.outcomes),
        seconds=time.monotonic() - began,
        worst_s=max((one.wall_s for one in box.outcomes), default=0.0),
        worst_cpu_s=max((one.cpu_s for one in box.outcomes), default=0.0),
        worst_bytes=max((one.rss_bytes for one in box.outcomes), default=0),
        kept=kept,
    )


def _kept(plan: Plan, box: Sandbox) -> Path:
    """The folder of a failed case where it can be looked at."""
    kept = plan.keep / f"{plan.kind.name}-{box.seed}"
    shutil.rmtree(kept, ignore_errors=True)
    plan.keep.mkdir(parents=True, exist_ok=True)
    told = [*box.failures, "", *(" ".join(one.arguments) for one in box.outcomes)]
    text = "\n".join(told) + f"\nreplay: {replay(plan.kind.name, box.seed)}\n"
    (box.folder / "failures.txt").write_text(text, errors="backslashreplace")
    for path in box.folder.rglob("*"):
        if not (path.is_dir() or path.is_file() or path.is_symlink()):
            path.unlink()
    shutil.move(box.folder, kept)
    return kept


def replay(kind: str, seed: int) -> str:
    """What to type to see a case again."""
    return f"./dev abuse --kind {kind} --seed {seed}"


def _verdicts(
    workers: Sequence[tuple[object, Connection]],
    plan: Plan,
    tally: Tally,
    began: float,
    say: Callable[[str], None],
) -> Iterator[Verdict]:
    pipes = {pipe: plan.seed for _, pipe in workers}
    told = began
    while pipes:
        for pipe in wait(list(pipes), timeout=0.5):
            assert isinstance(pipe, Connection)
            try:
                message = pipe.recv()
            except EOFError:
                if (lost := pipes.pop(pipe)) is not None:
                    yield _lost(lost)
                continue
            if isinstance(message, Verdict):
                pipes[pipe] = None
                yield message
            else:
                pipes[pipe] = message
        if time.monotonic() - told > PROGRESS_S:
            told = time.monotonic()
            say(f"{plan.kind.name}: {_progress(plan, tally, told - began)}")


def _lost(seed: int) -> Verdict:
    why = "the worker that tried it was killed"
    nothing = {"calls": 0, "seconds": 0.0, "worst_s": 0.0, "worst_cpu_s": 0.0, "worst_bytes": 0}
    return Verdict(seed=seed, failures=(why,), **nothing)


def _progress(plan: Plan, tally: Tally, spent: float) -> str:
    shares = [0.0]
    if plan.cases:
        shares.append(tally.cases / plan.cases)
    if plan.seconds:
        shares.append(spent / plan.seconds)
    share = min(max(shares), 1.0)
    left = f", about {spent / share - spent:.0f} s left" if share > 0 else ""
    return f"{tally.cases} cases, {len(tally.failed)} failed{left}"


def table(tallies: Sequence[Tally]) -> str:
    """How much was tried, and what did not hold."""
    columns = ("cases", "commands", "seconds", "worst s", "worst cpu", "MiB", "failed")
    head = f"{'kind':<10}" + "".join(f"{name:>10}" for name in columns)
    rows = [
        f"{one.kind:<10}{one.cases:>10}{one.calls:>10}{one.seconds:>10.1f}{one.worst_s:>10.1f}"
        f"{one.worst_cpu_s:>10.1f}{one.worst_bytes / 2**20:>10.0f}{len(one.failed):>10}"
        for one in tallies
    ]
    return "\n".join([head, *rows])


def failures(tallies: Sequence[Tally]) -> Iterator[str]:
    """Each cause once, how often, and how to see one of its cases again."""
    for tally in tallies:
        for cause, verdicts in sorted(tally.causes().items(), key=lambda row: -len(row[1])):
            first = verdicts[0]
            sentence = next(one for one in first.failures if signature(one) == cause)
            yield f"{tally.kind}, {len(verdicts)}x: {sentence}"
            yield f"    replay: {replay(tally.kind, first.seed)}   input: {first.kept}"


def kinds() -> Mapping[str, Kind]:
    """All kinds, by name."""
    from kinds import KINDS

    return {kind.name: kind for kind in KINDS}


def main_say(message: str) -> None:
    """Progress goes to stderr."""
    print(message, file=sys.stderr, flush=True)


def default_jobs() -> int:
    """As many workers as processors."""
    return len(os.sched_getaffinity(0))
