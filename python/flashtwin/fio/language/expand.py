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

from flashtwin.fio.language.arithmetic import evaluate
from flashtwin.fio.language.numbers import whole
from flashtwin.fio.language.where import BadValueError

# No variable's name is longer, and a text of many `${` is read once.
_VARIABLE = re.compile(r"\$\{([^}]{1,255})\}")
_WORD = re.compile(r"\$(pagesize|mb_memory|ncpus)")
_SUM = re.compile(r"[0-9\s.+\-*/%^()]*", re.A)
# Characters of an option with its variables replaced.
_MOST = 65_536


def expand(text: str, environment: Mapping[str, str], note: Callable[[str], None]) -> str:
    """The option with its variables and words replaced."""
    length = len(text)

    def variable(match: re.Match[str]) -> str:
        nonlocal length
        name = match[1]
        if name not in environment:
            note(f"the environment variable {name} is not set: fio reads nothing in its place")
        value = environment.get(name, "")
        length += len(value)
        if length > _MOST:
            raise BadValueError(f"with its variables replaced it has more than {_MOST} characters")
        return value

    def word(match: re.Match[str]) -> str:
        value = str(_MACHINE[match[1]]())
        note(f"${match[1]} is {value} on this machine")
        return value

    with_variables = _VARIABLE.sub(variable, text)
    replaced, count = _WORD.subn(word, with_variables)
    return _reckoned(replaced) if count else replaced


def _reckoned(text: str) -> str:
    name, equals, value = text.partition("=")
    plain = _SUM.fullmatch(value) and re.search("[0-9]", value)
    if not equals or not plain or not re.search(r"[-+*/]", value):
        return text
    return f"{name}={int(evaluate(value, _decimal))}"


def _decimal(text: str) -> Fraction:
    before, _, behind = text.partition(".")
    return Fraction(whole(before + behind), 10 ** len(behind))


_MACHINE: dict[str, Callable[[], int]] = {
    "pagesize": lambda: os.sysconf("SC_PAGESIZE"),
    "mb_memory": lambda: os.sysconf("SC_PAGESIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
    "ncpus": lambda: os.cpu_count() or 1,
}
