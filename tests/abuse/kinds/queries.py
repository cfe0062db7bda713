"""Conditions of `--where`: answered, refused in a sentence, or stopped."""

from __future__ import annotations

import os

import mutate
from sandbox import Sandbox


def case(box: Sandbox) -> None:
    """One condition on a few runs."""
    rng = box.rng
    os.symlink(box.prepared / "flashtwin-runs", box.inside / "flashtwin-runs")
    where = mutate.condition(rng)
    if rng.random() < 0.2:
        box.call("runs", "prune", "--where", where, "--dry-run", stop_after_s=3.0)
        return
    words = ["--where", where]
    if rng.random() < 0.2:
        words += ["--sort", mutate.text(rng).replace("\0", "")]
    box.call("runs", "list", *words, *rng.choice(((), ("--json",))), stop_after_s=3.0)
