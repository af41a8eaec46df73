"""Install lines are parsed into steps; any other line is left to a person."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.ingestion import install
from repertoire.installing.steps import AddMarketplace, AddServer, ByHand, CopyIn, MergeInto, SetPlugin, include, read

ODD = st.text(max_size=60)


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("/plugin marketplace add acme/shelf", AddMarketplace("acme/shelf")),
        ("/plugin marketplace add git@host.invalid:a/b/c.git", AddMarketplace("git@host.invalid:a/b/c.git")),
        ("/plugin marketplace add /srv/my shelf", AddMarketplace("/srv/my shelf")),
        ("/plugin install kit@shelf", SetPlugin("install", "kit@shelf")),
        ("/plugin enable kit@shelf", SetPlugin("enable", "kit@shelf")),
        (
            "mkdir -p ~/.claude/skills && cp -R '/s/a b' ~/.claude/skills/weave",
            CopyIn("/s/a b", "~/.claude/skills", "weave", whole=True),
        ),
        (
            "mkdir -p ~/.claude/skills/'be so' && cp -R '/s/a b/.' ~/.claude/skills/'be so'/",
            CopyIn("/s/a b", "~/.claude/skills", "be so", whole=True),
        ),
        ("mkdir -p ~/.claude/agents && cp /s/a.md ~/.claude/agents/", CopyIn("/s/a.md", "~/.claude/agents")),
        ("merge /s/hooks.json into ~/.claude/settings.json", MergeInto("/s/hooks.json", "~/.claude/settings.json")),
        (
            "Copy the programs of this hook from its source to a.py, then merge '/s/b c' into ~/.claude/settings.json",
            MergeInto("/s/b c", "~/.claude/settings.json"),
        ),
    ],
)
def test_a_line_of_ours_is_a_step(line, step):
    assert read((line,)) == (step,)


@pytest.mark.parametrize(
    "line",
    [
        "/plugin marketplace add --help",
        "/plugin marketplace add -oProxyCommand=x@host.invalid:a/b",
        "/plugin marketplace add https://user:secret@host.invalid/a",
        "/plugin install --yes kit@shelf",
        "/plugin install kit@shelf; rm -rf ~",
        "mkdir -p ~/.claude/skills && cp -R /s/a ~/.claude/skills/../../x",
        "mkdir -p ~/.ssh && cp /s/a ~/.ssh/authorized_keys",
        "mkdir -p ~/.claude/skills/x && cp -R /s/a/. ~/.claude/skills/y/",
        "mkdir -p ~/.claude/../.ssh && cp -R /s/a/. ~/.claude/../.ssh/",
        "mkdir -p ~/.claude/skills/x/y && cp -R /s/a/. ~/.claude/skills/x/y/",
        "mkdir -p ~/.claude/skills/.. && cp -R /s/a/. ~/.claude/skills/../",
        "mkdir -p ~/.claude/skills && cp --target-directory=/ /s/a ~/.claude/skills/x",
        "merge /s/a.md into CLAUDE.md",
        "claude mcp add --scope user x -- run",
        "claude mcp add x -e TOKEN=… -- run",
        "claude mcp add x --callback-port 1 -- run",
        "docker mcp server enable x",
        "npm install --global x",
        "unclosed 'quote",
    ],
)
def test_any_other_line_is_left_to_a_person(line):
    assert read((line,)) == (ByHand(line),)


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("claude mcp add --transport http jfrog 'https://<PLATFORM_URL>/mcp'", "https://<PLATFORM_URL>/mcp"),
        ("claude mcp add --transport http postman 'https://mcp.postman.io/{minimal | mcp}'", "{minimal | mcp}"),
        ("claude mcp add filesystem -- npx -y server-filesystem /path/to/allowed/files", "/path/to/allowed/files"),
        ("claude mcp add logfire -- uvx logfire-mcp@latest --read-token=YOUR-TOKEN", "--read-token=YOUR-TOKEN"),
        ("claude mcp add monday -- npx monday-api-mcp -t your_monday_api_token", "your_monday_api_token"),
        ("claude mcp add flags -- npx flags --api-key api-xxxxxxxx-xxxx", "api-xxxxxxxx-xxxx"),
        ("claude mcp add --transport http demo https://mcp.example.com/api", "https://mcp.example.com/api"),
    ],
)
def test_a_server_with_a_place_for_a_persons_own_value_is_left_to_that_person(line, own):
    [step] = read((line,))
    assert isinstance(step, ByHand)
    assert own in step.own_value


@pytest.mark.parametrize(
    "line",
    [
        "claude mcp add loom -e 'LOOM_KEY=${LOOM_KEY}' -- npx -y @acme/loom",
        "claude mcp add --transport http loom https://loom.io/mcp --header 'Authorization: Bearer ${LOOM_TOKEN}'",
        "claude mcp add --transport http loom https://loom.io/mcp --header 'Authorization: Bearer ${YOUR_API_TOKEN}'",
        "claude mcp add loom -- loom --filter '{\"own\": 1}'",
    ],
)
def test_a_reference_to_a_variable_and_json_are_no_place_for_a_persons_own_value(line):
    assert isinstance(read((line,))[0], AddServer)


@given(ODD, st.dictionaries(ODD, ODD, max_size=3), st.lists(ODD, min_size=1, max_size=3))
def test_the_line_of_a_server_says_what_the_client_is_told(name, variables, command):
    line = install.stdio_server_line(name, variables, command)
    [step] = read((line,))
    if isinstance(step, AddServer):
        assert step.arguments[0] == step.name
        assert step.started == shlex.join(command)
        assert step.arguments[len(step.arguments) - len(command) :] == tuple(command)
    else:
        assert isinstance(step, ByHand)
        assert step.line == line


@given(ODD, ODD)
def test_no_name_leads_out_of_the_folder_it_is_copied_to(folder, name):
    line = f"mkdir -p ~/.claude/{folder} && cp -R /s/a ~/.claude/{folder}/{name}"
    [step] = read((line,))
    if isinstance(step, CopyIn):
        assert step.folder in {
            f"~/.claude/{kind}" for kind in ("skills", "agents", "commands", "rules", "output-styles")
        }
        assert PurePosixPath(step.name or "x").name == (step.name or "x")


KIT = "mkdir -p ~/.claude/skills && cp -R /src/plugins/kit ~/.claude/skills/kit"


@pytest.mark.parametrize(
    ("steps", "others", "answer"),
    [
        (("/plugin install kit@shelf",), ("/plugin install kit@shelf",), True),
        (("/plugin marketplace add a/b", "/plugin install kit@shelf"), ("/plugin install kit@shelf",), True),
        (("/plugin install kit@shelf",), ("/plugin install kit-two@shelf",), False),
        ((KIT,), ("mkdir -p ~/.claude/agents && cp /src/plugins/kit/agents/a.md ~/.claude/agents/",), True),
        ((KIT,), ("mkdir -p ~/.claude/skills && cp -R /src/plugins/kit-two/skills/b ~/.claude/skills/b",), False),
        (("mkdir -p ~/.claude/agents && cp /src/a.md ~/.claude/agents/",), (KIT,), False),
        ((KIT,), (), False),
    ],
)
def test_steps_include_what_they_do_besides(steps, others, answer):
    assert include(read(steps), read(others)) is answer
