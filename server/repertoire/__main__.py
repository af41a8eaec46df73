"""`python -m repertoire`: the command line."""

from repertoire.cli.main import main

if __name__ == "__main__":
    main()
