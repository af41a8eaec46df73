"""What a tool answers: the text that is read, and the same as data for clients that compute with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One tool's answer."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
