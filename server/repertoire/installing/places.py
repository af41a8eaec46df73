"""Finds the paths where Claude Code reads components, and refuses every path that leads out of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repertoire.domain.errors import InstallRefused
from repertoire.installing.steps import PERSONAL


@dataclass(frozen=True)
class InstallPaths:
    """A person's Claude Code folder and state file, the project, and whether installations are for that one only."""

    config: Path
    state: Path
    project: Path
    for_project: bool = False

    def of(self, place: str, name: str = "") -> Path:
        """Return the path that an install line names: below `~/.claude`, or in the project.

        Raises:
            InstallRefused: it leads elsewhere, by its name or through a link.
        """
        below = place.removeprefix(PERSONAL)
        personal = below != place
        root = self.config if personal and not self.for_project else self.project
        path = root / (".claude" if personal and self.for_project else "") / below / name
        if ".." in path.parts or not _stays_inside(path, root):
            link = _link(path)
            why = f", since {link} is a link to {link.resolve()}" if link else ""
            message = (
                f"{path} would lead out of {root}{why}, so nothing is written there; "
                "put a real file or folder in the link's place, or paste the install lines into a session"
            )
            raise InstallRefused(message)
        return path

    def refuse_link(self, path: Path) -> None:
        """Refuse to restore a file where a person has put a link since it was installed.

        Raises:
            InstallRefused: the file is a link, or a folder above it leads elsewhere.
        """
        root = next((root for root in (self.config, self.project) if path.is_relative_to(root)), path.parent)
        if not _stays_inside(path, root):
            message = (
                f"{_link(path) or path} is a link now, so nothing was taken back; "
                "put in its place what it leads to, and try again"
            )
            raise InstallRefused(message)

    @property
    def kept_by_client(self) -> tuple[Path, ...]:
        """The files in which the client keeps its installed plugins and marketplaces, and a project's servers."""
        own: tuple[Path, ...] = (self.settings("user"),)
        if self.for_project:
            own = (self.settings("project"), self.servers("project"))
        return *own, self.known_marketplaces, self.installed_plugins

    def settings(self, scope: str) -> Path:
        """Return the file in which the client keeps the settings of a scope, `user` or `project`."""
        return (self.project / ".claude" if scope == "project" else self.config) / "settings.json"

    def servers(self, scope: str) -> Path:
        """Return the file in which the client lists the servers of a scope, `user` or `project`."""
        return self.project / ".mcp.json" if scope == "project" else self.state

    @property
    def known_marketplaces(self) -> Path:
        """The file in which the client lists its marketplaces."""
        return self.config / "plugins" / "known_marketplaces.json"

    @property
    def installed_plugins(self) -> Path:
        """The file in which the client lists its installed plugins."""
        return self.config / "plugins" / "installed_plugins.json"


def _stays_inside(path: Path, root: Path) -> bool:
    """Tell whether a path stays in a folder after links are followed, and is no link itself."""
    return path.resolve().is_relative_to(root.resolve()) and not path.is_symlink()


def _link(path: Path) -> Path | None:
    return next((found for found in (path, *path.parents) if found.is_symlink()), None)
