"""Refuses a component in whose folder a plugin lies, which the client would load with all that it starts."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.domain.component import PLUGIN, Component
from repertoire.domain.errors import InstallRefused
from repertoire.domain.text import clean_line
from repertoire.ingestion.manifests import OWN
from repertoire.installing.files import ComponentFile

_PATH = 400


def refuse_plugin_inside(component: Component, found: Sequence[ComponentFile]) -> None:
    """Refuse a skill whose folder holds a plugin's manifest: sessions would start the hooks and servers beside that.

    Raises:
        InstallRefused: it does.
    """
    if component.type != PLUGIN and any(clean_line(one.path, _PATH).casefold() == OWN for one in found):
        message = (
            f"the folder of {component.name} is a plugin as well ({OWN}), whose hooks and servers sessions would "
            f"start; `repertoire install {component.id.rpartition('/')[0]}` shows and installs all of it"
        )
        raise InstallRefused(message)
