"""Knows where Claude Code looks for what it has, and lets no path lead out of there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import InstallRefused
from repertoire.installing.steps import PERSONAL, SERVERS


@dataclass(frozen=True)
class Places:
    """A person's folder of Claude Code's, the project at hand, and whether what is installed is for that alone."""

    config: Path
    project: Path
    for_project: bool = False

    def of(self, place: str, name: str = "") -> Path:
        """Return the path that a line names: below `~/.claude`, or in the project.

        Raises:
            InstallRefused: it leads elsewhere, by its name or over a link.
        """
        below = place.removeprefix(PERSONAL)
        personal = below != place
        root = self.config if personal and not self.for_project else self.project
        path = root / (".claude" if personal and self.for_project else "") / below / name
        if ".." in path.parts or not _rests(path, root):
            message = f"{path} would lead out of {root}, so nothing is written there; look where its folders link to"
            raise InstallRefused(message)
        return path

    @property
    def servers(self) -> Path:
        """The file in which a project lists its MCP servers."""
        return self.of(SERVERS)

    @property
    def kept_by_client(self) -> tuple[Path, ...]:
        """The files in which the client notes what it was told to install."""
        plugins = self.config / "plugins"
        own = self.project / ".claude" / "settings.json" if self.for_project else self.config / "settings.json"
        return own, plugins / "known_marketplaces.json", plugins / "installed_plugins.json"


def _rests(path: Path, root: Path) -> bool:
    """Tell whether a path stays in a folder, wherever its own folders link to."""
    return path.resolve().is_relative_to(root.resolve()) and not path.is_symlink()
