"""`python -m flashtwin.cli` is `flashtwin`."""

from flashtwin.cli import main

main()
