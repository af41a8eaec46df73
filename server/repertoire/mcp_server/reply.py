"""Defines the answer of a tool: a text for reading, and a JSON object for clients that process it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """The answer of a tool."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
