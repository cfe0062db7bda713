"""`python -m flashtwin.cli` is `flashtwin`."""

from flashtwin.cli import program

if __name__ == "__main__":
    program()
