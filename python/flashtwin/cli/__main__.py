"""`python -m flashtwin.cli` is `flashtwin`."""

from flashtwin.cli import main

if __name__ == "__main__":
    main()
