"""Defines what a commons tells of a pack that a member shared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CommonsPack:
    """A pack of a community: the SHA-256 of its file, what its manifest says, and who sent it when."""

    hash: str
    name: str
    version: str
    description: str
    licence: str
    bytes: int
    member: str
    at: str
