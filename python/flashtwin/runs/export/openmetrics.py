"""A run as OpenMetrics text: findings, steps and SMART counters for a monitoring system.

One file without time stamps, as node_exporter's textfile collector takes it. A finding without a
number has no line. Names and units follow the OpenMetrics specification: base units, `_info` for
what is text, labels escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from flashtwin.catalogue import counters

if TYPE_CHECKING:
    from flashtwin.runs.rundir import Run

NAME = "metrics.prom"
HELP = {
    "flashtwin_run_info": "The run: its target, its state and the flashtwin that measured it.",
    "flashtwin_finding": "The value of a finding in its unit.",
    "flashtwin_finding_low": "The lower end of a finding's interval.",
    "flashtwin_finding_high": "The upper end of a finding's interval.",
    "flashtwin_step_seconds": "How long a step took on the drive's clock.",
    "flashtwin_step_bytes": "Bytes that the jobs of a step moved.",
    "flashtwin_step_requests": "Requests that the jobs of a step made.",
    "flashtwin_step_latency_seconds": "The mean latency of a step's requests.",
    "flashtwin_smart_host_written_bytes": "Bytes that the host has written in the drive's life.",
    "flashtwin_smart_write_amplification_ratio": "Bytes programmed over bytes from the host.",
    "flashtwin_smart_life_left_ratio": "What is left of the rated life.",
}
_Row = tuple[str, Mapping[str, str], float]


def files_of(run: Run) -> dict[str, bytes]:
    """The one file of a run."""
    families: dict[str, list[str]] = {name: [] for name in HELP}
    target = str(run.target.get("name", ""))
    about = {key: str(run.manifest.get(key, "")) for key in ("state", "flashtwin", "label")}
    about |= {"kind": str(run.target.get("kind", "")), "run": run.path.name}
    rows = [("flashtwin_run_info", about, 1.0), *_findings(run), *_steps(run), *_smart(run)]
    for name, labels, value in rows:
        if math.isfinite(value):
            families[name].append(f"{name}{_labels({'target': target, **labels})} {value!r}")
    lines = []
    for name, samples in families.items():
        if samples:
            kind = "info" if name.endswith("_info") else "gauge"
            family = name.removesuffix("_info")
            # Rows of one name and one set of labels are one metric: the last one stands.
            unique = {row.rpartition(" ")[0]: row for row in samples}
            lines += [f"# TYPE {family} {kind}", f"# HELP {family} {HELP[name]}", *unique.values()]
    return {NAME: "\n".join([*lines, "# EOF", ""]).encode("utf-8", "backslashreplace")}


def _findings(run: Run) -> Iterator[_Row]:
    for finding in run.findings:
        labels = {
            "battery": finding.battery,
            "finding": finding.name,
            "variant": finding.variant,
            "unit": finding.unit,
        }
        ends = finding.interval
        values = {
            "": finding.value,
            "_low": ends.low if ends is not None else None,
            "_high": ends.high if ends is not None else None,
        }
        for ending, value in values.items():
            if isinstance(value, int | float):
                yield f"flashtwin_finding{ending}", labels, float(value)


def _steps(run: Run) -> Iterator[_Row]:
    for step in run.steps:
        if not step.jobs:
            continue
        labels = {"battery": step.battery, "step": step.label}
        ios = sum(job.ios for job in step.jobs)
        yield "flashtwin_step_seconds", labels, step.duration_ns / 1e9
        yield "flashtwin_step_bytes", labels, float(sum(job.bytes for job in step.jobs))
        yield "flashtwin_step_requests", labels, float(ios)
        if ios:
            waited_ns = sum(job.latency_mean_ns * job.ios for job in step.jobs)
            yield "flashtwin_step_latency_seconds", labels, waited_ns / ios / 1e9


def _smart(run: Run) -> Iterator[_Row]:
    totals = counters.totals(run.smart("after"))
    values = {
        "flashtwin_smart_host_written_bytes": totals.host_bytes,
        "flashtwin_smart_write_amplification_ratio": totals.waf,
        "flashtwin_smart_life_left_ratio": None
        if totals.life_left is None
        else totals.life_left / 100,
    }
    for name, value in values.items():
        if value is not None:
            yield name, {}, float(value)


def _labels(labels: Mapping[str, str]) -> str:
    escaped = {
        name: text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for name, text in labels.items()
        if text
    }
    return "{" + ",".join(f'{name}="{text}"' for name, text in escaped.items()) + "}"
