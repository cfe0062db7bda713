"""The names that the battery discover, its conclusions and its page share."""

from flashtwin.hypothesis.structures import NONE, structures

NAME = "discover"
FILL = f"{NAME}/fill"
RESTS = f"{NAME}/rests"
# Kinds of caches and ways past them, in the order of the table; a drive without a cache comes last.
NAMES = (*dict.fromkeys(row.name for row in structures() if row.name != NONE), NONE)
PASTS = tuple(dict.fromkeys(row.past for row in structures()))
# What is told, by its place in a structure of the table: see `Posterior.by`.
PARTS = ("structure", "past")
