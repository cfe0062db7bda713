"""Arrays in, facts out: what a series of numbers says, whatever drive or battery made it.

`curve` makes samples ready, `interruptions` takes stalls out, `changepoints` and `edges` find where
a level changes, `first_plateau` and `shape` read the plateaus of a fill, `estimate` has intervals,
`steady` judges rounds.
Nothing is imported here, so that the command line starts without numpy.
"""
