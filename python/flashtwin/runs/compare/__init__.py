"""Runs side by side: what differs in set-up, findings, curves and latencies, and by how much."""
