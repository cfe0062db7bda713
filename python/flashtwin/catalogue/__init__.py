"""Known drives: a spec in TOML for each, and what was published about them.

`loader` turns a name or a path into a checked spec, `facts` reads the published outcomes.
"""
