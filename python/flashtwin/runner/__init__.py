"""Drives batteries over targets; see `run`, `targets` and `observer`."""
