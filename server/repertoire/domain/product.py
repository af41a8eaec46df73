"""A product, language, framework or format that a component may be bound to: one row of the shipped table."""

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
    """One product: its kind, its names, the products it implies, and the words by which a question names it.

    `ordinary` are names that are also everyday words: they count only if they are written as names. `told_by` are words
    that name it in a question only; if `asked` is given, a question names it by those words alone.
    """

    kind: str
    also: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    ordinary: tuple[str, ...] = ()
