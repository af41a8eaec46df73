"""A package's archive or folder yields the package, its MCP server and its tools, linked to those that start it."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.search import search
from repertoire.app.sources import packages
from repertoire.app.sources.file_outcomes import account
from repertoire.app.upkeep.refresh import refresh
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query
from repertoire.domain.component import PART_OF, TWIN_OF
from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.domain.technologies import technologies_of
from repertoire.ingestion.file_outcomes import COMPONENT
from repertoire.rendering.explanations import explanation_text
from repertoire.settings import Settings
from repertoire.sources.scratch import PLACE

PACKAGE_JSON = {
    "name": "@acme/mcp-notes",
    "version": "2.0.0",
    "description": "Keeps notes",
    "bin": {"mcp-notes": "dist/index.js"},
    "dependencies": {"@modelcontextprotocol/sdk": "^1.2.0", "express": "^5"},
    "engines": {"node": ">=20"},
    "license": "MIT",
}
SERVER_JS = """
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
const token = process.env.NOTES_TOKEN;
if (!token) throw new Error("no token");
const line = {description: "Write a line to the end of a notebook", inputSchema: {line: z.string()}};
server.registerTool("append_note", line, run);
server.tool("find_note", "Look for a phrase in all notebooks", {phrase: z.string()}, run);
/** Opens a notebook. */
export async function openNotebook(name) {}
"""
METADATA = """Metadata-Version: 2.4
Name: mcp-clock
Version: {version}
Summary: Tells the time
Requires-Python: >=3.10
Requires-Dist: mcp>=1.2

# Clock
"""
CLOCK = '''
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("clock")
@mcp.tool()
def current_time(zone: str) -> str:
    """Say what time it is somewhere."""
'''


def npm(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def notes(path: Path, **more: str) -> Path:
    return npm(
        path, {"package.json": json.dumps(PACKAGE_JSON), "dist/index.js": SERVER_JS, "README.md": "# Notes", **more}
    )


def wheel(path: Path, version: str = "1.0") -> Path:
    info = f"mcp_clock-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mcp_clock/server.py", CLOCK)
        archive.writestr(f"{info}/METADATA", METADATA.format(version=version))
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\nmcp-clock = mcp_clock.server:main\n")
    return path


@pytest.fixture(autouse=True)
def scratch(bench):
    """Look into the folder for what is unpacked when a test is done: nothing of an archive stays."""
    yield
    assert [path.name for path in (bench.home / "sources" / PLACE).glob("*")] in ([], [".lock"])


def test_an_npm_archive_yields_the_package_its_server_and_the_servers_tools(bench, tmp_path):
    report = bench.ingest(notes(tmp_path / "notes.tgz"))

    found = bench.all()
    package, server = found["package.json"], found["dist/index.js#mcp-notes"]
    tool = found["dist/index.js#mcp-notes/append_note"]
    assert report.components == 4
    assert (package.type, server.type, tool.type) == ("package", "mcp_server", "tool")
    assert (package.name, package.licence, package.front_matter["version"]) == ("@acme/mcp-notes", "MIT", "2.0.0")
    assert server.front_matter["args"] == ["-y", "@acme/mcp-notes"]
    assert server.install == ("claude mcp add mcp-notes -e 'NOTES_TOKEN=${NOTES_TOKEN}' -- npx -y @acme/mcp-notes",)
    assert tool.code.startswith("append_note(line)  # Write a line")
    assert set(bench.links(server, PART_OF)) == {"package.json"}
    assert set(bench.links(tool, PART_OF)) == {"dist/index.js#mcp-notes"}
    needs = {link.other_name for link in bench.store.graph.links(server.id) if link.relation == "depends_on"}
    assert {"env:NOTES_TOKEN", "runtime:node>=20", "package:express@^5", "binary:npx"} <= needs


def test_a_wheel_keeps_its_ids_from_version_to_version(bench, tmp_path):
    bench.ingest(wheel(tmp_path / "clock.whl"))
    first = bench.all()
    wheel(tmp_path / "clock.whl", "1.1")
    report = bench.ingest(tmp_path / "clock.whl")

    assert (
        set(bench.all())
        == set(first)
        == {
            "mcp_clock.dist-info/METADATA",
            "mcp_clock/server#mcp-clock",
            "mcp_clock/server#mcp-clock/current_time",
        }
    )
    assert report.removed == 0
    assert bench.one("tool").code.startswith("current_time(zone: str)  # Say what time")
    assert bench.one("mcp_server").install == ("claude mcp add mcp-clock -- uvx mcp-clock",)


def test_a_source_archive_and_an_unpacked_folder_say_the_same(bench, tmp_path):
    project = '[project]\nname = "mcp-clock"\ndescription = "Tells the time"\ndependencies = ["mcp"]\n'
    files = {
        "pyproject.toml": f'{project}[project.scripts]\nmcp-clock = "mcp_clock.server:main"\n',
        "PKG-INFO": METADATA.format(version="1"),
        "src/mcp_clock/server.py": CLOCK,
        "tests/test_server.py": CLOCK.replace("current_time", "in_a_test"),
    }
    folder = bench.write(files, under="mcp_clock-1.0")
    archive = tmp_path / "mcp_clock-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as packed_up:
        packed_up.add(folder, "mcp_clock-1.0")

    kinds = []
    for source in (archive, folder):
        bench.ingest(source)
        rows = [row for row in bench.store.graph.summaries() if row.source.endswith(str(source))]
        kinds.append(sorted((row.type, row.name) for row in rows))
    assert kinds[0] == kinds[1] == [("mcp_server", "mcp-clock"), ("package", "mcp-clock"), ("tool", "current_time")]


def test_a_package_without_a_server_brings_its_programs(bench, tmp_path):
    stated = {"name": "tidy", "description": "Tidies JSON files", "bin": {"tidy": "cli.js", "tidy-all": "all.js"}}
    bench.ingest(npm(tmp_path / "tidy.tgz", {"package.json": json.dumps(stated), "cli.js": "import 'commander'"}))
    kinds = {key: component.type for key, component in bench.all().items()}
    assert kinds == {"package.json": "package", "cli.js#tidy": "tool", "all.js#tidy-all": "tool"}
    assert bench.all()["cli.js#tidy"].install == ("npm install --global tidy",)


def test_in_a_repository_only_packages_that_start_something_are_components(bench):
    site = json.dumps({"name": "website", "private": True, "dependencies": {"react": "^19"}})
    report = bench.ingest(bench.write({"package.json": site, "src/x.js": "export const x = () => 1"}))
    assert report.components == 0
    assert report.skipped == ()


def test_who_starts_a_package_and_the_package_are_the_same_server_and_a_tools_job_finds_it(bench, tmp_path):
    plugin = {"mcpServers": {"scribble": {"command": "npx", "args": ["-y", "@acme/mcp-notes@latest"]}}}
    bench.ingest(bench.write({".mcp.json": json.dumps(plugin)}))
    bench.ingest(notes(tmp_path / "notes.tgz"))

    declared = bench.all()[".mcp.json#scribble"]
    twins = {link.other for link in bench.store.graph.links(declared.id) if link.relation == TWIN_OF}
    assert {twin.rpartition("#")[2] for twin in twins} == {"mcp-notes"}
    bench.store.close()
    with open_repertoire(bench.home, environment={}) as repertoire:
        answer = search(repertoire.pipeline, Query("look for a phrase in notebooks"))
        assert "mcp-notes" in {hit.component.name for hit in answer.hits[:3]}
        told = explanation_text(explain(repertoire.store, repertoire.pipeline, ExplainRequest("mcp-notes")))
    assert "technologies: JavaScript; Express, MCP SDK; standard input and output" in told
    assert "exports: mcp-notes, openNotebook" in told
    assert "part of @acme/mcp-notes" in told


def test_a_skills_scripts_tell_what_they_define_and_what_they_are_made_of(bench):
    text = skill("tables", body="```\nshown()\n```")
    files = {
        "skills/tables/SKILL.md": text.replace("name:", "made_of: {frameworks: [Trust me]}\nname:"),
        "skills/tables/scripts/make.py": 'import pandas\ndef draw(rows: list) -> str:\n    """Draw a table."""\n',
        "skills/tables/scripts/broken.py": "((" * 9_000,
    }
    report = bench.ingest(bench.write(files))
    found = bench.one("skill")
    assert found.code == "shown()\n\ndraw(rows: list) -> str  # Draw a table."
    assert technologies_of(found.front_matter).frameworks == ("pandas",)
    assert technologies_of(found.front_matter).exports == ("draw",)
    assert report.warnings == ("skills/tables/scripts/broken.py: not python, or too broken to be read",)


def test_a_hostile_archive_changes_nothing_that_was_there(bench, tmp_path):
    archive = notes(tmp_path / "notes.tgz")
    bench.ingest(archive)
    before = bench.all()
    npm(archive, {"blank": "\0" * 4_000_000, **{f"{number}": "\0" * 4_000_000 for number in range(6)}})
    with pytest.raises(SourceRefused, match="200 times its size"):
        bench.ingest(archive)
    archive.write_bytes(b"no archive")
    with pytest.raises(SourceError, match="cannot be read as an archive"):
        bench.ingest(archive)
    assert bench.all() == before

    with tarfile.open(archive, "w:gz") as made:
        for name, target in (("package/skills/x/SKILL.md", "/etc/passwd"), ("package/README.md", "../../x")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            made.addfile(link)
        info = tarfile.TarInfo("package/package.json")
        info.size = len(json.dumps(PACKAGE_JSON))
        made.addfile(info, io.BytesIO(json.dumps(PACKAGE_JSON).encode()))
    report = bench.ingest(archive)
    assert {skipped.path: skipped.reason for skipped in report.skipped} == {"skills/x/SKILL.md": "a link"}
    assert "2 entries of notes.tgz were left out" in report.warnings[0]


def test_a_package_is_fetched_when_a_person_asks_and_read_again_from_what_was_kept(bench, tmp_path, monkeypatch):
    calls = []

    def fetch(registry, name, version, target, **_):
        calls.append((registry, name, version))
        return notes(target / "notes.tgz")

    monkeypatch.setattr(packages.packages, "fetch", fetch)  # a person's npm would need the network
    assert bench.ingest("npm:@acme/mcp-notes@2.0.0").components == 4
    (done,) = [r for r in refresh(bench.store, bench.home, settings=Settings()) if r.source.startswith("npm:")]
    assert (done.components, done.changed) == (4, 0)
    assert bench.ingest("npm:@acme/mcp-notes").changed == 0
    told = account(bench.store, bench.home, done.source, settings=Settings())
    assert ("package.json", COMPONENT) in {(fate.path, fate.became) for fate in told}
    assert calls == [("npm", "@acme/mcp-notes", "2.0.0"), ("npm", "@acme/mcp-notes", "")]
    (kept,) = [path for path in (bench.home / "sources").iterdir() if path.name != PLACE]
    assert [path.name for path in kept.iterdir()] == ["notes.tgz"]


def test_what_the_last_of_many_tools_does_finds_the_server_that_would_be_installed(bench, tmp_path):
    jobs = [f"Does the {place}th of many long jobs with great care and at great length" for place in range(60)]
    jobs[-1] = "Weigh a parcel, and tell what it costs to ship it abroad by sea or by air"
    calls = "".join(f'server.tool("job_{place}", "{job}", {{}}, run);\n' for place, job in enumerate(jobs))
    bench.ingest(notes(tmp_path / "notes.tgz", **{"dist/index.js": SERVER_JS + calls}))
    server = bench.one("mcp_server")
    assert all(f"{job}\n" in f"{server.body}\n" for job in jobs)
    with open_repertoire(bench.home, environment={"REPERTOIRE_MODEL": "none/at-all"}) as repertoire:
        assert search(repertoire.pipeline, Query("weigh a parcel", limit=1)).hits[0].component.id == server.id


@pytest.mark.skipif(
    os.environ.get("REPERTOIRE_NETWORK") != "1",
    reason="NO REAL PACKAGE WAS READ: REPERTOIRE_NETWORK=1 lets this test run npm and pip",
)
@pytest.mark.parametrize(
    ("address", "tool"),
    [
        ("npm:@modelcontextprotocol/server-filesystem", "read_text_file"),
        ("npm:@modelcontextprotocol/server-memory", "create_entities"),
        ("npm:@modelcontextprotocol/server-everything", "echo"),
        ("npm:@upstash/context7-mcp", "query-docs"),
        ("pypi:mcp-server-fetch", "fetch"),
        ("pypi:mcp-server-git", "git_status"),
        ("pypi:mcp-server-time", "convert_time"),
        ("pypi:duckduckgo-mcp-server", "search"),
    ],
)
def test_real_packages_are_fetched_and_read(bench, address, tool):
    bench.ingest(address)
    assert tool in {component.name for component in bench.all().values() if component.type == "tool"}
    assert bench.one("mcp_server").allowed_tools
