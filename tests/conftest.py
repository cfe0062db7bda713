"""Puts this directory on the path, so that every test may import `fakes`."""
