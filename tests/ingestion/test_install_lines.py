"""The client accepts a component's install lines, and then lists the component under the expected name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query, Task
from repertoire.rendering.explanations import explanation_text

MANIFEST = {"name": "kit", "description": "Baskets."}


def plugin(manifest=MANIFEST, listed=None):
    """Return the files of a plugin with an oddly named skill, and of the marketplace that lists it, if one does."""
    files = {
        "kit/.claude-plugin/plugin.json": json.dumps(manifest),
        "kit/skills/weave/SKILL.md": skill("Basket Weaving", "Weaves baskets from willow."),
        "kit/agents/weaver.md": "---\nname: weaver\ndescription: Weaves.\n---\nWeave.\n",
    }
    listing = {"plugins": [{"name": "kit", "source": "./kit"}], **(listed or {})}
    return files if listed is None else {**files, ".claude-plugin/marketplace.json": json.dumps(listing)}


def lines(bench, files) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Ingest a folder of these files and return the name and the lines of each type."""
    folder = bench.write(files)
    bench.ingest(folder)
    shown = ((one.type, one.name, one.install) for one in bench.all().values())
    return {kind: (name, tuple(line.replace(str(folder), "/R") for line in install)) for kind, name, install in shown}


def test_a_plugins_skill_is_called_by_its_folder_as_the_client_lists_it(bench):
    found = lines(bench, plugin(listed={"name": "shelf", "owner": {"name": "o"}}))
    assert found["skill"] == ("weave", ("/plugin marketplace add /R", "/plugin install kit@shelf"))


def test_a_marketplace_in_an_archive_is_to_be_unpacked_first(bench, tmp_path):
    folder = bench.write(plugin(listed={"name": "shelf", "owner": {"name": "o"}}))
    bench.ingest(shutil.make_archive(str(tmp_path / "shelf"), "zip", folder))
    unpack, install = bench.one("agent").install
    assert unpack.startswith("Unpack the archive")
    assert install == "/plugin install kit@shelf"


@pytest.mark.parametrize(
    "listed",
    [
        {"name": "shelf"},
        {"name": "my shelf", "owner": {"name": "o"}},
        {"owner": {"name": "o"}},
        {"name": "s", "owner": {}},
    ],
)
def test_what_a_marketplace_lists_that_the_client_refuses_is_copied(bench, listed):
    found = lines(bench, plugin(listed=listed))
    assert found["agent"] == ("weaver", ("mkdir -p ~/.claude/agents && cp /R/kit/agents/weaver.md ~/.claude/agents/",))


def test_a_plugin_of_no_marketplace_goes_where_the_client_loads_it_from(bench):
    found = lines(bench, plugin())
    assert found["plugin"] == ("kit", ("mkdir -p ~/.claude/skills/kit && cp -R /R/kit/. ~/.claude/skills/kit/",))


@pytest.mark.parametrize("refused", [{"agents": "./agents/"}, {"commands": ["commands/weave.md"]}])
def test_a_plugin_whose_manifest_the_client_refuses_has_no_line_and_its_parts_are_copied(bench, refused):
    listed = {"name": "shelf", "owner": {"name": "o"}}
    found = lines(bench, plugin({**MANIFEST, **refused}, listed))
    assert found["plugin"] == ("kit", ())
    assert found["agent"][1] == ("mkdir -p ~/.claude/agents && cp /R/kit/agents/weaver.md ~/.claude/agents/",)
    assert found["skill"][1] == (
        "mkdir -p ~/.claude/skills/weave && cp -R /R/kit/skills/weave/. ~/.claude/skills/weave/",
    )


def test_a_plugin_whose_manifest_the_client_refuses_is_found_and_explained_and_only_its_parts_are_recommended(bench):
    refused = {"name": "willow", "description": "Weaves baskets from willow.", "commands": ["commands/weave.md"]}
    bench.ingest(bench.write(plugin(refused)))
    bench.store.close()
    task = "weave a basket from willow"
    with open_repertoire(bench.home, environment={}) as opened:
        named = [
            item.hit.component.type
            for item in recommend(opened.pipeline, Task(task), muted=opened.unfit_for_sets()).items
        ]
        found = {hit.component.type for hit in search(opened.pipeline, Query(task)).hits}
        asked = ExplainRequest("willow", task=task)
        told = explanation_text(explain(opened.store, opened.pipeline, asked, unfit=opened.unfit_for_sets()))
    assert (named[0], "plugin" in named, "plugin" in found) == ("skill", False, True)
    assert "install: not as it is: Claude Code refuses its manifest; its parts can be installed one by one" in told
    assert "in the set: no, it cannot be installed as it is: Claude Code refuses" in told


@pytest.mark.parametrize("blank", [{"type": "http", "url": ""}, {"command": "", "args": []}])
def test_a_server_whose_author_left_its_address_out_is_found_and_explained_and_in_no_set(bench, blank):
    listed = {"name": "shelf", "owner": {"name": "o"}}
    servers = {"willow calendar": blank, "willow-mail": {"url": "${WILLOW_MAIL_URL}"}}
    bench.ingest(bench.write({**plugin(listed=listed), "kit/.mcp.json": json.dumps({"mcpServers": servers})}))
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as opened:
        kept_out = {key.rpartition("#")[2] for key in opened.unfit_for_sets()}
        found = [hit.component.name for hit in search(opened.pipeline, Query("willow calendar")).hits]
        told = explanation_text(explain(opened.store, opened.pipeline, ExplainRequest("willow calendar")))
    assert (kept_out, found[0]) == ({"willow calendar"}, "willow calendar")
    assert "install: not as it is: its configuration has no address, the author leaves it to you" in told
    assert "Reached at" not in told


def test_a_plugin_whose_manifest_was_mended_may_be_recommended_in_the_same_process(bench):
    folder = bench.write(plugin({**MANIFEST, "commands": ["commands/weave.md"]}))
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as opened:
        ingest(opened.store, bench.home, str(folder), settings=opened.settings)
        refused = opened.unfit_for_sets()
        (folder / "kit/.claude-plugin/plugin.json").write_text(json.dumps(MANIFEST))
        ingest(opened.store, bench.home, str(folder), settings=opened.settings)
        assert [key.rpartition(":")[2] for key in refused] == ["kit"]
        assert not opened.unfit_for_sets()


def test_what_starts_files_of_its_plugin_comes_with_that(bench):
    runs = {"command": "${CLAUDE_PLUGIN_ROOT}/loom.sh"}
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", **runs}]}]}}
    own = {"kit/hooks/hooks.json": json.dumps(hooks), "kit/.mcp.json": json.dumps({"mcpServers": {"loom": runs}})}
    found = lines(bench, {**plugin(), **own})
    whole = ("mkdir -p ~/.claude/skills/kit && cp -R /R/kit/. ~/.claude/skills/kit/",)
    assert {found[kind][1] for kind in ("plugin", "hook", "mcp_server")} == {whole}


@pytest.mark.parametrize("header", ["name: weaver", "description: Weaves."])
def test_an_agent_that_the_client_does_not_load_has_no_line(bench, header):
    assert lines(bench, {"agents/weaver.md": f"---\n{header}\n---\nWeave baskets.\n"})["agent"][1] == ()


@pytest.mark.parametrize(
    ("named", "called"),
    [
        ("weave-it", "weave-it"),
        ("Basket Weaving", "baskets"),
        ("../../.ssh", "baskets"),
        ("..", "baskets"),
        ("a/b", "baskets"),
        ("-R", "baskets"),
    ],
)
def test_a_loose_skill_is_copied_under_a_name_that_leads_nowhere_else(bench, named, called):
    found = lines(bench, {"stuff/baskets/SKILL.md": skill(named, "Weaves baskets.")})
    line = f"mkdir -p ~/.claude/skills/{called} && cp -R /R/stuff/baskets/. ~/.claude/skills/{called}/"
    assert found["skill"] == (called, (line,))


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the line is for a POSIX shell")
def test_a_copy_line_that_is_pasted_again_brings_the_new_text_and_nests_nothing(bench, tmp_path):
    folder = bench.write({"stuff/baskets/SKILL.md": skill("baskets", "Weaves baskets.")})
    bench.ingest(folder)
    (line,) = bench.one("skill").install
    for text in ("old", "new"):
        (folder / "stuff/baskets/SKILL.md").write_text(text)
        subprocess.run(["sh", "-c", line], env={**os.environ, "HOME": str(tmp_path)}, check=True)
    copied = {path.name: path.read_text() for path in (tmp_path / ".claude/skills/baskets").iterdir()}
    assert copied == {"SKILL.md": "new"}


def test_the_only_skill_of_a_folder_is_copied_under_a_name_that_leads_nowhere_else(bench):
    found = lines(bench, {"SKILL.md": skill("../../.ssh", "Weaves baskets.")})
    assert found["skill"][1] == ("mkdir -p ~/.claude/skills/repo && cp -R /R/. ~/.claude/skills/repo/",)


def test_a_server_gets_a_name_that_the_client_takes_and_its_keys_from_the_environment(bench):
    server = {"command": "loom", "args": ["--size", "big one"], "env": {"LOOM_KEY": "secret"}}
    found = lines(bench, {"mcp.json": json.dumps({"mcpServers": {"sea.bed / loom": server}})})
    line = "claude mcp add sea-bed-loom -e 'LOOM_KEY=${LOOM_KEY}' -- loom --size 'big one'"
    assert found["mcp_server"] == ("sea.bed / loom", (line,))


def test_a_skill_that_lies_deeper_than_the_client_looks_is_copied_by_itself(bench):
    own = plugin(listed={"name": "shelf", "owner": {"name": "o"}})
    del own["kit/skills/weave/SKILL.md"]
    found = lines(bench, {**own, "kit/skills/weave/willow/SKILL.md": skill("willow-weaving", "Weaves baskets.")})
    line = "mkdir -p ~/.claude/skills/willow && cp -R /R/kit/skills/weave/willow/. ~/.claude/skills/willow/"
    assert found["skill"] == ("willow", (line,))


def test_hooks_that_the_client_does_not_read_as_they_stand_say_what_to_do_by_hand(bench):
    listed = {"hooks": [{"type": "Stop", "command": "echo done"}]}
    (line,) = lines(bench, {"hooks/hooks.json": json.dumps(listed)})["hook"][1]
    assert line.startswith("Write the hooks of hooks/hooks.json into ~/.claude/settings.json by hand")


def test_a_hook_whose_programs_have_to_be_copied_says_so_before_its_merge(bench):
    command = 'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/gate.py; bash ~/.claude/scripts/log.sh'
    listed = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}
    beside = "curl https://key@far.sea/.claude/hooks/x.sh --dir=.claude/hooks/ ; date >> ~/.claude/hooks/log.txt"
    listed["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": beside}]}]
    found = lines(bench, {"hooks/gate.json": json.dumps(listed)})
    copied = "$CLAUDE_PROJECT_DIR/.claude/hooks/gate.py, ~/.claude/scripts/log.sh"
    merge = "merge /R/hooks/gate.json into ~/.claude/settings.json"
    assert found["hook"][1] == (f"Copy the programs of this hook from its source to {copied}, then {merge}",)
