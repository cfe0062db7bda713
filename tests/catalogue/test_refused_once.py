"""What is wrong with a spec is told once, and by the key that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashtwin.catalogue.loader import BadSpecError, load


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
