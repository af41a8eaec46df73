"""`doctor`: the same examination, for whoever has an environment to ask for help in."""

from __future__ import annotations

import click

from repertoire.cli.checkup import checkup
from repertoire.cli.output import json_option


@click.command("doctor")
@json_option
@click.pass_context
def doctor_command(context: click.Context, as_json: bool) -> None:
    r"""Check every piece of the installation and say how to mend what is broken.

    Each line is ok, warn or fail: interpreter, home, environment, vector extension, settings, model, database,
    sources, what is not embedded yet, advisories, hooks, and the registration with Claude Code. It works where the
    environment or the database does not.
    Exit status: 0 nothing is broken (warnings are no breakage), 1 something is.

    \b
    repertoire doctor
    repertoire doctor --json
    """
    context.exit(checkup(as_json=as_json))
