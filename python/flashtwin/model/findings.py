"""Findings of a run as one looks them up: in their order, or by name.

A finding answers to its id and to shorter names (`Finding.names`): "cache_size" means the first
that is called so, whatever its battery and variant. An id comes before every shorter name.
Invariant: iterating, counting and indexing are those of a tuple of findings; only text as an index
is a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from html import escape
from typing import Any, overload

from flashtwin.errors import UnknownNameError
from flashtwin.model.finding import Finding
from flashtwin.model.text import Shown, plain


class Findings(Sequence[Finding]):
    """A tuple of findings that answers to names too."""

    _read: Callable[[], Iterable[Finding]]

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self.__dict__["_all"] = tuple(findings)

    @classmethod
    def later(cls, read: Callable[[], Iterable[Finding]]) -> Findings:
        """Findings that are read when somebody looks at them; to read them may not fail."""
        findings = cls.__new__(cls)
        findings._read = read
        return findings

    @cached_property
    def _all(self) -> tuple[Finding, ...]:
        return tuple(self._read())

    @overload
    def __getitem__(self, index: int | str) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Findings: ...

    def __getitem__(self, index: int | str | slice) -> Finding | Findings:
        if isinstance(index, slice):
            return Findings(self._all[index])
        if isinstance(index, int):
            return self._all[index]
        finding = self.get(index)
        if finding is None:
            message = f"no finding is called {index}"
            raise UnknownNameError(message, hint=self._near(index))
        return finding

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all)

    def __contains__(self, value: object) -> bool:
        return self.get(value) is not None if isinstance(value, str) else value in self._all

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Findings | list | tuple):
            return self._all == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all)

    def get(self, name: str) -> Finding | None:
        """The first finding of that name, or none."""
        return next(iter(self.all(name)), None)

    def all(self, name: str) -> Findings:
        """All findings of that name: of every variant, where the name says none."""
        exact = [finding for finding in self._all if finding.id == name]
        return Findings(exact or [finding for finding in self._all if name in finding.names])

    def keys(self) -> list[str]:
        """The ids, in order."""
        return [finding.id for finding in self._all]

    def values(self) -> list[Finding]:
        """The findings, in order."""
        return list(self._all)

    def items(self) -> list[tuple[str, Finding]]:
        """Ids with findings, in order."""
        return [(finding.id, finding) for finding in self._all]

    def to_json(self) -> list[dict[str, Any]]:
        """A row each."""
        return [finding.to_json() for finding in self._all]

    def __repr__(self) -> str:
        text = ", ".join(f"{finding.id}={plain(finding)}" for finding in self._all[:4])
        more = f", … {len(self) - 4} more" if len(self) > 4 else ""
        return f"Findings({text}{more})"

    def __str__(self) -> str:
        """A line a finding, for `print`."""
        rows = [(finding.id, Shown.of(finding).text) for finding in self._all]
        wide = max((len(name) for name, _ in rows), default=0)
        return "\n".join(f"{name:<{wide}}  {text}" for name, text in rows) or "no findings"

    def _repr_html_(self) -> str:
        """A table, for a notebook."""
        rows = "".join(
            f"<tr title='{escape(finding.note or '')}'><td>{escape(finding.id)}</td>"
            f"<td>{escape(finding.title)}</td><td>{escape(Shown.of(finding).text)}</td></tr>"
            for finding in self._all
        )
        head = "".join(f"<th>{name}</th>" for name in ("finding", "what it is", "value"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _near(self, name: str) -> str:
        known = list(dict.fromkeys(finding.short for finding in self._all))
        near = get_close_matches(name, [*known, *self.keys()], n=3, cutoff=0.5)
        return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
