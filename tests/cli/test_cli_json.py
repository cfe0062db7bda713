"""docs/reference/json.md has every key that `--json` prints, and none that it does not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import Result
from infer_samples import CRYSTAL
from printed import DOCUMENTS, KINDS, json_schema
from printed import check as check_type
from stored_runs import store, usual
from test_cli_cache import kept
from test_cli_commands import knocked_out, validation

from flashtwin.cli import sweep_run as sweep
from flashtwin.study.sweep.grid import axes
from flashtwin.study.sweep.plan import Failure, Plan
from flashtwin.study.sweep.run import Row, Sweep
from flashtwin_lab.blind.judge import Row as BlindRow
from flashtwin_lab.blind.run import Campaign
from flashtwin_lab.theory.points import of_user
from flashtwin_lab.theory.run import LawRow, Theory
from flashtwin_lab.validation import knockouts
from flashtwin_lab.validation import validate as validate_module

Run = Callable[..., Result]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
SCHEMAS = PAGE.parent / "schemas" / "commands"
FINDING = [
    *("id", "battery", "name", "variant", "title", "kind", "value", "unit", "low", "high", "means"),
    *("beside", "better", "headline", "evidence", "note"),
]


def documented() -> dict[str, set[str]]:
    """The keys by section."""
    _, *sections = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    found = {}
    for section in sections:
        title, _, text = section.partition("\n")
        names = re.findall(r"`([A-Za-z_\[\]{}.]+)`", text)
        found[title.strip()] = {name for name in names if not name.endswith((".md", ".json"))}
    return found


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """Paths of everything that is no object or list; a finding counts as one thing."""
    if isinstance(value, dict):
        if list(value) and set(value) == set(FINDING):
            yield path
        elif not value:
            yield f"{path}{{}}"
        else:
            for key, one in value.items():
                yield from leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if not value:
            yield f"{path}[]"
        for one in value:
            yield from leaves(one, f"{path}[]")
    else:
        yield path


def covers(name: str, path: str) -> bool:
    """Whether a documented name stands for a path: the same, or a map or list that holds it."""
    if name.endswith("{}"):
        return path == name[:-2] or path.startswith(f"{name[:-2]}.") or path == name
    return name in (path, path.removesuffix("[]"), f"{path}[]") or (
        name.endswith("[]") and path.startswith(f"{name}.")
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schemas_are_those_of_the_types(name: str) -> None:
    page, text = SCHEMAS / f"{name}.json", json_schema(name)
    if os.environ.get("FLASHTWIN_BLESS"):
        SCHEMAS.mkdir(exist_ok=True)
        page.write_text(text)
    assert page.read_text() == text


def test_there_is_no_schema_of_anything_else() -> None:
    assert {at.stem for at in SCHEMAS.iterdir()} == DOCUMENTS.keys()
    sections = {name.removesuffix(next(filter(name.endswith, KINDS), "")) for name in DOCUMENTS}
    assert sections == {title.replace(" ", "-") for title in documented()}


def check(section: str, value: Any, *, lacking: tuple[str, ...] = ()) -> None:
    """Every key of a value is in its section; what `lacking` begins with may be of other runs.

    The fixture `run` holds what commands print against their types.
    """
    names = documented()[section]
    paths = set(leaves(value))
    untold = [path for path in paths if not any(covers(name, path) for name in names)]
    assert untold == [], f"{section}: not documented"
    gone = [
        name
        for name in names
        if ("[]" in name or "." in name or "{}" in name)
        and not name.startswith(lacking or ("\0",))
        and not any(covers(name, path) or path.startswith(name) for path in paths)
    ]
    assert gone == [], f"{section}: documented, and not there"


def told(done: Result) -> Any:
    assert done.exit_code in (0, 1, 2) and not done.stderr, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("drives", ["drives"]),
        ("show", ["show", "bx500-240"]),
        ("check", ["check", "bx500-240", "--set", "bad=1"]),
        ("batteries", ["batteries"]),
        ("explain", ["explain"]),
        ("test", ["test", "bx500-240", "--battery", "fill:patterns=1m-q1", "-q"]),
    ],
)
def test_commands_on_drives(run: Run, section: str, words: list[str]) -> None:
    other = ("faults[]", "parameters[]", "values[]", "follows[]", "presets{}", "on")
    check(section, told(run(*words, "--json")), lacking=other)


def test_what_has_a_name(run: Run, tmp_path: Path) -> None:
    lacking = ("batteries[]", "groups[]", "follows[]", "presets{}", "on{}", "findings[]")
    words = ("batteries", "fill", "--on", "bx500-240", "--json")
    check("batteries", told(run(*words)), lacking=(*lacking, "on.cannot[]"))
    store(tmp_path / "a")
    explained = told(run("explain", "fill.cache_size", "--run", "a", "--json"))
    check("explain", explained, lacking=lacking)
    differences = ["key", "first", "second", "first_origin", "second_origin"]
    row = {name: "x" for name in differences}
    side = {"spec": "a", "hash": "b"}
    told(run("diff", "bx500-240", "bx500-240-nocache", "--json"))
    check("diff", {"first": side, "second": side, "differences": [row]})


def test_commands_on_runs(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "a")
    store(tmp_path / "b", findings=usual(cache=20.0), seed=2)
    check("runs", told(run("runs", ".", "--json")))
    shown = told(run("runs", "show", "a", "--json"))
    base = told(run("runs", "a", "--json"))["runs"][0]
    for one in shown["runs"]:
        for key in base.keys() - {"target", "batteries", "steps"}:
            assert one.pop(key) == base[key]
    check("runs show", shown, lacking=("runs[].command",))
    check("compare", told(run("compare", "a", "b", "--fail-on", "1%", "--json")))
    check("same", told(run("same", "a", "b", "--json")), lacking=("drives[].notes[]",))
    check("conclude", told(run("conclude", "a", "--json")))
    check("report", told(run("report", "a", "--json")))
    check("export", told(run("export", "a", "--format", "csv", "--json")))
    submitted = told(run("submit", "a", "--twin", "--out", "sub-simulated", "--json"))
    check("submit", submitted)
    (tmp_path / "sub-simulated" / "submission.json").write_text("{}")
    faults = told(run("check", "--catalogue", "sub-simulated", "--json"))
    check("check", faults, lacking=("errors[]", "warnings[]"))
    check("runs prune", told(run("runs", "prune", ".", "--keep", "1", "--dry-run", "--json")))


def test_the_cache(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASHTWIN_CACHE", str(tmp_path / "kept"))
    kept(tmp_path / "kept", 1, days=1)
    check("cache", told(run("cache", "--json")))
    check("cache clear", told(run("cache", "clear", "--json")), lacking=("drives[]",))


def test_validations(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate_module, "validate", lambda *a, **b: validation(101.0))
    theory = ("rows[].law", "rows[].point", "rows[].expected", "rows[].origin")
    lacking = (*theory, "rows[].variant", "rows[].twins[]", "knock_outs[]")
    check("validate", told(run("validate", "bx500-240", "--json")), lacking=lacking)
    monkeypatch.setattr(knockouts, "knock_out", lambda *a, **b: [knocked_out()])
    check(
        "validate",
        told(run("validate", "pm871b-128", "--knock-out", "--json")),
        lacking=("rows[]",),
    )
    row = LawRow(
        point=of_user("fifo", 0.2, 64), expected=1.0, measured=1.0, error=0.0, verdict="pass"
    )
    value = msgspec.to_builtins(Theory(rows=(row,)).document())
    assert set(leaves(value)) >= {"rows[].law", "rows[].point.op"}
    names = documented()["validate"]
    for path in leaves(value):
        assert any(covers(name, path) for name in names), path


def test_a_blind_campaign() -> None:
    row = BlindRow(finding="speeds", target="median 0.5%", found="0.1%", n=3, passes=True)
    check("blind", msgspec.to_builtins(Campaign(rows=(row,), drives=()).document()))


def test_a_series_of_another_program(run: Run, tmp_path: Path) -> None:
    rows = [f"{i + 1},{3000 if i < 40 else 500}" for i in range(200)]
    (tmp_path / "a.csv").write_text("\n".join(["second,write_MB_s", *rows]))
    file = str(tmp_path / "a.csv")
    check(
        "infer", told(run("infer", file, "--history", "used:2GB", "--json")), lacking=("series[]",)
    )
    full = ("--history", "preconditioned", "--first", file)
    check("infer", told(run("infer", file, *full, "--json")), lacking=("series[]",))
    (tmp_path / "cdm.txt").write_text(CRYSTAL)
    figures = told(run("infer", str(tmp_path / "cdm.txt"), "--json"))["figures"]
    assert {"name": "write RND 4KiB (Q= 1, T= 1)", "value": 210.5, "unit": "MB/s"} in figures
    (tmp_path / "labels.toml").write_text('[[series]]\nfile = "a.csv"\ncache = true\n')
    of_one = ("size_bytes[]", "plateaus[]", "notes[]", "findings[]")
    check("infer", told(run("infer", "--labelled", ".", "--json")), lacking=of_one)
    assert run("infer", file, "--history", "old").exit_code == 2
    assert run("infer", file, "--interval", "0").exit_code == 2
    assert run("infer", file, "--first", file).exit_code == 2


def test_a_fit() -> None:
    row = {"name": "cache", "title": "its size", "value": 0.2, "low": 0.19, "high": 0.21}
    value = {
        "path": "a.toml",
        "twin_run": None,
        **dict.fromkeys(("run", "structure", "past", "cell", "toml"), "a"),
        "limit": "core",
        "map": "dram",
        "reclaims": True,
        "separates": True,
        "scatter": 1.2,
        "simulations": 300,
        "values": [{**row, "unit": "MB/s", "origin": "fitted", "checked_on": 30}],
        "notes": ["a note"],
    }
    check_type(json.dumps(value), "fit")
    check("fit", value)


def test_a_fit_to_published_figures() -> None:
    value = {
        "path": "a.toml",
        "toml": "a",
        "values": [{"name": "flash", "title": "flash", "value": 1.0, "low": 0.9, "high": 1.1}],
        "policies": {"greedy": 1.0},
        "figures": [
            {
                "load": "uniform over 1 GiB",
                "kind": "waf",
                "published": 1.5,
                "twin": 1.6,
                "off": 0.067,
                "use": "held out",
                "held": True,
            }
        ],
        "simulations": 100,
        "notes": ["a note"],
    }
    check_type(json.dumps(value), "fit-published")
    check("fit published", value)


def test_a_sweep(tmp_path: Path) -> None:
    plan = Plan(drive="x", batteries="fill", axes=tuple(axes(["op=0.1,0.2"])), sets=("a=1",))
    settings = (("op", "0.1"),)
    failure = Failure(number=0, name="op=0.1", message="m", hint="h")
    row = Row(
        number=0,
        settings=settings,
        run=None,
        failure=failure,
        findings={one.id: one for one in usual()},
    )
    done = Sweep(out=tmp_path, plan=plan, rows=(row,), failures=(failure,), repeated=0)
    document = sweep.document(done, tmp_path / "report.html")
    check("sweep", json.loads(msgspec.json.encode(document)))
