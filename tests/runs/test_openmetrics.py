"""A run as OpenMetrics: each line has the grammar, and the dashboard asks for what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stored_runs import store

from flashtwin.runs.export import openmetrics
from flashtwin.runs.export.export import export
from flashtwin.runs.rundir import Run

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "examples" / "grafana" / "flashtwin.json"
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"([a-z_]+)\{{{LABEL}(?:,{LABEL})*\}} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def test_a_run_as_metrics(tmp_path: Path) -> None:
    store(tmp_path / "run")
    (path,) = export(Run(tmp_path / "run"), "openmetrics", tmp_path / "out")
    lines = path.read_text().splitlines()
    assert lines[-1] == "# EOF"
    samples = [line for line in lines if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in samples), samples
    assert len({line.rpartition(" ")[0] for line in samples}) == len(samples)
    names = {line.partition("{")[0] for line in samples}
    assert {"flashtwin_run_info", "flashtwin_finding", "flashtwin_step_bytes"} <= names
    # A family is told before its first sample, and its samples stand together.
    order = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(order) == len(set(order))


def test_names_of_anybody_are_escaped(tmp_path: Path) -> None:
    store(tmp_path / "run", target='a "drive"\\ of\nmine')
    text = openmetrics.files_of(Run(tmp_path / "run"))["metrics.prom"].decode()
    assert 'target="a \\"drive\\"\\\\ of\\nmine"' in text
    assert all(SAMPLE.fullmatch(line) for line in text.splitlines() if not line.startswith("#"))


def test_the_dashboard_asks_for_what_there_is() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"flashtwin_\w+", target["expr"])
    }
    assert asked <= openmetrics.HELP.keys()
    assert len(asked) > 6
