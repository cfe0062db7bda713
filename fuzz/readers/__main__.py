"""`./dev fuzz jobfile|run|journal`: what reads files from outside, against what atheris makes up.

atheris is libFuzzer for Python: it sees which lines an input reaches, and takes its options.
"""

from __future__ import annotations

import sys

import atheris
from targets import TARGETS


def main() -> None:
    """The first word is the target, all others are libFuzzer's."""
    target = TARGETS[sys.argv[1]]
    with atheris.instrument_imports(include=["flashtwin"]):
        import flashtwin.fio.language.job
        import flashtwin.fio.language.lines
        import flashtwin.fio.language.script
        import flashtwin.fio.plan.plan
        import flashtwin.runs.journal
        import flashtwin.runs.listing
        import flashtwin.runs.rundir  # noqa: F401 - instrumented here, used by the target

    def one_input(data: bytes) -> int:
        # 0 keeps what reaches new lines, -1 would not: refusals are worth keeping too.
        target(data)
        return 0

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
