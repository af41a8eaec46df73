"""`python -m repertoire`: the command line."""

import sys

from repertoire.boot.threads import one_thread

if __name__ == "__main__":
    one_thread()
    try:
        from repertoire.cli.main import main  # once numpy may be imported
    except KeyboardInterrupt:
        sys.exit(130)
    main()
