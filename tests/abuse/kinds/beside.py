"""Job files at random in real fio and on a twin: the same requests (see `fio_beside`)."""

from __future__ import annotations

import shutil

import beside_cases
import fio_beside
from sandbox import Sandbox


def case(box: Sandbox) -> None:
    """One job file that the seed makes, on both sides."""
    if shutil.which("fio") is None:
        return
    made = beside_cases.case(box.seed)
    box.write("a.fio", made.text)
    box.write(beside_cases.TRACE, made.trace)
    box.call("fio", "a.fio", work=lambda arguments: fio_beside.compare(made))
