"""Keeps the random answers that this home gave about outcomes, so that it never gives another one to the same question.

They stay when a commons is left: a second draw would tell more than the first.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from repertoire.app.commons.membership import folder
from repertoire.boot.private_file import write_json
from repertoire.learning.randomized_response import answer
from repertoire.learning.shared_use import FAILED, WORKED

_FILE = "answers.json"


@dataclass
class Answers:
    """The secret that decides which answers are untrue, the answers that were sent, and whether a commons has any."""

    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    given: dict[str, str] = field(default_factory=dict)  # component to worked or failed
    reported: bool = False  # the last report held offers and outcomes

    def of(self, truths: Mapping[str, bool]) -> dict[str, str]:
        """Return the answer for each component, of which the truth says whether it worked here: the first one stays."""
        drawn = bytes.fromhex(self.secret)
        return {
            key: self.given.get(key) or (WORKED if answer(drawn, key, truth=truth) else FAILED)
            for key, truth in sorted(truths.items())
        }


def answers_of(home: Path) -> Answers | None:
    """Return the home's answers; None before its person allowed it to tell outcomes, or if the file is damaged."""
    try:
        found = Answers(**json.loads((folder(home) / _FILE).read_text(encoding="utf-8")))
        bytes.fromhex(found.secret)
    except (OSError, ValueError, TypeError):
        return None
    return found


def keep_answers(home: Path, answers: Answers) -> None:
    """Replace what is kept, readable by this user alone."""
    write_json(folder(home) / _FILE, asdict(answers), flush=True)
