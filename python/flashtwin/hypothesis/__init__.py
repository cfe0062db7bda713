"""A drive whose inside is not known: which structures its SLC cache may have, with which values.

`structures` declares them once: kinds of caches, ways past a full one, the values that are free,
and how values become settings of a spec. `small_drive` is the spec of the small drives on which
candidates are simulated, `distance` says how far what such a drive shows lies from what was
measured, `small_copy` shows a small drive as the large one that it stands for.
The battery discover, `flashtwin fit` and the laboratory's blind drives read these.
"""
