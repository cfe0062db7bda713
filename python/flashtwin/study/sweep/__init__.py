"""Sweeps: one battery over a grid of drives, on all cores or on a cluster, in one directory."""
