"""A chart that shows itself in a notebook without a network, and can be saved.

It is a Vega-Lite specification with its data. A notebook gets the scripts that draw it together
with the chart, so that it is still there when the notebook is opened on another machine. Invariant:
a chart never changes; `properties` gives another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin import outputs
from flashtwin.charts import assets
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError

if TYPE_CHECKING:
    import altair

FORMS = (".html", ".json", ".svg", ".png")


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure with its rows in it."""

    spec: Mapping[str, Any]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows that are drawn."""
        rows: list[dict[str, Any]] = self.spec["data"]["values"]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """The specification, as Vega-Lite has it."""
        return dict(self.spec)

    def properties(self, **changed: Any) -> Chart:
        """The chart with other top-level properties, for example `title` or `width`."""
        return Chart(spec={**self.spec, **changed})

    def altair(self) -> altair.Chart | altair.LayerChart:
        """The chart for Altair, which has to be installed, to be changed as its charts are."""
        try:
            import altair
        except ImportError:
            raise _lacking("Altair", "altair") from None
        chart: altair.Chart | altair.LayerChart = altair.Chart.from_dict(self.to_dict())
        return chart

    def save(self, path: str | Path) -> Path:
        """Write it as .html (alone, no network), .json (Vega-Lite), .svg or .png."""
        place = Path(path)
        outputs.write(place, self._as(place.suffix.lower()), folders=True)
        return place

    def _as(self, form: str) -> bytes:
        if form == ".html":
            head = '<!doctype html><meta charset="utf-8"><title>flashtwin</title>'
            return f"{head}<body>{self._repr_html_()}</body>\n".encode()
        if form == ".json":
            return (json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n").encode()
        if form not in FORMS:
            raise FlashtwinError(
                f"a chart cannot be saved as {form or 'a file without an ending'}",
                hint=f"give a name that ends in {', '.join(FORMS)}",
                exit_code=USAGE,
            )
        return self._picture(form)

    def _picture(self, form: str) -> bytes:
        try:
            import vl_convert
        except ImportError:
            raise _lacking("a picture of a chart", "vl-convert-python") from None
        if form == ".svg":
            drawn: str = vl_convert.vegalite_to_svg(self.to_dict())
            return drawn.encode()
        pixels: bytes = vl_convert.vegalite_to_png(self.to_dict(), scale=2)
        return pixels

    def _repr_html_(self) -> str:
        """The drawing with all that it takes; an element's id that follows from what is drawn."""
        text = assets.json_text(self.to_dict())
        place = f"flashtwin-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        draw = f'vegaEmbed("#{place}", {text}, {{actions: false, renderer: "svg"}});'
        bundle = f"if (!window.vegaEmbed) {{\n{assets.vega()}\n}}"
        return f'<div id="{place}"></div><script>(() => {{\n{bundle}\n{draw}\n}})();</script>'


def _lacking(feature: str, package: str) -> FlashtwinError:
    return FlashtwinError(
        f"{feature} needs a package that is not installed: {package}",
        hint="pip install 'flashtwin[pictures]'",
        exit_code=ENVIRONMENT,
    )
