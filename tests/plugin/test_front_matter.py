"""The client never checks front matter, so these tests do: shape, names, when-clauses, tools that exist."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from plugin.surface import AGENTS, COMMANDS, PROSE, SKILLS, TOOL_PREFIX, document, label, read_json
from repertoire.documentation.skill import skill_markdown
from repertoire.mcp_server.tool_definitions import TOOLS as TOOL_DEFINITIONS

LISTED_CHARACTERS = 1536  # the client cuts a listing entry there
NAME = {"type": "string", "pattern": "^[a-z][a-z0-9-]{1,63}$"}
DESCRIPTION = {"type": "string", "minLength": 30, "maxLength": LISTED_CHARACTERS}
TOOLS = {"type": "string", "pattern": "^[A-Za-z_]\\w*(, [A-Za-z_]\\w*)*$"}

SKILL_SCHEMA = {
    "type": "object",
    "required": ["name", "description"],
    "additionalProperties": False,
    "properties": {
        "name": NAME,
        "description": DESCRIPTION,
        "argument-hint": {"type": "string"},
        "allowed-tools": TOOLS,
    },
}
COMMAND_SCHEMA = {
    "type": "object",
    "required": ["description", "disable-model-invocation"],
    "additionalProperties": False,
    "properties": {
        "description": DESCRIPTION,
        "argument-hint": {"type": "string"},
        # every command is the user's: the model has the skills, and the listing's characters are few
        "disable-model-invocation": {"const": True},
        "allowed-tools": TOOLS,
    },
}
AGENT_SCHEMA = {
    "type": "object",
    "required": ["name", "description", "tools"],
    "additionalProperties": False,
    "properties": {"name": NAME, "description": DESCRIPTION, "tools": TOOLS},
}


@pytest.mark.parametrize("path", SKILLS, ids=label)
def test_a_skill_has_valid_front_matter(path: Path) -> None:
    jsonschema.validate(document(path).front, SKILL_SCHEMA)


@pytest.mark.parametrize("path", COMMANDS, ids=label)
def test_a_command_has_valid_front_matter(path: Path) -> None:
    jsonschema.validate(document(path).front, COMMAND_SCHEMA)


@pytest.mark.parametrize("path", AGENTS, ids=label)
def test_an_agent_has_valid_front_matter(path: Path) -> None:
    jsonschema.validate(document(path).front, AGENT_SCHEMA)


def test_the_promised_skills_commands_and_agent_are_there() -> None:
    assert [path.parent.name for path in SKILLS] == [
        "choosing-components",
        "documentation-packs",
        "keeping-the-graph-current",
        "recommend",
        "solved-before",
    ]
    commands = [path.stem for path in COMMANDS]
    assert commands == [
        *("explain", "feedback", "forget", "ingest", "install"),
        *("mute", "pack", "search", "status", "trace"),
    ]
    assert [path.stem for path in AGENTS] == ["curator", "librarian", "pack-builder"]


def test_a_name_is_that_of_its_folder_or_file() -> None:
    for path in SKILLS:
        assert document(path).front["name"] == path.parent.name
    for path in AGENTS:
        assert document(path).front["name"] == path.stem


def test_no_command_hides_a_skill_of_the_same_name() -> None:
    # where both exist the client runs the command for /repertoire:NAME
    assert not {path.parent.name for path in SKILLS} & {path.stem for path in COMMANDS}


@pytest.mark.parametrize("path", [*SKILLS, *AGENTS], ids=label)
def test_a_description_says_when(path: Path) -> None:
    assert "Use when" in document(path).front["description"] or "Use after" in document(path).front["description"]


def test_the_listing_of_all_skills_stays_within_a_quarter_of_the_clients_budget() -> None:
    # 8,000 characters for everything installed; beyond it the least used lose their description
    assert sum(len(document(path).front["description"]) for path in SKILLS) <= 2000


@pytest.mark.parametrize("path", PROSE, ids=label)
def test_every_tool_named_exists(path: Path) -> None:
    known = {tool["name"] for tool in read_json("server/tools.json")["tools"]}
    assert document(path).tools <= known


@pytest.mark.parametrize(
    "text",
    [*(document(path).body for path in PROSE), skill_markdown("rust", "Of Rust.", ())],
    ids=[*map(label, PROSE), "the skill of a pack"],
)
def test_no_field_is_named_that_the_client_does_not_show(text: str) -> None:
    # Claude Code shows the text of an answer, and none of its data
    answered = set().union(*(_names(tool.output) for tool in TOOL_DEFINITIONS))
    asked = set().union(*({tool.name} | _names(tool.input_schema) for tool in TOOL_DEFINITIONS))
    named = {code.partition(":")[0] for code in text.split("`")[1::2]}
    assert not named & (answered - asked)


def _names(schema: object) -> set[str]:
    """Return the names of all properties in a schema, and the values that it allows."""
    if isinstance(schema, list):
        return set().union(*map(_names, schema))
    if not isinstance(schema, dict):
        return set()
    below = set().union(*map(_names, schema.values()))
    return below | set(schema.get("properties", {})) | set(schema.get("enum", ()))


@pytest.mark.parametrize("path", [*SKILLS, *COMMANDS], ids=label)
def test_a_grant_covers_only_our_own_tools_and_those_it_uses(path: Path) -> None:
    read = document(path)
    assert all(name.startswith(TOOL_PREFIX) for name in read.granted)
    for name in read.granted:
        short = name.removeprefix(TOOL_PREFIX)
        assert short in read.body, f"{label(path)} grants {short} without using it"


@pytest.mark.parametrize("path", PROSE, ids=label)
def test_no_prose_grants_a_deletion(path: Path) -> None:
    # the permission question before forget is the user's last word
    assert f"{TOOL_PREFIX}forget" not in document(path).granted


@pytest.mark.parametrize("path", [path for path in [*SKILLS, *COMMANDS] if "argument-hint" in document(path).front])
def test_what_takes_arguments_uses_them(path: Path) -> None:
    assert "$ARGUMENTS" in document(path).body
