"""Is this that drive: two runs held against each other, as a probability with its grounds."""
