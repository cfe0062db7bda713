"""Makes docs/gallery.md and its pictures: `.venv/bin/python -m flashtwin_lab.make.gallery`.

A drive of the catalogue a row, with the curve of a fill at its smallest scale as a small picture.
"""

from __future__ import annotations

import json
from itertools import accumulate, pairwise

from flashtwin import _core
from flashtwin.catalogue.loader import load, shipped_ids
from flashtwin.catalogue.summary import summary
from flashtwin_lab.make import DOCS

PAGE, PICTURES = DOCS / "gallery.md", DOCS / "images" / "gallery"
WIDE, HIGH = 220, 60
SAMPLES = 110
HEAD = """# The catalogue at a glance

Made by `flashtwin_lab.make.gallery`. Each picture is a fill of the simulated drive from empty to
full: speed over data written, from 0 to its highest speed. `flashtwin play DRIVE` makes a page of a
drive that you can change, `flashtwin show DRIVE -v` lists its values, and [the
reference](reference/drives.md) has what was published about it.

| | drive | cells | SLC cache | highest speed |
|---|---|---|---|---|
"""


def main() -> None:
    """Write the page and the pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    rows = []
    for drive in shipped_ids():
        facts, rates = summary(drive, load(drive)), rates_of(drive)
        (PICTURES / f"{drive}.svg").write_text(picture(rates))
        rows.append(
            f"| ![fill of {drive}](images/gallery/{drive}.svg) | {facts.name}<br>`{drive}` | "
            f"{facts.cell.upper()} | {facts.cache} | {max(rates):,.0f} MB/s |\n"
        )
    PAGE.write_text(HEAD + "".join(rows))


def rates_of(drive: str) -> list[float]:
    """MB/s of each piece of a fill, pieces of the same size, at the drive's smallest scale."""
    spec = load(drive)
    job = {"name": "write", "rw": "write", "block_bytes": 131072, "depth": 32, "host_ns": 5000}
    asked = {
        "spec": spec.to_toml(),
        "seed": 1,
        "job": {**job, "seed": 1},
        "steps": [{"fill": {"from": 0, "to": 1}}],
        "sample_ns": 2_000_000,
    }
    for divisor in reversed(spec.scales()):
        answer = json.loads(_core.play(json.dumps({**asked, "scale": f"1/{divisor}"})))
        if "error" not in answer:
            break
    series = answer["steps"][0]["series"]
    written, piece = list(accumulate(series["bytes"])), sum(series["bytes"]) / SAMPLES
    ends = list(accumulate(series["dt_ns"]))
    times = [0.0]
    at = 0
    for number in range(1, SAMPLES + 1):
        while at < len(written) - 1 and written[at] < number * piece:
            at += 1
        times.append(ends[at] / 1e9)
    spans = (after - before for before, after in pairwise(times))
    return [piece / 1e6 / max(span, 0.002) for span in spans]


def picture(rates: list[float]) -> str:
    """A small curve, in a colour that is seen on light and dark ground."""
    most, step = max(rates), WIDE / len(rates)
    path = "".join(
        f"{'L' if at else 'M'}{at * step:.1f} {HIGH - 2 - rate / most * (HIGH - 4):.1f}h{step:.1f}"
        for at, rate in enumerate(rates)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}">'
        f'<path d="{path}" fill="none" stroke="#0072b2" stroke-width="2"/></svg>\n'
    )


if __name__ == "__main__":
    main()
