"""Reads workflows: GitHub Actions that run an agent, agentic workflows in Markdown, steps of agent frameworks."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from repertoire.domain.component import WORKFLOW
from repertoire.ingestion import front_matter, markdown, values
from repertoire.ingestion.parts import (
    ComponentRequirement,
    Draft,
    FileOutcome,
    SourceFile,
    SourceLayout,
    Strategy,
    in_folder,
    is_document,
    stem,
)

_YAML = (".yml", ".yaml")
# Agents that a GitHub workflow runs: as an action, or by a command line.
_AGENT = re.compile(
    r"claude-code(?:-base)?-action|run-gemini-cli|codex-action|actions/ai-inference|openhands|swe-agent|pr-agent"
    r"|coderabbit|aider-github|\bclaude (?:-p|--print)\b|\bcodex exec\b|\b(?:gemini|copilot) (?:-p|--prompt)\b"
    r"|\bopencode run\b|@anthropic-ai/claude-code|@openai/codex|@google/gemini-cli",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\bsecrets\.([A-Z][A-Z0-9_]+)")
_STEPS = ("steps", "nodes", "tasks", "agents", "jobs", "phases", "stages", "states", "workflow")
_STEP_LINE = re.compile(r"^(?:\d+[.)]\s|#{2,4}\s*(?:step|phase|stage)\b)", re.IGNORECASE | re.MULTILINE)
_GIVEN = ("GITHUB_TOKEN",)
_FEWEST = 3
_SHOWN = 20_000


def _claims(path: str, layout: SourceLayout) -> bool:
    base = path.rpartition("/")[2]
    if layout.in_skill(path) or is_document(path) or not base.endswith((".md", *_YAML)):
        return False
    return in_folder(path, "workflows") or base in ("workflow.yaml", "workflow.yml")


def _extract(file: SourceFile, _: SourceLayout) -> FileOutcome:
    if file.path.endswith(".md"):
        return _of_markdown(file)
    if ".github/workflows/" in f"/{file.path}" and not _AGENT.search(file.text):
        return FileOutcome(left="a GitHub workflow that runs no agent")
    data = front_matter.read_yaml(file.text)
    if "on" in data and "jobs" in data:
        return _of_github(file, data) if _AGENT.search(file.text) else FileOutcome(left="a workflow that runs no agent")
    inner = {**data, **values.mapping(data.get("workflow"))}
    if not set(_STEPS).intersection(data):
        return FileOutcome(left="YAML in a folder of workflows that has no steps")
    name = values.name(inner.get("name") or inner.get("id")) or stem(file.path)
    steps = list(dict.fromkeys(_named(inner)))
    described = values.text(inner.get("description"))
    return FileOutcome(
        (_draft(file, name, described or f"Workflow {name}: {', '.join(steps[:12])}", {"steps": steps}),)
    )


def _of_markdown(file: SourceFile) -> FileOutcome:
    found = markdown.outcome(file, WORKFLOW, fallback_name=stem(file.path))
    header = found.drafts[0].front_matter
    stated = {"on", "name", "description"} & set(header)
    steps = len(_STEP_LINE.findall(found.drafts[0].body))
    if not stated and (steps < _FEWEST or in_folder(file.path, "docs", "doc")):
        return FileOutcome(left="Markdown in a folder of workflows that lists no steps")
    return found


def _of_github(file: SourceFile, data: Mapping[str, Any]) -> FileOutcome:
    name = values.name(data.get("name")) or stem(file.path)
    events = data["on"]
    on = [values.name(event) for event in events] if isinstance(events, (list, Mapping)) else [values.name(events)]
    runs = list(dict.fromkeys(match.group().strip() for match in _AGENT.finditer(file.text)))
    steps = list(dict.fromkeys(_named(data)))
    doing = f": {', '.join(steps[:6])}" if steps else ""
    described = f"GitHub workflow {name}, on {', '.join(on)}, runs {', '.join(runs[:3])}{doing}"
    secrets = dict.fromkeys(_SECRET.findall(file.text))
    draft = _draft(file, name, described, {"on": on, "runs": runs})
    needs = tuple(
        ComponentRequirement("env", name, 0.8, "secret of the workflow") for name in secrets if name not in _GIVEN
    )
    return FileOutcome((dataclasses.replace(draft, needs=needs),))


def _named(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the names of a workflow's steps."""
    if depth > 6:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in _STEPS and isinstance(item, Mapping):
                for inner in item:
                    yield values.name(inner)
            yield from _named(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            stated = values.mapping(item)
            yield from (name for name in [values.name(stated.get("name") or stated.get("id"))] if name)
            yield from _named(item, depth + 1)


def _draft(file: SourceFile, name: str, described: str, header: Mapping[str, Any]) -> Draft:
    return Draft(
        type=WORKFLOW,
        name=name,
        description=described,
        body=values.storable(file.text)[:_SHOWN],
        digest=file.digest,
        front_matter=header,
    )


STRATEGY = Strategy("workflow", _claims, _extract)
