"""Reads the programs of a skill or a hook: the functions that they define, and their technologies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from repertoire import syntax
from repertoire.domain.technologies import Technologies
from repertoire.ingestion import technologies
from repertoire.ingestion.signatures import signatures

_MOST = 40  # programs of one component that are read
_LONGEST = 400_000  # characters of the longest program that is read; a longer one is data or a bundle


@dataclass(frozen=True)
class Scripts:
    """The signatures and technologies of a component's programs; `failed` are those that cannot be parsed."""

    signatures: str = ""
    fields: Technologies = field(default_factory=Technologies)
    failed: tuple[str, ...] = ()


def read(paths: Iterable[str], text_of: Callable[[str], str | None]) -> Scripts:
    """Read the programs among the files of a component, the nearest first."""
    nearest = sorted(
        (path for path in paths if technologies.is_program(path)), key=lambda path: (path.count("/"), path)
    )
    texts = {path: text for path in nearest[:_MOST] if (text := text_of(path)) and len(text) < _LONGEST}
    if not texts:
        return Scripts()
    defined: dict[str, str] = {}
    failed: list[str] = []
    for _, _, language, root in syntax.parsed(texts, failed):
        defined.update(signatures(root, language))
    names = [name for name in defined if "." not in name]
    return Scripts("\n".join(defined.values()), technologies.of_programs(texts, exports=names), tuple(failed))
