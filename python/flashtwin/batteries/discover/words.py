"""The names that the battery discover, its conclusions and its page share."""

NAME = "discover"
FILL = f"{NAME}/fill"
RESTS = f"{NAME}/rests"
NAMES = ("static", "dynamic", "hybrid", "whole-drive", "tiers", "none")
NONE, DYNAMIC, HYBRID, TIERS = "none", "dynamic", "hybrid", "tiers"
FOLD_FIRST = "fold-first"
PASTS = ("direct", "staged", FOLD_FIRST)
