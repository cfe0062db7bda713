"""Runs in other programs' formats: tables as CSV or Parquet, steps as fio's JSON."""
