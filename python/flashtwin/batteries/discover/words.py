"""The names that the battery discover, its conclusions and its page share."""

NAME = "discover"
FILL = f"{NAME}/fill"
RESTS = f"{NAME}/rests"
NAMES = ("static", "dynamic", "hybrid", "whole-drive", "tiers", "none")
NONE, DYNAMIC, HYBRID, TIERS = "none", "dynamic", "hybrid", "tiers"
DIRECT, STAGED, FOLD_FIRST = "direct", "staged", "fold-first"
PASTS = (DIRECT, STAGED, FOLD_FIRST)
# What is told, by its place in a structure of the table: see `Posterior.by`.
PARTS = ("structure", "past")
