"""Typed fio jobs to what a twin runs: copies, files as spans of the drive, groups, core jobs."""
