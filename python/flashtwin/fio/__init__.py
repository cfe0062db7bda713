"""fio's language: typed jobs to job files, fio's JSON and logs back to series and totals."""
