"""A twin from measurements: a run's series in, a spec with fitted values and intervals out."""

# The ending of the file beside a fitted spec that has the drives that its run leaves possible.
POSTERIOR = ".posterior.json"
