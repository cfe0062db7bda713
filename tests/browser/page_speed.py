"""How soon a page of two drives answers its reader: `./dev bench --page`.

The figure is the processor time of the page's thread until the first screen is drawn and a click
has its turn; other work on the machine hardly lengthens it. Beside it stands the same of a page
that only unpacks and reads the scripts of the charts, with nothing to draw, so that figures of two
machines can be compared. Each is the best of five openings.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from opened import CHROMIUM, MISSING, WIDE, Opened, chromium, until_interactive

ALLOWED_S = 1.0
OPENINGS = 5
SCRIPTS_ALONE = """<!DOCTYPE html><html><head><title>scripts</title></head><body>
<script type="application/octet-stream" id="library">{packed}</script>
<script>{unpacking}
library.then(() => performance.mark("interactive"));</script></body></html>"""


def processor_seconds(browser: Any, page_file: Path) -> float:
    opened = Opened(browser, viewport=WIDE)
    session = opened.context.new_cdp_session(opened.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    until_interactive(opened.page, page_file)
    metrics = session.send("Performance.getMetrics")["metrics"]
    opened.context.close()
    assert opened.wrong == []
    seconds: float = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
    return seconds


def pages(folder: Path) -> tuple[Path, Path]:
    """The report of two twins, and a page of the scripts alone."""
    from made_runs import two

    from flashtwin import report
    from flashtwin.charts import assets

    page_file = report.build(two(folder), folder / "report.html")
    alone = folder / "scripts.html"
    unpacking = assets.text_of("unpack.js") + assets.text_of("library.js")
    alone.write_text(SCRIPTS_ALONE.format(packed=assets.packed_vega(), unpacking=unpacking))
    return page_file, alone


def figures(folder: Path) -> dict[str, float]:
    with chromium() as browser:
        best = [
            min(processor_seconds(browser, file) for _ in range(OPENINGS)) for file in pages(folder)
        ]
    return {
        "page_interactive_s": best[0],
        "page_scripts_alone_s": best[1],
        "page_to_scripts": best[0] / best[1],
    }


def main(*, as_json: bool) -> int:
    if CHROMIUM is None:
        print(f"error: {MISSING}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        measured = figures(Path(folder))
    if as_json:
        print(json.dumps(measured))
    else:
        for name, value in measured.items():
            print(f"{name:32} {value:>16.3f}")
    slow = measured["page_interactive_s"] >= ALLOWED_S
    if slow:
        print(f"slower than the {ALLOWED_S:g} s that a reader may wait", file=sys.stderr)
    return int(slow)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
    sys.exit(main(as_json="--json" in sys.argv[1:]))
