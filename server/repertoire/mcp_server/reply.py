"""Defines the answer of a tool: a text for reading, and a JSON object for clients that process it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ASKS = "(asks)"  # stands beside a draft's token, and is no tool's argument, where a person can be asked in a form


@dataclass(frozen=True)
class Consent:
    """What a person is asked in a form: whether to keep the draft of a token."""

    token: str
    message: str


@dataclass(frozen=True)
class Reply:
    """The answer of a tool; with a consent that it still needs, where the client can ask for it."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    consent: Consent | None = None
