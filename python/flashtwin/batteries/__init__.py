"""Batteries: families of tests as generators of steps; see `registry` for what there is."""

# What is run where nobody says.
DEFAULT = "fill,crystaldiskmark"
