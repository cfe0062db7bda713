"""The tables of a run as other programs read them."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from stored_runs import store

from flashtwin.errors import FlashtwinError
from flashtwin.runs import frames, tables
from flashtwin.runs.export.export import export
from flashtwin.runs.storage import Words, digest_of, parquet_bytes, read_parquet


def read_back(path: Path) -> dict[str, np.ndarray]:
    return read_parquet(path, digest_of(path.read_bytes()))


def test_a_runs_files_have_the_same_columns_for_polars_and_duckdb(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    for name in frames.SCHEMAS.keys() - frames.OPTIONAL:
        path, table = (
            run.path / f"{name}.parquet",
            run.table(name),
        )
        frame = pl.read_parquet(path)
        assert frame.schema == dict.fromkeys(table, pl.Int64())
        query = duckdb.sql(f"SELECT * FROM read_parquet('{path}')")
        assert set(map(str, query.types)) == {"BIGINT"}
        for column, values in zip(table, query.fetchnumpy().values(), strict=True):
            assert frame[column].to_list() == table[column].tolist() == values.tolist()


def test_more_rows_than_a_group_and_a_page(tmp_path: Path) -> None:
    rows = np.arange((1 << 20) + 7, dtype=np.int64)
    columns = {
        "square": rows * rows,
        "half": np.where(rows % 3 == 0, np.nan, rows / 2),
        "text": Words(places=rows % 5 - 1, words=("a", "b", "", "ü")),
        "same": Words(places=rows * 0, words=("same",)),
        "none": Words(places=rows * 0 - 1, words=()),
    }
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet_bytes(columns))
    frame = pl.read_parquet(path)
    query = duckdb.sql(f"SELECT count(half), sum(half), count(text), min(none) FROM '{path}'")
    assert query.fetchall()[0] == (
        frame["half"].count(),
        pytest.approx(np.nansum(columns["half"])),
        frame["text"].count(),
        None,
    )
    assert (frame["square"].to_numpy() == columns["square"]).all()
    assert frame["text"].to_list()[:7] == [None, "a", "b", "", "ü", None, "a"]
    assert frame["same"].unique().to_list() == ["same"] and frame["none"].null_count() == len(rows)
    assert frame["half"].to_list()[:4] == [None, 0.5, 1.0, None]
    some = duckdb.sql(f"SELECT square FROM '{path}' WHERE square BETWEEN 100 AND 150")
    assert some.fetchall() == [(100,), (121,), (144,)]


def test_what_polars_wrote_is_read(tmp_path: Path) -> None:
    values = {"step": [0, 0, 1], "t_ns": [5, -7, 1 << 60]}
    for compression in ("zstd", "uncompressed"):
        frame = pl.DataFrame(values)
        frame.write_parquet(tmp_path / "x", compression=compression)  # type: ignore[arg-type]
        table = read_back(tmp_path / "x")
        assert {name: column.tolist() for name, column in table.items()} == values
    for frame, why in (
        (pl.DataFrame({"step": [1, None]}), "something else than whole numbers"),
        (pl.DataFrame({"step": ["a"]}), "column step holds something else than whole numbers"),
        (pl.DataFrame({"step": [[1]]}), "not flat"),
    ):
        frame.write_parquet(tmp_path / "x")
        with pytest.raises(FlashtwinError, match=why):
            read_back(tmp_path / "x")


def test_exported_tables_are_what_a_frame_has(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    for file in export(run, "parquet", tmp_path / "out"):
        frame = tables.table(run, file.stem).polars()
        text = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Enum)]
        back = pl.read_parquet(file)
        assert back.equals(frame.with_columns(pl.col(text).cast(pl.String)))


def test_without_polars_a_frame_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(FlashtwinError, match="polars is not installed") as lacking:
        tables.series(run).polars()
    assert lacking.value.exit_code == 3 and lacking.value.hint == "pip install 'flashtwin[frames]'"
    assert export(run, "csv", tmp_path / "csv") and export(run, "parquet", tmp_path / "parquet")
