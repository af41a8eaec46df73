"""Runs `doctor` without the package's environment, with only the standard library and Python 3.9."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from repertoire.app.current_project import current_project
from repertoire.app.health.doctor import examine
from repertoire.boot.interrupts import raise_on_interrupt
from repertoire.boot.streams import print_any_character
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.health import FAIL, Finding
from repertoire.rendering.doctor import finding_text, findings_data, verdict_text

_WIDEST = 120  # columns, as in cli/terminal.py
HELP = "Check every part of the installation and say how to repair what is broken."


def main(arguments: list[str]) -> int:
    """Parse the arguments, run the checks, print the findings; return the exit status."""
    parser = argparse.ArgumentParser("repertoire doctor", description=HELP)
    parser.add_argument("--json", action="store_true", help="print JSON for a program")
    return checkup(as_json=parser.parse_args(arguments).json)


def checkup(*, as_json: bool) -> int:
    """Print each finding at once, or all findings as JSON; return 1 if something is broken, else 0."""
    findings: list[Finding] = []
    width = min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else 0
    for finding in examine(os.environ, project=_project()):
        findings.append(finding)
        if not as_json:
            sys.stdout.write(f"{finding_text(finding, width=width)}\n")
            sys.stdout.flush()
    broken = any(finding.state == FAIL for finding in findings)
    if as_json:
        sys.stdout.write(f"{json.dumps(findings_data(findings), indent=2)}\n")
    else:
        sys.stdout.write(f"{verdict_text(findings)}\n")
    return 1 if broken else 0


def _project() -> Path:
    try:
        return Path(current_project())
    except InvalidRequest:
        return Path()  # it was removed, or has an odd name: its files are found from within


if __name__ == "__main__":
    try:
        raise_on_interrupt()
        print_any_character()
        ended = main(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(ended)
    except OSError as error:  # a closed pipe or a full disk; the rest must not be flushed into it on exit
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"repertoire: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
