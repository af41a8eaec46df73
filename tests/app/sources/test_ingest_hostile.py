"""A hostile repository cannot leave its folder, stop the ingest, fill the memory, or forge lines of our output."""

from __future__ import annotations

import json
import os
import time
import zipfile

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from ingestion.workbench import skill
from repertoire.app.projects.named_files import named_files, say_all
from repertoire.app.session.installed_entries import installed_entries
from repertoire.app.sources import ingest as ingesting
from repertoire.ingestion.extraction_plan import plan_extraction
from repertoire.ingestion.front_matter import split
from repertoire.ingestion.parts import SourceLayout
from repertoire.sources.crawl import nothing

GOOD = {"skills/good/SKILL.md": skill("good")}


def reasons(report) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in report.skipped}


def test_links_that_leave_the_source_are_refused_and_told(bench):
    secret = bench.write({"SKILL.md": skill("secret", "Outside.")}, under="outside")
    folder = bench.write(GOOD)
    (folder / "skills/linked").symlink_to(secret)
    (folder / "skills/good/notes.md").symlink_to("/etc/passwd")
    (folder / "agents").mkdir()
    (folder / "agents/stolen.md").symlink_to(secret / "SKILL.md")
    (folder / "agents/nowhere.md").symlink_to(folder / "missing.md")
    (folder / "skills/round").symlink_to(folder / "skills")

    report = bench.ingest(folder)

    assert set(bench.all()) == {"skills/good/SKILL.md"}
    assert reasons(report)["skills/linked"] == "a link that leaves the source"
    assert reasons(report)["agents/stolen.md"] == "a link that leaves the source"
    assert reasons(report)["agents/nowhere.md"] == "a link that leads nowhere"
    assert b"Outside" not in (bench.home / "repertoire.db").read_bytes()


@pytest.mark.parametrize("odd", [".claude/skills/odd", ".claude/agents", ".claude", "skills/odd"])
@pytest.mark.parametrize("target", ["t" * 300, "odd"])
def test_a_link_to_too_long_a_name_or_to_itself_ends_no_command_in_its_repository(bench, odd, target):
    project = bench.write(GOOD, under="project")
    (project / odd).parent.mkdir(parents=True, exist_ok=True)
    (project / odd).symlink_to(target if target != "odd" else project / odd)

    bench.ingest_all("installed")
    installed_entries(os.environ, project)
    report = bench.ingest(project)

    assert report.components == 1
    assert reasons(report) in ({}, {odd: "a link that leads nowhere"})
    assert say_all(project, (odd,))
    assert named_files(project, (odd,), nothing) == []


def test_paths_in_manifests_cannot_leave_the_source(bench):
    bench.write({"evil.md": "---\nname: evil\ndescription: x\n---\n"}, under="outside")
    manifest = {
        "name": "p",
        "description": "d",
        "skills": "../outside",
        "agents": ["../outside/evil.md", "/etc/passwd", "./../../x.md", "..\\x.md"],
        "mcpServers": "../../.mcp.json",
    }

    report = bench.ingest(bench.write({**GOOD, ".claude-plugin/plugin.json": json.dumps(manifest)}))

    assert {item.type for item in bench.all().values()} == {"skill", "plugin"}
    assert report.skipped == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(bench):
    folder = bench.write(GOOD)
    (folder / "agents").mkdir()
    os.mkfifo(folder / "agents/pipe.md")

    report = bench.ingest(folder)

    assert reasons(report) == {"agents/pipe.md": "not a regular file"}


def test_files_that_are_no_text_or_too_large_are_told_with_the_reason(bench):
    report = bench.ingest(
        bench.write(
            {
                **GOOD,
                "skills/binary/SKILL.md": b"\x89PNG\x00\x01",
                "skills/latin/SKILL.md": "---\nname: caf\xe9\n---\n".encode("latin-1"),
                "skills/huge/SKILL.md": skill("huge", body="x" * 10_000_000),
                "skills/empty/SKILL.md": "",
                "kit/.claude-plugin/plugin.json": "{not json",
                "other/.claude-plugin/plugin.json": '{"version": 1}',
                ".mcp.json": '{"mcpServers": {"x": {"nothing": 1}}}',
                "hooks/hooks.json": '{"hooks": []}',
                ".claude-plugin/marketplace.json": '{"plugins": "many"}',
            }
        )
    )

    found = reasons(report)
    assert set(bench.all()) == {"skills/good/SKILL.md"}
    assert found["skills/binary/SKILL.md"] == found["skills/latin/SKILL.md"] == "not UTF-8 text"
    assert found["skills/huge/SKILL.md"].startswith("larger than 1,000,000 bytes")
    assert found["skills/empty/SKILL.md"] == "empty"
    assert found["kit/.claude-plugin/plugin.json"].startswith("not JSON")
    assert "'name' is a required property" in found["other/.claude-plugin/plugin.json"]
    assert found[".mcp.json"].startswith("server x: not a valid mcp_server")
    assert found["hooks/hooks.json"].startswith("not a valid hook")
    assert found[".claude-plugin/marketplace.json"].startswith("not a valid marketplace")


def test_front_matter_that_grows_or_nests_without_end_costs_nothing(bench):
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
    )

    report = bench.ingest(
        bench.write(
            {
                **GOOD,
                "skills/bomb/SKILL.md": f"---\nname: bomb\ndescription: Grows.\n{bomb}---\nText.",
                "skills/flow/SKILL.md": f"---\nname: flow\ndescription: Nests.\nx: {'[' * 30_000}\n---\nText.",
                "skills/dashes/SKILL.md": f"---\nname: dashes\ndescription: Nests.\nx:\n {'- ' * 30_000}\n---\nText.",
                "skills/asks/SKILL.md": f"---\nname: asks\ndescription: Nests.\n{'? ' * 30_000}\n---\nText.",
                "skills/tagged/SKILL.md": "---\nname: tagged\ndescription: !!python/name:os.system x\n---\nx",
                "skills/number/SKILL.md": f"---\nname: number\ndescription: Counts.\nx: 0x{'f' * 20_000}\n---\nText.",
                "deep/.mcp.json": '{"a":' * 50_000,
                "wide/.mcp.json": json.dumps({"mcpServers": {f"s{n}": {"command": "x"} for n in range(5_000)}}),
            }
        )
    )

    names = {item.name for item in bench.all().values() if item.type == "skill"}
    assert {"good", "bomb", "flow", "dashes", "asks", "number"} <= names
    assert set(reasons(report)) >= {"deep/.mcp.json", "wide/.mcp.json"}
    assert any("bomb" in warning for warning in report.warnings)


def test_a_file_that_a_parser_fails_on_is_told_with_the_reason_and_the_others_are_read(bench):
    shells = {"command": "bash", "args": ["-c", "bash"] * 1_900}
    nested = f"a; {'(' * 2_000}python_version > '3'{')' * 2_000}"
    report = bench.ingest(
        bench.write(
            {
                **GOOD,
                "shells/.mcp.json": json.dumps({"mcpServers": {"x": shells}}),
                "digits/pyproject.toml": f"[project]\nname = 'digits'\nsize = {'1' * 5_000}\n",
                "deep/pyproject.toml": f'[project]\nname = "deep"\ndependencies = ["{nested}"]\n',
                "beside/.mcp.json": json.dumps({"mcpServers": {"y": {"command": "python", "args": ["y.py"]}}}),
                "beside/requirements.txt": f"{nested}\nmcp\n",
                "hex/pyproject.toml": f"[project]\nname = 0x{'f' * 20_000}\n",
            }
        )
    )

    assert {"good", "x", "y"} <= {item.name for item in bench.all().values()}
    assert reasons(report)["digits/pyproject.toml"].startswith("not TOML (Exceeds the limit")
    assert set(reasons(report)) == {"digits/pyproject.toml", "hex/pyproject.toml"}
    assert reasons(report)["hex/pyproject.toml"].startswith("cannot be read (ValueError: Exceeds the limit")


def test_a_damaged_file_of_an_archive_is_told_and_no_component(bench):
    archive = bench.root / "kit.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("kit/good/SKILL.md", GOOD["skills/good/SKILL.md"])
        made.writestr("kit/bad/SKILL.md", skill("bad", body="Hello"))
    archive.write_bytes(archive.read_bytes().replace(b"Hello", b"JELLO"))

    report = bench.ingest(archive)

    assert set(bench.all()) == {"good/SKILL.md"}
    assert reasons(report)["bad/SKILL.md"].startswith("damaged")


def test_names_and_descriptions_cannot_hold_what_fakes_a_line(bench):
    bench.ingest(
        bench.write(
            {
                "agents/x.md": '---\nname: "evil\\u202e\\n2. install me\\x07"\n'
                'description: "a\\x1b[31mred\\0"\n---\nBody\x07.',
            }
        )
    )

    found = bench.one("agent")
    assert found.name == "evil 2. install me"
    assert found.description.isprintable()


def test_what_is_nearly_yaml_is_read_as_it_is_meant_and_told(bench):
    text = (
        "---\nname: helper\ndescription: Use this when: the user asks. Examples: <example>\nuser: 'fix it'\n"
        "assistant: ok</example>\ntools:\n  - Read\n  - Bash\nargument-hint: [a] [b\nmodel: opus\n---\nBody."
    )

    report = bench.ingest(bench.write({"agents/helper.md": text}))

    found = bench.one("agent")
    assert (found.name, found.allowed_tools) == ("helper", ("Read", "Bash"))
    assert found.description.startswith("Use this when: the user asks.")
    assert "fix it" in found.examples
    assert report.warnings[0].startswith("agents/helper.md: front matter is not YAML")


def test_duplicate_ids_and_keys_are_one_component(bench):
    bench.ingest(
        bench.write(
            {
                "skills/x/SKILL.md": "---\nname: first\nname: second\ndescription: d\n---\nb",
                "skills/x/skill.md": "---\nname: third\ndescription: d\n---\nb",
                ".mcp.json": '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
            }
        )
    )

    assert bench.one("mcp_server").front_matter["command"] == "y"
    assert bench.all()["skills/x/SKILL.md"].name == "second"


def test_folders_of_other_tools_and_too_deep_ones_are_not_read(bench):
    deep = "/".join(f"d{number}" for number in range(30))

    report = bench.ingest(
        bench.write(
            {
                **GOOD,
                "node_modules/p/skills/x/SKILL.md": skill("x"),
                f"{deep}/SKILL.md": skill("deep"),
                ".git/SKILL.md": "x",
            }
        )
    )

    assert set(bench.all()) == {"skills/good/SKILL.md"}
    assert any("deeper than" in reason for reason in reasons(report).values())


_PATHS = (
    *(
        "skills/x/SKILL.md",
        "agents/x.md",
        "commands/x.md",
        "loose.md",
        "hooks/hooks.json",
        ".mcp.json",
        "s/server.yaml",
    ),
    *(".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", ".claude/settings.json"),
)
_KEYS = (
    "name plugins hooks mcpServers command source args env events description agents PreToolUse meta about url".split()
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)
_CONTENTS = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300).map(lambda text: f"---\n{text}\n---\n{text}".encode("utf-8", "replace")),
    _VALUES.map(lambda value: json.dumps(value).encode()),
)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(_PATHS), content=_CONTENTS)
def test_no_content_whatever_stops_an_ingest(bench, path, content):
    folder = bench.write({**GOOD, path: content})

    report = bench.ingest(folder)

    assert "skills/good/SKILL.md" in bench.all()
    assert report.components >= 1
    (folder / path).unlink()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("header", ["", "\n", "model: opus\n"])
def test_a_body_begins_behind_its_front_matter_even_an_empty_one(bench, header, newline):
    text = f"---\n{header}---\n# Title\n\nWalk the pages.\n\n---\n\nmore\n".replace("\n", newline)
    bench.ingest(bench.write({"commands/walk.md": text.encode()}))

    assert bench.one("command").body.split() == ["#", "Title", "Walk", "the", "pages.", "---", "more"]


@given(st.text(max_size=400))
def test_any_front_matter_is_split_without_failing(text):
    document = split(f"---\n{text}\n---\nbody")

    json.dumps(dict(document.front_matter))
    document.body.encode()


FLOODS = ("~", " ", "\n", "<!--", "`", "[", "0.0", "${a-", "curl ", '"\\"', "a@", "user: ", "- - ", "\t", "#", "|")


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_of_one_sign_is_read_in_proportion_to_its_length(bench, flood):
    """As a skill, a README, a manifest and a program at once: none of their readers follows each sign to the end."""

    def cost(length: int) -> float:
        text = flood * (length // len(flood))
        folder = bench.write(
            {
                "skills/flood/SKILL.md": skill("flood") + text,
                "README.md": text,
                "pyproject.toml": text,
                "skills/flood/run.py": text,
                "skills/flood/run.sh": text,
                "agents/flood.md": text,
                "hooks/hooks.json": '{"hooks": ' + text,
                ".mcp.json": text,
            },
            under=f"flood-{length}",
        )
        began = time.process_time()
        bench.ingest(folder)
        return time.process_time() - began

    cost(1_000)  # what is loaded once
    short, long = cost(10_000), cost(100_000)

    assert long < 10 * max(short, 0.05) * 4


def test_many_plugins_and_packages_are_planned_in_proportion_to_their_number():
    def cost(number: int) -> float:
        each = ("hooks/hooks.json", "hooks/a.py", "scripts/b.sh", "package.json", "src/c.ts")
        paths = [f"plugins/p{place}/{name}" for place in range(number) for name in each]
        began = time.process_time()
        planned = plan_extraction(paths, SourceLayout("many"))
        assert planned.parts["plugins/p1/hooks/hooks.json"] == ("plugins/p1/hooks/a.py", "plugins/p1/scripts/b.sh")
        return time.process_time() - began

    assert cost(2_000) < 10 * max(cost(200), 0.05) * 4


def test_a_file_that_takes_too_long_is_left_out_and_not_tried_again_until_it_changes(bench, monkeypatch):
    files = {**GOOD, "skills/slow/SKILL.md": skill("slow") + "Use this when `a-b` and /c:d run. " * 25_000}
    monkeypatch.setattr(ingesting, "_A_FILE_S", 0.03)
    first = bench.ingest(bench.write(files))
    monkeypatch.undo()
    again = bench.ingest(bench.write({"skills/new/SKILL.md": skill("new")}))
    held = set(bench.all())
    changed = bench.ingest(bench.write({"skills/slow/SKILL.md": skill("slow")}))

    assert "takes too long" in reasons(first)["skills/slow/SKILL.md"]
    assert reasons(again) == reasons(first)
    assert held == {"skills/good/SKILL.md", "skills/new/SKILL.md"}
    assert not changed.skipped
    assert "skills/slow/SKILL.md" in bench.all()
