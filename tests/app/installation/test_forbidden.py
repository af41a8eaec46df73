"""What an administrator does not allow is refused as it is planned, also what is copied out of an allowed plugin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from repertoire.app.installation.install import InstallPlan, InstallRequest, plan
from repertoire.app.kernel import Repertoire
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import InstallRefused
from repertoire.sources import client_files
from repertoire.sources.policy import Policy

SKILL = "---\nname: weave\ndescription: Weaves baskets.\n---\n\nWeave.\n"
LISTED = {"name": "shelf", "owner": {"name": "o"}, "plugins": [{"name": n, "source": f"./{n}"} for n in ("kit", "net")]}
FILES = {
    ".claude-plugin/marketplace.json": LISTED,
    "kit/.claude-plugin/plugin.json": {"name": "kit", "description": "Baskets."},
    "kit/skills/weave/SKILL.md": SKILL,
    "kit/.mcp.json": {"mcpServers": {"loom": {"command": "loom"}}},
    "net/.claude-plugin/plugin.json": {"name": "net", "description": "Nets."},
    "net/.mcp.json": {"mcpServers": {"knot": {"command": "knot"}}},
}
Planned = Callable[..., InstallPlan]


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for path, content in FILES.items():
        place = tmp_path / "shelf" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content if isinstance(content, str) else json.dumps(content))
    (tmp_path / "etc").mkdir()
    return tmp_path / "shelf"


@pytest.fixture
def read(tmp_path: Path, shelf: Path) -> Repertoire:
    home = tmp_path / "home"
    home.mkdir()
    with open_repertoire(home, environment={}) as repertoire:
        ingest(repertoire.store, home, str(shelf), settings=repertoire.settings)
        yield repertoire


@pytest.fixture
def planned(tmp_path: Path, shelf: Path, read: Repertoire, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Return a function that plans the installation of the skill under an administrator's settings."""
    monkeypatch.setattr(client_files, "MANAGED", tmp_path / "etc")

    def planned_under(settings: object, *, alone: bool = False) -> InstallPlan:
        (tmp_path / "etc/managed-settings.json").write_text(json.dumps(settings))
        user = {"CLAUDE_CONFIG_DIR": str(tmp_path / "user"), "PATH": ""}
        wanted = InstallRequest((f"folder:{shelf}:kit/skills/weave/SKILL.md",), tmp_path, user, alone=alone)
        return plan(read.store, read.home, wanted, settings=read.settings)

    return planned_under


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("key", ["strictKnownMarketplaces", "blockedMarketplaces"])
def test_a_marketplace_that_is_not_allowed_is_not_installed_from(
    planned: Planned, shelf: Path, key: str, alone: bool
) -> None:
    own = [{"source": "directory", "path": str(shelf)}]
    allowed, forbidden = (own, []) if key == "strictKnownMarketplaces" else ([], own)
    assert planned({key: allowed}, alone=alone).changes
    with pytest.raises(InstallRefused, match="do not allow the marketplace shelf; ask"):
        planned({key: forbidden}, alone=alone)


def test_a_skill_is_not_copied_out_of_its_plugin_where_only_plugins_may_bring_skills(planned: Planned) -> None:
    settings = {"strictPluginOnlyCustomization": ["skills"]}
    assert planned(settings).commands
    with pytest.raises(InstallRefused, match="allow no skills but those of plugins"):
        planned(settings, alone=True)


def test_a_plugin_of_which_all_is_forbidden_is_forbidden_too(read: Repertoire, shelf: Path) -> None:
    found = read.store.graph.forbidden(Policy(servers=()))
    assert {one.removeprefix(f"folder:{shelf}:") for one in found} == {
        "kit/.mcp.json#loom",
        "net",
        "net/.mcp.json#knot",
    }
