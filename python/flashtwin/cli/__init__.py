"""The command line: `app` lists the commands, and none of them decides anything."""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package above

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """One command; always leaves by `SystemExit` with one of the documented codes."""
    from flashtwin.cli.app import app

    app.main(args=None if arguments is None else list(arguments), prog_name="flashtwin")


def program() -> None:
    """The program `flashtwin`: `main`, and what a signal does before and after it.

    What is not yet loaded cannot say anything, so that this stands before every other import.
    """
    try:
        from flashtwin.runner import stop

        stop.program_begins()
        _one_thread_for_algebra()
        main()
    except KeyboardInterrupt:
        _interrupted()
    except Exception as error:
        # What could not be loaded, for one: Python's own code for it, 1, is that of a miss.
        from flashtwin.cli.app import failed

        raise SystemExit(failed(error)) from error
    finally:
        _end()


def _one_thread_for_algebra() -> None:
    """Keep OpenBLAS, which numpy loads, from starting a thread a core: nothing here multiplies
    matrices that are worth it, workers have the cores, and starting them takes half as long as
    all of numpy. What the user has set stays."""
    import os

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _interrupted() -> None:
    import os

    from flashtwin.errors import INTERRUPTED

    os.write(2, b"error: interrupted\n")
    raise SystemExit(INTERRUPTED)


def _end() -> None:
    """End the process. A signal while the interpreter shuts down would be shown as an error of
    flashtwin's."""
    from flashtwin.runner import stop

    stop.nothing_left()
    # A Ctrl-C within exec of a text (a dataclass is made so) has Python end itself by the signal,
    # whatever the exit code, unless another text has been run since.
    exec("")
