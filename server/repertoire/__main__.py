"""`python -m repertoire`: the command line."""

from repertoire.boot.threads import one_thread

if __name__ == "__main__":
    one_thread()
    from repertoire.cli.main import main  # once numpy may be imported

    main()
