"""Claude Code's own components, laid out as the real client does it, are ingested, and removed once uninstalled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingestion.workbench import git, repository, skill
from repertoire.app.upkeep.refresh import refresh
from repertoire.settings import Settings


class Claude:
    """A configuration folder of Claude Code."""

    def __init__(self, bench, folder: Path) -> None:
        self.bench = bench
        self.folder = folder
        self.known: dict[str, object] = {}
        self.installed: dict[str, object] = {}

    def write(self, files: dict[str, str]) -> Path:
        return self.bench.write(files, under=str(self.folder))

    def marketplace(self, name: str, files: dict[str, str], plugins: list[dict[str, object]]) -> Path:
        """Add a marketplace as `/plugin marketplace add acme/NAME` does: a clone below plugins/marketplaces."""
        listed = {"name": name, "owner": {"name": "Acme"}, "plugins": plugins}
        place = self.bench.write(
            {**files, ".claude-plugin/marketplace.json": json.dumps(listed)},
            under=str(self.folder / "plugins/marketplaces" / name),
        )
        repository(place)
        git(place, "remote", "add", "origin", f"https://github.com/acme/{name}.git")
        self.known[name] = {
            "source": {"source": "github", "repo": f"acme/{name}"},
            "installLocation": str(place),
            "lastUpdated": "2026-01-01T00:00:00.000Z",
        }
        self.write({"plugins/known_marketplaces.json": json.dumps(self.known)})
        return place

    def install(self, plugin: str, files: dict[str, str], *, scope: str = "user", enabled: bool = True) -> Path:
        """Install a plugin as `/plugin install` does: a copy below plugins/cache."""
        name, _, market = plugin.partition("@")
        place = self.bench.write(files, under=str(self.folder / "plugins/cache" / market / name / "1.0.0"))
        self.installed[plugin] = [{"scope": scope, "installPath": str(place), "version": "1.0.0"}]
        self.save(enabled={plugin: enabled})
        return place

    def uninstall(self, plugin: str) -> None:
        del self.installed[plugin]
        self.save(enabled={})

    def save(self, *, enabled: dict[str, bool]) -> None:
        self.write(
            {
                "plugins/installed_plugins.json": json.dumps({"version": 2, "plugins": self.installed}),
                "settings.json": json.dumps({"enabledPlugins": enabled}),
            }
        )


@pytest.fixture(params=["default", "CLAUDE_CONFIG_DIR"])
def claude(bench, request, monkeypatch):
    folder = bench.root / "person" / ".claude"
    if request.param == "CLAUDE_CONFIG_DIR":
        folder = bench.root / "elsewhere"
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    folder.mkdir()
    return Claude(bench, folder)


def state_file(claude: Claude) -> str:
    """Claude Code's own state: beside the configuration folder, or in it where the folder was chosen."""
    return ".claude.json" if claude.folder.name == "elsewhere" else "../.claude.json"


def components(bench) -> dict[str, tuple[str, str, bool]]:
    return {
        f"{row.source.partition(':')[0]}|{row.type}": (row.name, row.id.partition(row.source)[2], row.installed)
        for row in bench.store.graph.summaries()
    }


def installed(bench) -> set[str]:
    return {row.name for row in bench.store.graph.summaries() if row.installed}


def test_a_machine_where_claude_code_was_never_used_has_nothing(bench):
    assert bench.ingest_all("installed") == ()


def test_a_persons_own_components_are_installed(claude, bench):
    claude.write(
        {
            "skills/mine/SKILL.md": skill("mine"),
            "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nx",
            "commands/git/ship.md": "Ship it.",
            "settings.json": json.dumps(
                {
                    "env": {"SECRET_TOKEN": "do-not-keep-1"},
                    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "python3 ~/bin/notify.py"}]}]},
                }
            ),
            state_file(claude): json.dumps(
                {
                    "oauthAccount": {"accessToken": "do-not-keep-2"},
                    "mcpServers": {
                        "notes": {"command": "uvx", "args": ["notes-mcp"], "env": {"NOTES_KEY": "do-not-keep-3"}}
                    },
                }
            ),
            "projects/x/session.jsonl": "do-not-keep-4",
            "todos/agents/x.md": "---\nname: no\ndescription: no\n---\n",
        }
    )

    (report,) = bench.ingest_all("installed")

    assert installed(bench) == {"mine", "helper", "ship", "notify", "notes"}
    assert report.source == ("user:~/.claude" if claude.folder.name == ".claude" else f"user:{claude.folder}")
    assert all(component.install == () for component in bench.all().values())
    bench.store.close()
    assert b"do-not-keep" not in b"".join(path.read_bytes() for path in bench.home.glob("repertoire.db*"))


def test_front_matter_and_the_persons_settings_say_who_may_start_a_skill(claude, bench):
    bench.write(
        {
            ".claude/skills/here/SKILL.md": skill("here"),
            ".claude/settings.json": json.dumps({"skillOverrides": {"here": "off"}}),
            ".claude/settings.local.json": json.dumps({"skillOverrides": {"here": "user-invocable-only"}}),
        },
        under="project",
    )
    claude.write(
        {
            "skills/mine/SKILL.md": skill("another-name"),
            "skills/typed/SKILL.md": skill("typed", disable_model_invocation="true"),
            "skills/known/SKILL.md": skill("known", user_invocable="false"),
            "commands/git/ship.md": "Ship it.",
            "settings.json": json.dumps({"skillOverrides": {"mine": "off", "git:ship": "user-invocable-only", "x": 1}}),
        }
    )
    bench.ingest_all("installed")
    said = {one.call_name: one.invocation for one in bench.all().values()}
    assert said == {"mine": "nobody", "typed": "person", "known": "model", "git:ship": "person", "here": "person"}

    claude.write({"settings.json": "{}"})
    bench.ingest_all("installed")
    assert {one.call_name for one in bench.all().values() if not one.invocation} == {"mine", "git:ship"}


def test_a_skill_whose_paths_match_only_some_files_waits_for_one_of_them(claude, bench):
    paths = {"py": "'**/*.py'", "two": "[docs, src]", "braces": "'*.{a,b}'", "all": "'**'", "each": "['**', '/**']"}
    skills = {
        name: skill(name, paths=stated) for name, stated in {**paths, "none": "", "list": "[]", "on": "true"}.items()
    }
    off = skill("off", paths="src", disable_model_invocation="true", user_invocable="false")
    box = {"name": "box", "owner": {"name": "x"}, "plugins": [{"name": "kit", "source": "./kit"}]}
    kit = bench.write(
        {
            ".claude-plugin/marketplace.json": json.dumps(box),
            "kit/.claude-plugin/plugin.json": json.dumps({"name": "kit"}),
            "kit/skills/boxed/SKILL.md": skill("boxed", paths="src"),
        },
        under="kit",
    )
    claude.write({f"skills/{name}/SKILL.md": text for name, text in {**skills, "off": off}.items()})
    claude.write({"commands/ship.md": "---\npaths: src\n---\nShip it."})
    bench.ingest_all("installed")
    bench.ingest(str(kit))
    said = {one.name: one.invocation for one in bench.all().values() if one.type in ("skill", "command")}
    waiting = dict.fromkeys(("py", "two", "braces"), "matched")
    assert said == {**dict.fromkeys((*skills, "ship", "boxed"), ""), **waiting, "off": "nobody"}


def test_what_a_person_links_into_their_folder_is_read_but_no_link_below_it(claude, bench):
    dotfiles = bench.write({"linked/SKILL.md": skill("linked")}, under="dotfiles")
    (dotfiles / "linked/out").symlink_to("/etc")
    (claude.folder / "skills").mkdir()
    (claude.folder / "skills/linked").symlink_to(dotfiles / "linked")

    (report,) = bench.ingest_all("installed")

    assert set(bench.all()) == {"skills/linked/SKILL.md"}
    assert [(skipped.path, skipped.reason) for skipped in report.skipped] == [
        ("skills/linked/out", "a link that leaves the source")
    ]


def test_the_projects_components_are_a_source_of_their_own(claude, bench):
    bench.write(
        {
            ".claude/skills/local/SKILL.md": skill("local"),
            ".claude/settings.local.json": json.dumps(
                {
                    "hooks": {
                        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]
                    }
                }
            ),
            ".mcp.json": json.dumps({"mcpServers": {"db": {"type": "http", "url": "https://db.example/mcp"}}}),
            "src/agents/not_read.md": "---\nname: no\ndescription: no\n---\n",
        },
        under="project",
    )
    state = {"projects": {str(bench.root / "project"): {"mcpServers": {"mine": {"command": "x"}}}}}
    claude.write({state_file(claude): json.dumps(state)})

    (report,) = bench.ingest_all("installed")

    assert report.source == f"project:{bench.root / 'project'}"
    assert installed(bench) == {"local", "guard", "db", "mine"}


@pytest.mark.parametrize("repository", ["project", "main"])
def test_a_server_that_is_turned_off_in_a_project_is_not_in_use_there(claude, bench, repository):
    servers = {name: {"command": name} for name in ("used", "off", "unwanted")}
    settings = json.dumps({"disabledMcpjsonServers": ["unwanted"]})
    files = {".mcp.json": json.dumps({"mcpServers": servers}), ".claude/settings.local.json": settings}
    if repository == "main":  # the project is a linked worktree
        back = str(bench.root / "project" / ".git")
        store = bench.write({"commondir": "../..", "gitdir": back}, under="main/.git/worktrees/p")
        files[".git"] = f"gitdir: {store}"
    bench.write(files, under="project")
    listed = {"mcpServers": {"own": {"command": "x"}, "own-off": {"command": "x"}}}
    state = {"projects": {str(bench.root / repository): {**listed, "disabledMcpServers": ["off", "own-off"]}}}
    claude.write({state_file(claude): json.dumps(state)})
    bench.ingest_all("installed")
    assert installed(bench) == {"used", "own"}


@pytest.mark.parametrize("off", [False, True], ids=["installed for it", "off elsewhere"])
def test_a_plugin_that_one_project_installs_or_turns_on_is_installed_there_alone(claude, bench, off):
    kit = {"kit/.claude-plugin/plugin.json": '{"name": "kit", "description": "d"}', "kit/skills/a/SKILL.md": skill("a")}
    claude.marketplace("market", kit, [{"name": "kit", "source": "./kit"}])
    claude.install("kit@market", {name.removeprefix("kit/"): text for name, text in kit.items()})
    project = bench.write({"README.md": "x"}, under="project")
    claude.installed["kit@market"][0] |= {} if off else {"scope": "project", "projectPath": str(project)}
    claude.save(enabled={"kit@market": False} if off else {})
    bench.write({".claude/settings.json": '{"enabledPlugins": {"kit@market": true}}'}, under="project")

    refresh(bench.store, bench.home, settings=Settings(fetch=False))
    own = f"project:{project}/.claude/plugins/kit@market"
    assert {(row.source, row.name) for row in bench.store.graph.summaries() if row.installed} == {
        (own, "a"),
        (own, "kit"),
    }
    assert bench.store.sources.elsewhere(str(project)) == frozenset()
    assert bench.store.sources.elsewhere("/another") == {own}

    bench.write({".claude/settings.local.json": '{"enabledPlugins": {"kit@market": false}}'}, under="project")
    refresh(bench.store, bench.home, settings=Settings(fetch=False))
    assert installed(bench) == set()


def test_a_marketplaces_clone_offers_what_is_not_installed(claude, bench):
    claude.marketplace(
        "market",
        {"kit/.claude-plugin/plugin.json": '{"name": "kit", "description": "d"}', "kit/skills/a/SKILL.md": skill("a")},
        [
            {"name": "kit", "source": "./kit"},
            {"name": "far", "source": {"source": "url", "url": "https://github.com/x/far.git"}},
        ],
    )

    (report,) = bench.ingest_all("installed")

    assert report.source == "github.com/acme/market"
    assert installed(bench) == set()
    found = {component.name: component for component in bench.all().values()}
    assert found["a"].install == ("/plugin install kit@market",)
    assert found["far"].install == ("/plugin install far@market",)
    assert found["a"].first_commit == "2026-01-01"


def test_installing_a_plugin_of_a_clone_keeps_the_ids_and_sets_the_flag(claude, bench):
    files = {".claude-plugin/plugin.json": '{"name": "kit", "description": "d"}', "skills/a/SKILL.md": skill("a")}
    claude.marketplace(
        "market",
        {f"kit/{path}": text for path, text in files.items()} | {"other/skills/b/SKILL.md": skill("b")},
        [{"name": "kit", "source": "./kit"}, {"name": "other", "source": "./other", "description": "d"}],
    )
    bench.ingest_all("installed")
    before = {row.id for row in bench.store.graph.summaries()}

    claude.install("kit@market", files)
    bench.ingest_all("installed")

    assert {row.id for row in bench.store.graph.summaries()} == before
    assert installed(bench) == {"kit", "a"}


def test_a_plugin_from_elsewhere_is_read_where_it_is_installed(claude, bench):
    claude.marketplace("market", {}, [{"name": "far", "source": {"source": "github", "repo": "x/far"}}])
    claude.install("far@market", {"skills/f/SKILL.md": skill("f"), "commands/go.md": "Go."})

    reports = bench.ingest_all("installed")

    assert [report.source for report in reports] == ["plugin:far@market", "github.com/acme/market"]
    assert installed(bench) == {"f", "go"}
    f = next(component for component in bench.all().values() if component.name == "f")
    assert (f.plugin, f.marketplace) == ("far", "market")


def test_a_disabled_plugin_is_not_in_use_and_tells_how_to_enable_it(claude, bench):
    claude.marketplace("market", {"kit/skills/a/SKILL.md": skill("a")}, [{"name": "kit", "source": "./kit"}])
    claude.install("kit@market", {"skills/a/SKILL.md": skill("a")}, enabled=False)

    bench.ingest_all("installed")

    assert installed(bench) == set()
    assert bench.one("skill").install == ("/plugin enable kit@market",)


def test_a_marketplace_in_a_folder_is_read_where_it_lies(claude, bench):
    listed = {"name": "local", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./"}]}
    folder = bench.write(
        {
            ".claude-plugin/marketplace.json": json.dumps(listed),
            ".claude-plugin/plugin.json": '{"name": "p", "description": "d"}',
        }
    )
    claude.known["local"] = {"source": {"source": "directory", "path": str(folder)}, "installLocation": str(folder)}
    claude.write({"plugins/known_marketplaces.json": json.dumps(claude.known)})

    (report,) = bench.ingest_all("installed")

    assert report.source == f"folder:{folder}"
    assert bench.one("plugin").install == ("/plugin install p@local",)


def test_a_project_without_components_any_more_is_forgotten(bench):
    skill_file = bench.write({".claude/skills/local/SKILL.md": skill("local")}, under="project")
    bench.ingest_all("installed")
    (skill_file / ".claude/skills/local/SKILL.md").unlink()
    (skill_file / ".claude/skills/local").rmdir()
    (skill_file / ".claude/skills").rmdir()

    (report,) = bench.ingest_all("installed")

    assert report.removed == 1
    assert bench.store.sources.all() == []


def test_a_folder_that_a_person_ingested_stays_and_is_available_when_its_marketplace_is_removed(claude, bench):
    listed = {"name": "local", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./"}]}
    files = {"skills/one/SKILL.md": skill("one"), ".claude-plugin/marketplace.json": json.dumps(listed)}
    folder = bench.write(files)
    key = bench.ingest(folder).source
    known = {"local": {"source": {"source": "directory", "path": str(folder)}, "installLocation": str(folder)}}
    claude.write({"plugins/known_marketplaces.json": json.dumps(known)})
    claude.install("kit@local", files)
    bench.ingest_all("installed")
    assert installed(bench) == {"kit", "one"}

    claude.uninstall("kit@local")
    claude.write({"plugins/known_marketplaces.json": "{}"})
    bench.ingest_all("installed")

    assert "one" in {component.name for component in bench.all().values()}
    assert installed(bench) == set()
    assert [(row.info.key, row.info.kind) for row in bench.store.sources.all()] == [(key, "folder")]


def test_what_left_the_machine_leaves_the_graph_at_the_next_refresh(claude, bench):
    claude.marketplace("market", {}, [{"name": "far", "source": {"source": "github", "repo": "x/far"}}])
    claude.install("far@market", {"skills/f/SKILL.md": skill("f")})
    refresh(bench.store, bench.home, settings=Settings())
    assert "f" in installed(bench)

    claude.uninstall("far@market")
    refresh(bench.store, bench.home, settings=Settings())

    assert installed(bench) == set()
    assert not any(row.info.kind == "plugin" for row in bench.store.sources.all())


@pytest.mark.parametrize(
    "content", ["{broken", "[]", '{"plugins": 3}', '{"plugins": {"a@b": "x", "c": []}}', "null", "[" * 100_000]
)
def test_state_files_of_another_shape_stop_nothing(claude, bench, content):
    claude.write(
        {
            "plugins/installed_plugins.json": content,
            "plugins/known_marketplaces.json": content,
            "settings.json": content,
            state_file(claude): content,
            "skills/mine/SKILL.md": skill("mine"),
        }
    )

    bench.ingest_all("installed")

    assert installed(bench) == {"mine"}
