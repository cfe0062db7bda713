"""Makes python/flashtwin/charts/kit/vega.js.gz: the scripts that draw the charts of a page.

Vega-Embed with Vega and Vega-Lite as one script that may stand in a page, packed as pages have it.
vl-convert bundles them: who builds the package has it, who uses it need not. Run by ./dev and by
`flashtwin_build`.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

PLACE = Path(__file__).resolve().parent.parent / "python/flashtwin/charts/kit/vega.js.gz"


def make() -> None:
    """Write the script, whole or not at all."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    text = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    unfinished = PLACE.with_suffix(".new")
    unfinished.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    os.replace(unfinished, PLACE)


if __name__ == "__main__":
    make()
