"""The group of all commands, and the one place where an exception becomes a message and a code.

Invariants: what went wrong is said on stderr as `error: …` and `hint: …`, never with a traceback
for something that the user can act on; a fault of our own says before its traceback how to report
it; stdout holds data only, so a pipe that closes early ends the program quietly; the exit codes are
those of `flashtwin.errors`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import click

from flashtwin.cli import terminal
from flashtwin.errors import (
    DONE,
    ENVIRONMENT,
    INTERRUPTED,
    OUR_FAULT,
    USAGE,
    FlashtwinError,
    with_short_words,
)

EPILOG = """\b
Examples:
  flashtwin test bx500-240 bx500-240-nocache --battery fill,crystaldiskmark
  flashtwin test /mnt/ssd/probe --size 4GB --battery fill
  flashtwin show bx500-240

Exit codes: 0 done, 1 a miss, 2 usage, 3 environment, 4 refused for safety, 70 a fault of
flashtwin's own, 130 interrupted.
"""

_COMPILED = "flashtwin._core"
_INSTALL_AGAIN = (
    "install it again in a new environment, from a wheel for this system (python -m pip debug"
    " --verbose lists their tags) or in a checkout, where ./dev wheel makes one for glibc 2.17"
)

# Other packages add commands by entry points of this group; a checkout's laboratory does.
GROUP = "flashtwin.commands"
# Where each command is, and its line in the help; its module is imported when it is asked for.
COMMANDS = {
    "demo": ("demo.command", "Two simulated drives in a minute: five lines and a page."),
    "drives": ("drives.drives", "List the drives of the catalogue."),
    "show": ("drives.show", "The values of a drive, with origin and source."),
    "new": ("drives.new", "Write a spec from what a drive's label says."),
    "check": ("drives.check", "Check a spec or a catalogue; all errors at once."),
    "diff": ("drives.diff", "The values in which two drives differ."),
    "batteries": ("batteries.batteries", "List the batteries, or the parameters of one."),
    "explain": ("batteries.explain", "What a finding means and how it is found."),
    "test": ("test.command", "Run batteries on drives or files; the main job."),
    "review": ("review.command", "What a review runs, on drives side by side: one page."),
    "sweep": ("sweep.command", "Run a battery over a grid of a drive's variants."),
    "play": ("play.command", "A page with a drive to change, filled anew at once."),
    "report": ("report.command", "Make the report of runs anew."),
    "conclude": ("conclude.command", "A stored run's findings again, with today's analysis."),
    "runs": ("runs.command", "List, show and prune stored runs."),
    "rank": ("rank.command", "Drives by their own runs: bars, spread, a golden run."),
    "compare": ("compare.command", "Runs side by side: what differs, and by how much."),
    "same": ("same.command", "How likely a drive is built as the one of a run."),
    "export": ("export.command", "A run as CSV, Parquet or fio's JSON."),
    "submit": ("submit.command", "A measured run as a folder for a catalogue."),
    "fio": ("fio.command", "Run fio job files on a simulated drive, as fio would."),
    "record": (
        "record.command",
        "What a process or a host asks of its disk, as a trace.",
    ),
    "trace": ("trace.command", "What is in a trace: mix, sizes, order, places, syncs."),
    "ask": ("ask.command", "How long drives last under a load, and what it does to them."),
    "cost": ("cost.command", "What a trace costs on a drive, without noise: time, flash bytes."),
    "icf": ("icf.command", "Iometer's configuration files as a battery, and the other way."),
    "timeline": ("timeline.command", "A stretch of time, operation by operation, for Perfetto."),
    "serve": ("serve.command", "A simulated drive as a block device, with real data."),
    "ctl": ("ctl.command", "Cut the power of a drive that is served, or break it."),
    "replay": ("replay.command", "Ask a drive again for what a served one was asked."),
    "infer": ("infer.command", "What a fill measured elsewhere shows: fio logs, CSV."),
    "smart": ("smart.command", "What a drive's SMART data mean, in sentences."),
    "identify": ("identify.command", "What a device says that it is."),
    "doctor": ("doctor.command", "What this machine may do with drives, and how to get the rest."),
    "fit": ("fit.command", "A twin of what a run measured: a spec with intervals."),
    "help": ("help.command", "The help of a command, or a page, such as fio-options."),
    "completions": ("completions.command", "What a shell reads to complete these commands."),
    "cache": ("cache.command", "List or clear the prepared drives that are kept."),
}

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


class App(click.Group):
    """click's group with this project's messages and exit codes."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run a command and leave with its exit code; the other arguments are click's."""
        # stdout and stderr are None where the shell closed them (>&-).
        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - until the end
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 - until the end
        code = _guarded(
            lambda: super(App, self).main(
                args, prog_name, complete_var, standalone_mode=False, **extra
            )
        )
        sys.exit(code)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's, which would import every command for its line."""
        lines = {name: line for name, (_, line) in COMMANDS.items()}
        lines |= {name: _line(point) for name, point in _points().items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted(lines.items()))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """As click's, which would take a broken pipe for a failure (code 1, here a miss)."""
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            raise _Quiet from None

    def invoke(self, ctx: click.Context) -> Any:
        """As click's; see `make_context`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _Quiet from None


class _Commands(MutableMapping[str, click.Command]):
    """Commands by name, each imported when it is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = _ours(name) if name in COMMANDS else _added(_points()[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*COMMANDS, *_points(), *self._loaded]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _ours(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(".")
    command = getattr(import_module(f"flashtwin.cli.{module}"), attribute)
    assert isinstance(command, click.Command)
    return command


@cache
def _points() -> Mapping[str, EntryPoint]:
    """The commands of other packages; none of them takes the place of one of ours."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    return {name: point for name, point in sorted(points.items()) if name not in COMMANDS}


def _line(point: EntryPoint) -> str:
    """What the help says of a command of another package; one that is broken breaks no help."""
    try:
        return _added(point).get_short_help_str(100)
    except FlashtwinError as error:
        return error.message


def _added(point: EntryPoint) -> click.Command:
    package = point.dist.name if point.dist else point.value
    try:
        command = point.load()
    except Exception as error:
        raise FlashtwinError(
            f"the command {point.name} of the package {package} cannot be loaded: {error}",
            hint=f"to leave it out: pip uninstall {package}",
            exit_code=ENVIRONMENT,
        ) from error
    if not isinstance(command, click.Command):
        raise FlashtwinError(
            f"the command {point.name} of the package {package} is no command of click",
            hint=f"to leave it out: pip uninstall {package}",
            exit_code=ENVIRONMENT,
        )
    return command


class _Quiet(Exception):  # noqa: N818 - nothing went wrong with us
    """Whoever reads our output has closed the pipe."""


def _guarded(work: Callable[[], object]) -> int:
    """Run a command and print its error, if there is one; the answer is the exit code."""
    try:
        result = work()
        sys.stdout.flush()
        return result if isinstance(result, int) else DONE
    except (_Quiet, BrokenPipeError):
        _give_up_stdout()
        return DONE
    except OSError as error:
        return _outside(error)
    except click.exceptions.NoArgsIsHelpError as error:
        terminal.note(error.format_message())
        return USAGE
    except click.ClickException as error:
        say_error(" ".join(error.format_message().split()).rstrip("."), _usage_hint(error))
        return USAGE
    except FlashtwinError as error:
        _say_all(error)
        return error.exit_code
    except MemoryError as error:
        from flashtwin.drives.memory import lacking

        _say_all(lacking(error))
        return ENVIRONMENT
    except click.Abort:
        say_error("interrupted", None)
        return INTERRUPTED
    except Exception as error:
        from flashtwin.model.target import Interrupted

        if isinstance(error.__cause__, KeyboardInterrupt):
            # A signal while a class was made, which until Python 3.12 comes as a RuntimeError.
            say_error("interrupted", None)
            return INTERRUPTED
        if not isinstance(error, Interrupted):
            return failed(error)
        say_error(f"interrupted: {error}", None)
        return INTERRUPTED
    except BaseException as error:
        # A panic of the core comes as an exception that is none of Python's own kinds.
        if type(error).__name__ != "PanicException":
            raise
        return our_fault(error)


def failed(error: BaseException) -> int:
    """Say what nobody turned into a sentence: an installation that lacks something, or a fault."""
    if isinstance(error, ImportError) and (part := _unusable_part(error)):
        say_error(f"this installation of flashtwin cannot be used: {part}", _INSTALL_AGAIN)
        return ENVIRONMENT
    return our_fault(error)


def _unusable_part(error: ImportError) -> str | None:
    """What cannot be loaded: a package that is not there, or a library that this system refuses,
    as one that was built for a newer glibc. None where a module of ours asks for a wrong name."""
    links: list[BaseException] = [error]
    while (cause := links[-1].__cause__ or links[-1].__context__) is not None:
        links.append(cause)
    for link in reversed(links):
        if not isinstance(link, ImportError):
            continue
        text = " ".join(str(link).split())
        if (link.path or "").endswith((".so", ".pyd", ".dylib")) or link.name == _COMPILED:
            return text
        if isinstance(link, ModuleNotFoundError) and not (link.name or "").startswith("flashtwin"):
            return text
    return None


def our_fault(error: BaseException) -> int:
    """Say that flashtwin itself failed, how to report it, and what is needed to mend it."""
    from traceback import format_exception

    name, text = type(error).__name__, " ".join(str(error).split())
    say_error(
        f"flashtwin itself failed, {name}{': ' if text else ''}{text}",
        "this is a fault of flashtwin's: report it with the command, the output of"
        " flashtwin --version and the lines below",
    )
    terminal.note("".join(format_exception(error)).rstrip())
    return OUR_FAULT


def _outside(error: OSError) -> int:
    """Report an error of the system that nobody turned into a sentence, such as a path that is
    too long or a full stdout. One with neither a path nor a full disk is a fault of ours."""
    if error.filename is not None:
        path = error.filename if isinstance(error.filename, str) else repr(error.filename)
        why = error.strerror or str(error)
        say_error(f"{path}: {why}", "check the path and what may be done there")
        return ENVIRONMENT
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        say_error("the working directory is gone", "cd to a directory that is there")
        return ENVIRONMENT
    if error.errno not in _FULL:
        return our_fault(error)
    _give_up_stdout()
    say_error(f"cannot write to stdout: {os.strerror(error.errno)}", "make room where it goes")
    return ENVIRONMENT


def _is_nowhere() -> bool:
    """True where this process stands in a directory that was removed or unmounted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _give_up_stdout() -> None:
    """Python flushes stdout once more when it ends, and must not fail there again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_error(message: str, hint: str | None) -> None:
    """Print an error, and a hint on what to do."""
    terminal.note(with_short_words(message), head="error:", colour="red")
    _say_hint(hint)


def _say_hint(hint: str | None) -> None:
    if hint:
        terminal.note(terminal.typed(hint), head="hint:", colour="cyan")


def _say_all(error: FlashtwinError) -> None:
    from flashtwin.catalogue.loader import BadSpecError

    issues = error.issues if isinstance(error, BadSpecError) else ()
    if isinstance(error, BadSpecError) and len(issues) == 1 and issues[0].line is None:
        # A single error of a setting on the command line needs no heading with a count.
        say_error(f"{error.target}: {issues[0].text}", issues[0].hint)
        return
    for issue in issues:
        terminal.note(issue.text)
        _say_hint(issue.hint)
    say_error(error.message, error.hint)


def _usage_hint(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return f"{context.command_path} --help" if context is not None else None


def show_version(context: click.Context, param: click.Parameter, wanted: bool) -> None:
    """The callback of --version; what it shows is loaded when it is asked for."""
    if wanted and not context.resilient_parsing:
        from flashtwin.cli.version import text

        terminal.say(text())
        context.exit()


@click.group(
    "flashtwin",
    cls=App,
    commands=_Commands(),
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show version, model, commit and build.",
)
def app() -> None:
    """Measure an SSD, infer what it hides, and simulate it.

    A target is a drive of the catalogue (flashtwin drives), a spec file ending in .toml, or a path:
    then a file is made there and measured with fio.
    """
