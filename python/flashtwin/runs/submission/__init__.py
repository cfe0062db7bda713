"""Submissions: a measured run as a folder that a catalogue can take in, and the check of it.

`submit` makes the folder of a stored run, `check` says what is wrong with one, and with a whole
catalogue. `document` has what `submission.json` holds.
"""
