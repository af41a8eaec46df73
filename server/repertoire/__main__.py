"""`python -m repertoire`: the command line."""

from repertoire.boot.interrupts import leave_on_interrupt
from repertoire.boot.threads import one_thread

if __name__ == "__main__":
    leave_on_interrupt()
    one_thread()
    from repertoire.cli.main import main  # once numpy may be imported

    main()
