"""Under which name the client starts a component, and who may: what the graph tells is what the client does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from client.api_stub import Request, Script, ToolUse
from client.machine import REPOSITORY, Machine, Settle
from repertoire.domain.component import AGENT, COMMAND, SKILL, Component
from repertoire.domain.invocation import MATCHED, MODEL, NOBODY, PERSON, UNLISTED
from repertoire.sources.withheld import switched_off
from repertoire.store.database import Store

pytestmark = pytest.mark.client

BY_PERSON, BY_MODEL = "disable-model-invocation: true", "user-invocable: false"
SKILLS = {  # folder -> what its front matter says besides
    "plain": "",
    "by-person": BY_PERSON,
    "in-words": "disable-model-invocation: yes",
    "quoted": 'disable-model-invocation: "true"',
    "by-model": BY_MODEL,
    "by-nobody": f"{BY_PERSON}\n{BY_MODEL}",
    "a-folder": "name: another-name",
    "set-off": "",
    "set-by-person": "",
    "set-by-name": "",
    "for-python": "paths: '**/*.py'",
    "for-two": "paths: [docs, '*.{py,pyi}']",
    "for-person": f"paths: '*.py'\n{BY_PERSON}",
    "for-all": "paths: ['**']",
    "for-rust": "paths: '*.rs'",
    "outer/inner": "",  # too deep: it is not loaded
}
COMMANDS = {"paint": "paths: '*.py'", "deep/er/paint-it": "", "paint-myself": BY_PERSON, "set-off-too": ""}
AGENTS = {
    "whole": "name: painter\ndescription: Paints whole walls.",
    "deep/whole": "name: deep-painter\ndescription: Paints deep walls.",
    "no-name": "description: Paints without a name.",  # it is not loaded
    "no-description": "name: silent-painter",  # nor is this
    "not-yaml": "name: colon-painter\ndescription: Paints: also colons",
}
OVERRIDES = {
    **dict.fromkeys(("set-off", "set-off-too"), "off"),
    "set-by-person": "user-invocable-only",
    "set-by-name": "name-only",
    "kit:boxed": "off",  # it applies to no plugin's skills
}
EXPECTED = {
    "by-person": PERSON,
    "in-words": PERSON,
    "quoted": PERSON,
    "by-model": MODEL,
    "by-nobody": NOBODY,
    "set-off": NOBODY,
    "set-by-person": PERSON,
    "paint-myself": PERSON,
    "set-off-too": NOBODY,
    **dict.fromkeys(("for-python", "for-two", "for-person", "for-rust"), MATCHED),
}


def give(folder: Path, text: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def painter(settle: Settle, interpreter: str) -> Machine:
    """Return a machine with skills and commands of every kind of front matter and setting, all of them read."""
    machine = settle(REPERTOIRE_PYTHON=interpreter)
    machine = machine.also(REPERTOIRE_HOME=str(machine.root / "data"))
    claude, kit = machine.home / ".claude", machine.root / "kit"
    for name, more in SKILLS.items():
        give(claude / "skills" / name / "SKILL.md", f"---\ndescription: Paints {name}.\n{more}\n---\nPaint {name}.\n")
    for name, more in COMMANDS.items():
        give(claude / "commands" / f"{name}.md", f"---\ndescription: Paints {name}.\n{more}\n---\nPaint {name}.\n")
    for name, header in AGENTS.items():
        give(claude / "agents" / f"{name}.md", f"---\n{header}\n---\nPaint as {name}.\n")
    give(claude / "settings.json", json.dumps({"skillOverrides": OVERRIDES}))
    plugins = [{"name": name, "source": f"./{name}"} for name in ("kit", "shed", "off")]
    listed = {"name": "box", "owner": {"name": "x"}, "plugins": plugins}
    give(kit / ".claude-plugin" / "marketplace.json", json.dumps(listed))
    give(kit / "kit" / ".claude-plugin" / "plugin.json", json.dumps({"name": "kit", "version": "1.0.0"}))
    give(
        kit / "kit" / "skills" / "boxed" / "SKILL.md",
        "---\nname: unboxed\npaths: '*.py'\ndescription: Boxes.\n---\nBox.\n",
    )
    give(kit / "kit" / "commands" / "deep" / "box.md", "---\ndescription: Boxes deep.\n---\nBox.\n")
    give(kit / "kit" / "agents" / "deep" / "file.md", "---\nname: boxer\ndescription: Boxes.\n---\nBox.\n")
    for name in ("shed", "off"):
        give(kit / name / ".claude-plugin" / "plugin.json", json.dumps({"name": name, "version": "1.0.0"}))
        give(kit / name / "skills" / "nail" / "SKILL.md", f"---\ndescription: Nails {name}.\n---\nNail.\n")
    steps = f"""marketplace add {kit}
        install kit@box
        install off@box
        install shed@box --scope project
        disable off@box --scope project"""
    for step in steps.splitlines():
        done = machine.command("plugin", *step.split())
        assert done.returncode == 0, done.stdout + done.stderr
    done = machine.run(REPOSITORY / "bin" / "repertoire", "refresh")
    assert done.returncode == 0, done.stdout + done.stderr
    return machine


@pytest.fixture(scope="module")
def started(painter: Machine) -> Mapping[str, Component]:
    """Return the skills, commands and agents that the graph has as in use here, by the name that starts them."""
    off = switched_off(painter.env, painter.project)
    with Store.open(painter.root / "data" / "repertoire.db") as store:
        unused = store.graph.of_plugins(off) | store.sources.elsewhere(str(painter.project))
        used = (row for row in store.graph.summaries() if row.installed and not {row.id, row.source} & unused)
        rows = [row.node_id for row in used]
        entries = [entry.component for entry in store.graph.components(rows).values()]
    return {one.call_name: one for one in entries if one.type in (SKILL, COMMAND, AGENT)}


def test_each_is_listed_under_the_name_that_starts_it_unless_the_model_may_not(
    painter: Machine, started: Mapping[str, Component]
) -> None:
    session = painter.session("hello")
    told = session.main_requests[0].text.splitlines()
    listed = {name for name in started if any(line.startswith((f"- {name}:", f"- {name} (")) for line in told)}
    by_name = {"set-by-name"} if "- set-by-name" in told else set()
    assert listed | by_name == {name for name, one in started.items() if one.invocation not in UNLISTED}
    assert {"a-folder", "deep:er:paint-it", "kit:boxed", "kit:deep:box", "kit:deep:boxer", "shed:nail"} <= listed
    assert {name: one.invocation for name, one in started.items() if one.invocation} == EXPECTED


def test_the_model_may_start_what_the_graph_says_it_may(painter: Machine, started: Mapping[str, Component]) -> None:
    names = [name for name, one in started.items() if one.type != AGENT]
    session = painter.session("hello", script=Script([*(ToolUse("Skill", {"skill": name}) for name in names), "Done."]))
    refused = refusals(session.main_requests[-1])
    assert len(refused) == len(names)
    assert dict(zip(names, refused, strict=True)) == {name: started[name].invocation in UNLISTED for name in names}


def test_a_person_may_type_what_the_graph_says_they_may(painter: Machine, started: Mapping[str, Component]) -> None:
    names = [name for name, one in started.items() if one.type != AGENT]
    session = painter.session(*(f"/{name}" for name in names))
    ran = session.main_requests[-1].text
    answered = {name: result == "Understood." for name, result in zip(names, session.results, strict=True)}
    assert {name: answered[name] and f"<command-name>/{name}</command-name>" in ran for name in names} == {
        name: started[name].invocation not in (MODEL, NOBODY, MATCHED) for name in names
    }


def test_what_its_paths_keep_away_may_be_started_once_the_model_has_read_a_file_that_they_match(
    painter: Machine,
) -> None:
    waiting = [name for name, who in EXPECTED.items() if who == MATCHED]
    reads = ToolUse("Read", {"file_path": str(painter.project / "main.py")})
    script = Script([reads, "Read.", *(ToolUse("Skill", {"skill": name}) for name in waiting), "Done."])
    session = painter.session("read", "start", *(f"/{name}" for name in waiting), script=script)
    before, last = session.main_requests[0].text, session.main_requests[-1]
    told = {name: f"- {name}: " in last.text for name in waiting}
    assert not any(f"- {name}: " in before for name in waiting)
    assert told == {"for-python": True, "for-two": True, "for-person": False, "for-rust": False}
    assert dict(zip(waiting, refusals(last)[1:], strict=True)) == {name: not there for name, there in told.items()}
    typed = {name: f"<command-name>/{name}</command-name>" in last.text for name in waiting}
    assert typed == {name: name != "for-rust" for name in waiting}


def refusals(request: Request) -> list[bool]:
    """Return for each tool call of a conversation whether it was refused."""
    blocks = [block for message in request.body["messages"] for block in message["content"] if isinstance(block, dict)]
    return ["<tool_use_error>" in str(block) for block in blocks if block.get("type") == "tool_result"]
