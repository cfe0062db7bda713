"""What fio replaces in an option first: `${NAME}`, `$pagesize`, `$mb_memory`, `$ncpus`.

An environment variable that is not set is replaced by nothing, as fio does it; the reader is told.
Where one of the three words was replaced, arithmetic without parentheses is reckoned too
(`8*$mb_memory`), as fio does it through bc. Invariant: nothing is ever executed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from flashtwin.fiojob.language.arithmetic import evaluate

_VARIABLE = re.compile(r"\$\{([^}]+)\}")
_WORD = re.compile(r"\$(pagesize|mb_memory|ncpus)")
_SUM = re.compile(r"[\d\s.+\-*/%^()]*\d[\d\s.+\-*/%^()]*")


def expand(text: str, environment: Mapping[str, str], note: Callable[[str], None]) -> str:
    """The option with its variables and words replaced."""

    def variable(match: re.Match[str]) -> str:
        name = match[1]
        if name not in environment:
            note(f"the environment variable {name} is not set: fio reads nothing in its place")
        return environment.get(name, "")

    def word(match: re.Match[str]) -> str:
        value = str(_MACHINE[match[1]]())
        note(f"${match[1]} is {value} on this machine")
        return value

    with_variables = _VARIABLE.sub(variable, text)
    replaced, count = _WORD.subn(word, with_variables)
    return _reckoned(replaced) if count else replaced


def _reckoned(text: str) -> str:
    name, equals, value = text.partition("=")
    if not equals or not _SUM.fullmatch(value) or not re.search(r"[-+*/]", value):
        return text
    return f"{name}={int(evaluate(value, Fraction))}"


_MACHINE: dict[str, Callable[[], int]] = {
    "pagesize": lambda: os.sysconf("SC_PAGESIZE"),
    "mb_memory": lambda: os.sysconf("SC_PAGESIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
    "ncpus": lambda: os.cpu_count() or 1,
}
