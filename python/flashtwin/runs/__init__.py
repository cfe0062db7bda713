"""Runs as values and files: series, findings, histograms, the run directory."""
