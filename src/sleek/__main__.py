"""`python -m sleek` is the command `sleek`."""

from sleek.cli import main

if __name__ == "__main__":
    main()
