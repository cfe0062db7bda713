"""Batteries: families of tests as generators of steps; see `base.registry` for what there is."""
