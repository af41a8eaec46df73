"""Says what a question to packs may use: the stages that settings and the asker switch on, the model, the gate."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from repertoire.app.packs.query import PackMeans
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.pack_stages import PROFILES, STAGES, stages_of
from repertoire.domain.text import clean_line
from repertoire.ports import Embedder, Reranker
from repertoire.settings import Settings


class PackHome(Protocol):
    """The parts of an opened home that a question to packs needs."""

    @property
    def settings(self) -> Settings:
        """The settings of the person."""

    @property
    def embedder(self) -> Embedder | None:
        """The model; None where none can be used."""

    @property
    def reranker(self) -> Reranker | None:
        """The cross-encoder, where one is configured."""


def chosen_stages(
    settings: Settings, profile: str = "", *, on: Collection[str] = (), off: Collection[str] = ()
) -> frozenset[str]:
    """Return the stages of a profile, by default the settings', with the settings' switches and then the asker's.

    Raises:
        InvalidRequest: a profile or a stage is unknown.
    """
    name = profile or settings.pack_profile
    usual = [_names(settings.pack_with, "pack_with"), _names(settings.pack_without, "pack_without")]
    unknown = [one for one in (*on, *off) if one not in STAGES]
    if name not in PROFILES or unknown:
        message = f"there is no {clean_line((unknown or [name])[0], 80)!r}; {_known()}"
        raise InvalidRequest(message)
    return (stages_of(name, on=usual[0], off=usual[1]) | frozenset(on)) - frozenset(off)


def means_of(home: PackHome, profile: str = "", *, on: Collection[str] = (), off: Collection[str] = ()) -> PackMeans:
    """Return what questions to packs use in a home.

    Raises:
        InvalidRequest: a profile or a stage is unknown.
    """
    settings = home.settings
    gate, quality = settings.pack_gate_percent / 100, settings.pack_quality_percent / 100
    stages = chosen_stages(settings, profile, on=on, off=off)
    chosen = bool(profile or on or off or settings.pack_with or settings.pack_without)
    return PackMeans(home.embedder, gate, quality, home.reranker, stages, chosen=chosen)


def _names(listed: str, setting: str) -> list[str]:
    names = [name for name in listed.replace(",", " ").split() if name]
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        message = f"setting {setting} names {clean_line(unknown[0], 80)!r}; {_known()}"
        raise InvalidRequest(message)
    return names


def _known() -> str:
    return f"profiles are {', '.join(PROFILES)}, stages {', '.join(STAGES)}"
