"""The facts of the catalogue are true of each component's repository, and are in our own words.

The repositories are found through REPERTOIRE_COMPONENTS_DATA: one folder each, named `owner+name`.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from repertoire.catalogue import reading

DATA = os.environ.get("REPERTOIRE_COMPONENTS_DATA")
if DATA is None:
    pytest.skip(
        "NOT CHECKED against the real repositories: set REPERTOIRE_COMPONENTS_DATA to their folder",
        allow_module_level=True,
    )
CATALOGUE = reading.load()
RUN = 6  # words in a row that count as copied


def folder(repository: str) -> Path:
    return Path(str(DATA), repository.removeprefix("github.com/").replace("/", "+"))


@cache
def listed(marketplace: str) -> dict[str, dict]:
    path = folder(CATALOGUE.marketplaces[marketplace]) / ".claude-plugin" / "marketplace.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["name"] == marketplace
    return {plugin["name"]: plugin for plugin in data["plugins"]}


def of_another_repository(entry: reading.CatalogueEntry) -> bool:
    return entry.type == "plugin" and not isinstance(listed_plugin(entry).get("source", ""), str)


def listed_plugin(entry: reading.CatalogueEntry) -> dict:
    return listed(entry.marketplace)[entry.plugin] if entry.marketplace else {}


def front_matter(text: str) -> str:
    match = re.match(r"---\r?\n(.*?)\r?\n---", text, re.DOTALL)
    return match.group(1) if match else ""


def original_text(entry: reading.CatalogueEntry) -> str:
    text = json.dumps(listed_plugin(entry), ensure_ascii=False)
    path = folder(entry.repository) / entry.path
    if path.is_file():
        text += path.read_text(encoding="utf-8", errors="replace")
    manifest = path / ".claude-plugin" / "plugin.json"
    if entry.type == "hook":
        manifest = path.parents[1] / ".claude-plugin" / "plugin.json"
    if manifest.is_file():
        text += manifest.read_text(encoding="utf-8")
    return text


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9+#]+", text.lower())


def runs(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[start : start + RUN]) for start in range(len(found) - RUN + 1)}


def names_in(entry: reading.CatalogueEntry) -> set[str]:
    """Every name that the repository itself gives the component."""
    path = folder(entry.repository) / entry.path
    if entry.type == "plugin":
        return {json.loads((path / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))["name"]}
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        data = json.loads(text)
        return {path.stem, entry.plugin, *data.get("mcpServers", data)}
    if path.suffix == ".yaml":
        return {yaml.safe_load(text)["name"]}
    named = re.search(r"^name:\s*[\"']?(.*?)[\"']?\s*$", front_matter(text), re.MULTILINE)
    by_folder = {path.parent.name} if path.name == "SKILL.md" else set()  # the client lists a skill so
    return {named.group(1), *by_folder} if named else {path.stem}


def lies_where_it_says(entry: reading.CatalogueEntry) -> bool:
    if of_another_repository(entry):
        source = listed_plugin(entry)["source"]
        url = source.get("url") or f"https://github.com/{source['repo']}"
        place = url.removeprefix("https://").removesuffix(".git"), source.get("path", ".")
        return (entry.repository, entry.path) == place
    if entry.type == "plugin" and entry.marketplace:
        return Path(entry.path) == Path(listed_plugin(entry)["source"])
    return (folder(entry.repository) / entry.path).exists() and entry.name in names_in(entry)


def test_every_component_lies_where_the_catalogue_says_under_the_name_it_says():
    assert [entry.id for entry in CATALOGUE.components if not lies_where_it_says(entry)] == []


def test_every_description_is_in_our_own_words():
    copied = {
        entry.id: common
        for entry in CATALOGUE.components
        if (common := runs(entry.description) & runs(original_text(entry)))
    }
    assert copied == {}


def test_a_component_of_a_plugin_lies_in_that_plugins_folder():
    for entry in CATALOGUE.components:
        source = listed_plugin(entry).get("source", "./")
        if isinstance(source, str):
            assert Path(entry.path).is_relative_to(Path(source))


def test_a_language_server_plugin_names_the_binary_it_starts():
    for entry in CATALOGUE.components:
        servers = listed_plugin(entry).get("lspServers", {})
        if servers:
            started = {server["command"] for server in servers.values()}
            assert {need.name for need in entry.depends_on if need.kind == "binary"} == started


def test_the_licence_is_that_of_the_repository():
    for entry in CATALOGUE.components:
        if of_another_repository(entry):
            assert entry.licence == listed_plugin(entry).get("license", "NOASSERTION")
            continue
        name = entry.repository.removeprefix("github.com/").replace("/", "+")
        manifest = json.loads(Path(str(DATA), "manifests", f"{name}.json").read_text(encoding="utf-8"))
        assert entry.licence == manifest["licence"]


def test_an_environment_variable_stands_in_the_file_that_needs_it():
    for entry in CATALOGUE.components:
        for need in entry.depends_on:
            if need.kind == "env":
                assert need.name in original_text(entry)


def test_an_mcp_server_is_added_by_the_address_image_or_command_of_its_own_file():
    for entry in CATALOGUE.components:
        if entry.type != "mcp_server" or entry.marketplace:
            continue
        data = yaml.safe_load((folder(entry.repository) / entry.path).read_text(encoding="utf-8"))
        if "mcpServers" in data:
            server = data["mcpServers"][entry.name]
            needed = [server["command"], *server["args"], *server.get("env", {})]
        else:
            needed = [data["remote"]["url"] if "remote" in data else data["image"]]
        (line,) = entry.install
        assert line.startswith("claude mcp add ")
        assert [word for word in needed if word not in line] == []
