"""Twins against what was published of the drives that they are twins of.

`metrics` says how the value of a published row is found, `measure` runs what that needs, `rows`
judges, and `validate` is all of it. Nothing here tunes anything.
"""
