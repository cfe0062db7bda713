"""Arrays in, findings out: what a series of numbers says about the drive that made it.

It works on numbers from anywhere and imports neither drives nor batteries. Nothing is imported
here, so that the command line starts without numpy; ask the modules: `fill` for the findings of a
fill, `changepoints` and `edges` for any series, `power` and `amplification` for readings of a meter
and of SMART data.
"""
