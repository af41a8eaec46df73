"""Renders what was learned from use; names from strangers stand on capped lines."""

from __future__ import annotations

from repertoire.app.feedback import Feedback
from repertoire.domain.text import clean_line
from repertoire.rendering.answers import NAME

_ID = 200


def feedback_text(kept: Feedback) -> str:
    """Render what was kept of somebody's word."""
    name, key = clean_line(kept.component.name, NAME), clean_line(kept.component.id, _ID)
    use = "for its latest use" if kept.used else "though no use of it was on record"
    return f"Kept: {name} {kept.outcome}, {use}.\n  {key}"
