"""The words that all rooms speak; no input or output, and nothing of ours is imported."""
