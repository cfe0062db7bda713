"""The chart kit: figures as Vega-Lite, the scripts and styles that draw them. Knows no battery."""
