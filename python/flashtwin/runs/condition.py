"""The process that judges a condition over a table, `-m flashtwin.runs.condition SECONDS BYTES`.

In: the tables, the condition, and the table that it is over (see `query`), JSON on stdin. Out: JSON
on stdout, `rows` (those for which the condition is true) or `wrong` (why it is none). Invariants:
DuckDB is shut off from files; the condition is one expression of the type BOOLEAN, and a row that
it cannot judge (NULL) is none for which it holds; beyond its seconds the process ends by SIGALRM,
beyond its bytes somehow, and the caller says which it was. DuckDB hears neither an interrupt nor
its own memory limit within a function, `len(range(1000000000))` for one: that is why this is a
process.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin import system

if TYPE_CHECKING:
    import duckdb

# The columns of a condition over runs, as DuckDB has them.
COLUMNS = {
    "path": "VARCHAR",
    "name": "VARCHAR",
    "target": "VARCHAR",
    "label": "VARCHAR",
    "kind": "VARCHAR",
    "battery": "VARCHAR",
    "state": "VARCHAR",
    "started": "TIMESTAMP",
    "wall_s": "DOUBLE",
    "seed": "BIGINT",
    "spec": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "flashtwin": "VARCHAR",
    "steps": "BIGINT",
    "bytes": "BIGINT",
}
# What a list can be sorted by, besides the names of findings.
SORTS = ("time", "target", "battery", "state", "seed", "size", "path")
# The exit code of this process where its memory did not suffice.
OUT_OF_MEMORY = 9
# How messages call the type of a condition that is not true or false.
_TYPES = {'"NULL"': "nothing (NULL)", "VARCHAR": "text (VARCHAR)"}
_MORE_THAN_ONE = ("ROW", "STRUCT", "TUPLE")


def main() -> None:
    """Read, judge, answer."""
    import duckdb

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    seconds, most = int(sys.argv[1]), int(sys.argv[2])
    data = sys.stdin.buffer.read()
    question = json.loads(data)
    connection = duckdb.connect(
        config={
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "threads": 1,
            "temp_directory": "",
        }
    )
    for name, (shape, rows) in question["tables"].items():
        _fill(connection, name, shape, rows)
    system.end_after(seconds)
    try:
        with _bounded_memory(most + len(data)):
            answer = _judged(connection, question["condition"], question["table"])
    except (duckdb.OutOfMemoryException, MemoryError):
        raise SystemExit(OUT_OF_MEMORY) from None
    except duckdb.Error as error:
        answer = {"wrong": _first(error)}
    json.dump(answer, sys.stdout)


@contextmanager
def _bounded_memory(most: int) -> Iterator[None]:
    """Bound what this process takes beyond what it has, unless a lower limit holds already. How
    much address space it has by then is mostly chance, by how many regions its threads were given.
    The bound ends with the judging: DuckDB takes memory as the process ends too, and crashes where
    it gets none."""
    resource = system.resource
    if resource is None:
        yield
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        # Only Linux tells it, and keeps to the bound.
        yield
        return
    bound = pages * resource.getpagesize() + most
    bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _fill(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    shape: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    """Make a table in DuckDB with the given types, which do not follow from the values. It is
    filled by columns, which DuckDB reads five times as fast as rows."""
    columns = {column: [row.get(column) for row in rows] for column in shape}
    forms = {column: [kind] for column, kind in shape.items()}
    lists = ", ".join(f"unnest(one.{_quoted(column)}) AS {_quoted(column)}" for column in shape)
    text = f"CREATE TABLE {name} AS SELECT {lists} FROM (SELECT from_json(?, ?) AS one)"
    connection.execute(text, [json.dumps(columns), json.dumps(forms)])


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _judged(connection: duckdb.DuckDBPyConnection, condition: str, table: str) -> dict[str, Any]:
    # Alone it has to be what one SELECT can ask for, so that no bracket closes the one around it;
    # a condition that ends in a comment must not take that bracket with it.
    alone = connection.extract_statements(f"SELECT {condition}\n")
    inside = connection.extract_statements(f"SELECT ({condition}\n) FROM {table} LIMIT 0")
    if len(alone) != 1 or len(inside) != 1:
        return {"wrong": "this is more than one condition"}
    kind = str(connection.execute(inside[0]).description[0][1])
    if kind != "BOOLEAN":
        if kind.startswith(_MORE_THAN_ONE):
            return {"wrong": "this is more than one column, and a condition is true or false"}
        return {"wrong": f"this gives {_TYPES.get(kind, kind)}, and a condition is true or false"}
    holds = connection.execute(f"SELECT _row FROM {table} WHERE ({condition}\n) IS TRUE")
    return {"rows": [row for (row,) in holds.fetchall()]}


def _first(error: Exception) -> str:
    """The first line of DuckDB's message, without the statement that it quotes."""
    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return line.strip().rstrip("!.")[:200]


if __name__ == "__main__":
    main()
