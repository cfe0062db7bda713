"""Golden findings: whole lists of findings, words included, as they were when last looked at.

After a change that was meant, write them anew and read the difference:
`FLASHTWIN_GOLDEN=write ./dev test tests/analysis/test_analysis_golden.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from shapes import RAW_240, Fill, fill, found, pulses, saw

GOLDEN = Path(__file__).resolve().parent.parent / "golden"

CASES: dict[str, tuple[Fill, float, dict[str, Any]]] = {
    "bx500-cache-on": (
        fill((461, 24), (111, 192), (81, 240)),
        240,
        {"raw_bytes": RAW_240},
    ),
    "bx500-cache-off": (
        fill((240, 90), (100, 240), factor=saw(0.85, 1.15, 12, from_gb=90)),
        240,
        {"raw_bytes": RAW_240},
    ),
    "bx500-second-pass": (fill((461, 6), (81, 240)), 240, {"pass_number": 2}),
    "two-tiers": (fill((3500, 30), (2000, 150), (600, 1000)), 1000, {}),
    "second-burst": (fill((5000, 108), (2000, 450), (5000, 500), (2000, 1000)), 1000, {}),
    "heat": (fill((3000, 1000), factor=pulses(0.3, 15, 100)), 1000, {}),
    "swings": (fill((900, 1000), factor=pulses(0.3, 10, 12)), 1000, {}),
    "file-in-the-cache": (fill((480, 4), sample_s=0.05), 4, {"raw_bytes": 0}),
}


@pytest.mark.parametrize("name", list(CASES))
def test_golden_findings(name: str) -> None:
    series, capacity, more = CASES[name]
    told = [finding.to_json() for finding in found(series, capacity, **more).values()]
    rows = json.loads(json.dumps(told))
    path = GOLDEN / f"findings-{name}.json"
    if os.environ.get("FLASHTWIN_GOLDEN") == "write":
        path.write_text(json.dumps(rows, indent=1) + "\n")
    golden = json.loads(path.read_text())
    assert [row["id"] for row in rows] == [row["id"] for row in golden]
    for row, before in zip(rows, golden, strict=True):
        assert _words(row) == _words(before)
        # The sixth digit may differ where another processor adds in another order.
        assert _numbers(row) == pytest.approx(_numbers(before), rel=2e-5, abs=1e-9)


def _words(row: dict[str, Any]) -> dict[str, Any]:
    numbers = ("low", "high", "evidence", *(() if "choices" in row else ("value",)))
    words = {key: row[key] for key in row if key not in numbers}
    evidence = row["evidence"] or {}
    missing = [key for key in ("value", "low", "high") if row[key] is None]
    labels = [evidence.get(key) for key in ("battery", "label", "axis")]
    return {**words, "missing": missing, "evidence": labels}


def _numbers(row: dict[str, Any]) -> list[float]:
    evidence = row["evidence"] or {}
    value = None if "choices" in row else row["value"]
    numbers = [value, row["low"], row["high"], evidence.get("start"), evidence.get("end")]
    return [number for number in numbers if number is not None]
