"""The names that the battery discover, its conclusions and its page share."""

NAME = "discover"
FILL = f"{NAME}/fill"
NAMES = ("static", "dynamic", "hybrid", "whole-drive", "tiers", "none")
NONE = "none"
PASTS = ("direct", "staged", "fold-first")
