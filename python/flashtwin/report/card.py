"""A card about runs to embed elsewhere: one picture and three sentences, as an SVG without scripts.

The picture is the outline of each drive's first curve, on one scale; the sentences are those that a
terminal prints at the end. Invariant: names of runs are text there, never markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from flashtwin.charts import curves
from flashtwin.model.text import listed
from flashtwin.report import masthead, summary
from flashtwin.report.drives import Contents
from flashtwin.runs.rundir import Run

WIDTH, MARGIN, LINE, SENTENCES, LETTERS = 720, 24, 20, 3, 100
TITLE, PICTURE, MOST_TITLE = 56, 180, 66
# Colours of the page's first drives, which light and dark ground both bear.
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c1f24}.title{font-size:18px;font-weight:700}"
    ".quiet{fill:#626a75}.ground{fill:#fff;stroke:#dfe3e8}@media(prefers-color-scheme:dark)"
    "{text{fill:#e8eaed}.quiet{fill:#9aa3ad}.ground{fill:#16191d;stroke:#31363d}}"
)


def svg(runs: Sequence[Run]) -> str:
    """The card of these runs."""
    contents = Contents.of(runs)
    *sentences, _ = summary.lines(runs, then="", page=None)
    if len(sentences) > SENTENCES:
        sentences = [*sentences[: SENTENCES - 1], sentences[-1]]
    rows = [row for sentence in sentences for row in textwrap.wrap(sentence, LETTERS)]
    title = masthead.title(contents.drives)
    names = listed([drive.name for drive in contents.drives[:SENTENCES]])[:MOST_TITLE]
    outlines = curves.outlines(contents.curves)
    top = TITLE + (PICTURE if outlines else 0)
    height = top + LINE * (len(rows) + 2)
    wide, high = (WIDTH - 2 * MARGIN) / curves.WIDTH, (PICTURE - LINE) / curves.HEIGHT
    scale = f"scale({wide:.3f} {high:.3f})"
    paths = [
        f'<path d="{path}" transform="translate({MARGIN} {TITLE}) {scale}" fill="none" '
        f'stroke="{INKS[drive % len(INKS)]}" stroke-width="2" vector-effect="non-scaling-stroke"/>'
        for drive, path in list(outlines.items())[: len(INKS)]
    ]
    texts = [_text(row, top + LINE * (n + 1)) for n, row in enumerate(rows)]
    foot = f"{masthead.kinds(contents.drives)}, flashtwin; speed over data written"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{escape(title)}</title><style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="12"/>',
            _text(title if len(title) <= MOST_TITLE else names, MARGIN + 12, "title"),
            *paths,
            *texts,
            _text(foot, height - 14, "quiet"),
            "</svg>",
            "",
        ]
    )


def _text(words: str, y: int, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{MARGIN}" y="{y}"{named}>{escape(words)}</text>'
