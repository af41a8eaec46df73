"""A product, language, framework or format that a component may be bound to, as the shipped table tells of it."""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGE, FRAMEWORK, DATABASE, CLOUD, PLATFORM, SERVICE, CLIENT, FORMAT = (
    "language",
    "framework",
    "database",
    "cloud",
    "platform",
    "service",
    "client",
    "format",
)


@dataclass(frozen=True)
class Product:
    """One product: its kind, the names it goes by, what it implies, and how a question speaks of it.

    `ordinary` are names that are everyday words, too: they count where they are written as names. `told_by` is what
    only a question names it by; where `asked` is given, a question names it by nothing else.
    """

    kind: str
    also: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    ordinary: tuple[str, ...] = ()
