"""The names that the battery discover, its conclusions and its page share."""

NAME = "discover"
FILL = f"{NAME}/fill"
NAMES = ("static", "dynamic", "hybrid", "whole-drive")
PASTS = ("direct", "staged", "fold-first")
