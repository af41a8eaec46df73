"""`python -m repertoire.commons`: the commons' own commands."""

from repertoire.boot.interrupts import leave_on_interrupt

if __name__ == "__main__":
    leave_on_interrupt()
    from repertoire.commons.commands import run

    run()
