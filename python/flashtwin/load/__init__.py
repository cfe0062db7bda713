"""A load and what it does to a drive: what is in a trace (`profile`), what its requests cost on a
twin (`cost`), and what years of it leave of a drive (`lifetime`). `figures` draws them.
"""
