"""How fio reaches a file: the engines we take, best first.

io_uring and libaio with direct I/O keep as many requests outstanding as a job asks for and go past
the page cache. What is left where the kernel or the file system refuses those keeps fewer, or
measures the page cache too; `caveats` says so in the reader's words.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An engine of fio's and whether it goes past the page cache."""

    name: str
    direct: bool

    @property
    def asynchronous(self) -> bool:
        """Whether one thread can have more than one request outstanding."""
        return self.name == "io_uring" or (self.name == "libaio" and self.direct)

    @property
    def holds_depth(self) -> bool:
        """Whether it always does: what the page cache takes or has is done as it is asked for."""
        return self.asynchronous and self.direct

    def __str__(self) -> str:
        return f"{self.name}, {'direct' if self.direct else 'buffered'}"


PREFERRED = (
    Engine(name="io_uring", direct=True),
    Engine(name="libaio", direct=True),
    Engine(name="psync", direct=True),
    Engine(name="io_uring", direct=False),
    Engine(name="psync", direct=False),
)


def caveats(engine: Engine) -> list[str]:
    """What a reader has to know of an engine that is not the first choice."""
    said = []
    if engine != PREFERRED[0]:
        said.append(f"io_uring with direct I/O is refused here: fio runs with {engine}")
    if not engine.direct:
        said.append("without direct I/O the page cache is measured too, and depths are not kept")
    if not engine.asynchronous:
        said.append(
            "one thread keeps one request outstanding: a random job gets a thread for each request"
            " of its depth, a sequential one runs at depth 1"
        )
    return said
