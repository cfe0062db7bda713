"""What is wrong with a spec is told once, and by the key that is wrong."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from flashtwin.catalogue.loader import BadSpecError, load, shipped_ids


@pytest.mark.parametrize("origin", ["", "a\\u202eb", "x" * 3000])
def test_a_default_origin_that_is_refused_is_not_missing_as_well(
    tmp_path: Path, origin: str
) -> None:
    spec = tmp_path / "mine.toml"
    spec.write_text(
        f'schema = 1\nextends = "bx500-240"\nid = "mine"\nname = "mine"\norigin = "{origin}"\n'
        'source = "s"\n[slc_cache]\nsize = "12 GB"\n'
    )
    with pytest.raises(BadSpecError) as refused:
        load(str(spec))
    assert [issue.key for issue in refused.value.issues] == ["origin"]


def test_products_beyond_64_bits_are_refused_by_key() -> None:
    sets = [
        "nand.channels=32", "nand.dies_per_channel=32", "nand.planes=8",
        "nand.blocks_per_plane=1000000", "nand.wordlines_per_block=65536", "nand.page_size=64 KiB",
    ]  # fmt: skip
    with pytest.raises(BadSpecError) as refused:
        load("bx500-240", sets=sets)
    keys = [issue.key for issue in refused.value.issues]
    assert "ftl.mapping_unit" in keys
    told = " ".join(issue.message for issue in refused.value.issues)
    assert "more than a 32-bit map can point to" in told


# A mechanism that a user turns off, or another way of one, by a single --set.
CHOICES = (
    "slc_cache.mode=none", "controller.acknowledge=write-through", "controller.read_priority=false",
    "errors.correctable=0", "ftl.parity=none", "ftl.checkpoint=0", "controller.read_ahead=0",
    "fold.path=controller", "wear.spares=0", "wear.dynamic=none", "gc.pace=stop-the-world",
    "gc.policy=d-choices", "gc.separation=sepbit", "gc.separation=hot-cold", "link.kind=sata",
    "controller.write_buffer=4 MiB", "nand.native.second_pass=0", "gc.recycler=none",
)  # fmt: skip


def refused_share(draws: int, most: int) -> float:
    """The share of random combinations of up to `most` choices that random drives refuse."""
    rng = random.Random(13)
    drives, refused = shipped_ids(), 0
    for _ in range(draws):
        sets = dict(choice.split("=") for choice in rng.sample(CHOICES, rng.randint(1, most)))
        try:
            load(rng.choice(drives), sets=[f"{key}={value}" for key, value in sets.items()])
        except BadSpecError:
            refused += 1
    return refused / draws


def test_the_cache_of_every_drive_can_be_turned_off() -> None:
    for drive in shipped_ids():
        load(drive, sets=["slc_cache.mode=none"])


def test_few_random_combinations_of_mechanisms_are_refused() -> None:
    assert refused_share(200, 6) < 0.1
