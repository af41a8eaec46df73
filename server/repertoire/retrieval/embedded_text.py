"""Defines which text of a component each vector space embeds, for ingestion and search alike."""

from __future__ import annotations

from repertoire.domain.answer import BODY_SPACE, CODE_SPACE, DESCRIPTION_SPACE
from repertoire.domain.component import BODY_INDEXED, Component
from repertoire.retrieval.translation import is_multilingual

COMPONENT_SPACES = (BODY_SPACE, DESCRIPTION_SPACE, CODE_SPACE)
_DESCRIPTION_CHARACTERS = 300
_CODE_CHARACTERS = 1500


def passage(space: str, component: Component, *, model: str = "") -> str:
    """Return the text of a component that a model embeds in a vector space; empty where it has none."""
    if space == CODE_SPACE:
        return component.code[:_CODE_CHARACTERS]
    described = component.description if is_multilingual(model) else component.described
    whole = f"{component.name}. {described}\n{component.body[:BODY_INDEXED]}"
    if space == BODY_SPACE:
        return whole
    return whole[: len(component.name) + 2 + _DESCRIPTION_CHARACTERS]
