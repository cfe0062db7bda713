"""Drives whose inside is known, measured with noise, and what an analysis made of them.

`prior.toml` is what is drawn and what has to be reached, `generate` draws a drive and plays its
fill, `disturb` adds what the analysis knows nothing of, `detect` is the analysis as a function,
`judge` counts, `run` does it all on every core. The same for the battery discover: `kinds` draws
drives of every kind of cache and runs it on each through `noisy_host`, `structure` judges.
"""
