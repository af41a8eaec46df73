"""Lists what sessions start for a plugin beside its hooks and MCP servers: monitors, language and status programs."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repertoire.domain.component import PLUGIN, Component
from repertoire.domain.errors import InstallRefused
from repertoire.domain.text import clean_line
from repertoire.ingestion import values
from repertoire.ingestion.manifests import OWN
from repertoire.installing.files import ComponentFile

_FILES = (".lsp.json", "monitors/monitors.json", "settings.json")  # which the client reads unnamed
_KEYS = ("lspServers", "monitors", "settings", "subagentStatusLine")  # of a manifest, or what it calls experimental
_DEPTH = 6
_MOST = 1_000_000  # bytes of a file that are read
_PATH = 400
Started = Sequence[tuple[str, str]]  # the names of programs, and their commands


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


def started_in(found: Sequence[ComponentFile]) -> Started:
    """Return the programs that the files of a plugin state; none for files without a plugin's manifest."""
    contents = {one.path: one.content for one in found}
    return _started(contents.get) if OWN in contents else ()


def started_below(place: Path, root: Path) -> Started:
    """Return the programs that a plugin in a folder states, as far as its files lie in the source."""

    def read(path: str) -> bytes | None:
        file = place / path
        with contextlib.suppress(OSError):
            if file.resolve().is_relative_to(root.resolve()) and file.is_file():
                with file.open("rb") as stream:
                    return stream.read(_MOST)
        return None

    return _started(read)


def _started(read: Callable[[str], bytes | None]) -> Started:
    def parsed(path: str) -> Any:
        return _parsed(read(posixpath.normpath(path)))

    stated = values.mapping(parsed(OWN))
    manifest = {**values.mapping(stated.get("experimental")), **stated}
    told = [(path, parsed(path)) for path in _FILES]
    for key in _KEYS:
        held = manifest.get(key)
        told += [(key, parsed(one) if isinstance(one, str) else one) for one in _listed(held)]
    return tuple(dict.fromkeys(found for name, value in told for found in _commands(value, name)))


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _parsed(content: bytes | None) -> Any:
    try:
        return values.parse_json((content or b"").decode("utf-8", "replace"))
    except values.Unusable:
        return None


def _commands(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each command with the nearest name above it; hooks are components of their own."""
    if depth == _DEPTH:
        return
    if isinstance(value, list):
        for one in value:
            yield from _commands(one, name, depth + 1)
    if not isinstance(value, Mapping):
        return
    command = value.get("command")
    if isinstance(command, str):
        named = value.get("name")
        arguments = [str(one) for one in _listed(value.get("args") or [])]
        yield (named if isinstance(named, str) else name), " ".join([command, *arguments])
    for key, one in value.items():
        if key != "hooks":
            yield from _commands(one, str(key), depth + 1)
