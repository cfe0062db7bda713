"""A twin from measurements: a run's series in, a spec with fitted values and intervals out."""
