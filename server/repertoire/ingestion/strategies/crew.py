"""Reads CrewAI's `agents.yaml` and `tasks.yaml`: each agent a component, the tasks together a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repertoire.domain.component import AGENT, WORKFLOW
from repertoire.domain.digest import digest_of
from repertoire.ingestion import front_matter, values
from repertoire.ingestion.parts import (
    ComponentRequirement,
    Draft,
    FileOutcome,
    SourceFile,
    SourceLayout,
    Strategy,
    folder,
)

_AGENTS, _TASKS = ("agents.yaml", "agents.yml"), ("tasks.yaml", "tasks.yml")


def _claims(path: str, layout: SourceLayout) -> bool:
    return path.rpartition("/")[2] in (*_AGENTS, *_TASKS) and not layout.in_skill(path)


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    data = front_matter.read_yaml(file.text)
    named = {values.name(key): values.mapping(item) for key, item in data.items()}
    if file.path.endswith(_AGENTS):
        agents = {key: item for key, item in named.items() if item.get("role") and item.get("goal")}
        if agents:
            return FileOutcome(tuple(_agent(key, item) for key, item in agents.items()))
        return FileOutcome(left="an agents.yaml that tells no roles and goals")
    tasks = {key: item for key, item in named.items() if item.get("description")}
    if not tasks:
        return FileOutcome(left="a tasks.yaml that describes no tasks")
    return FileOutcome((_crew(file, tasks, layout),))


def _agent(key: str, item: Mapping[str, Any]) -> Draft:
    role, goal = (" ".join(values.text(item.get(part)).split()) for part in ("role", "goal"))
    body = "\n\n".join(
        f"{part.title()}: {values.text(item[part])}" for part in ("role", "goal", "backstory") if item.get(part)
    )
    return Draft(
        type=AGENT,
        name=key,
        description=f"{role}: {goal}",
        body=body,
        anchor=key,
        digest=digest_of(repr(sorted(item.items(), key=str))),
        front_matter={"framework": "crewai", "role": role},
        tags=("crewai",),
    )


def _crew(file: SourceFile, tasks: Mapping[str, Mapping[str, Any]], layout: SourceLayout) -> Draft:
    parts = [part for part in folder(file.path).split("/") if part not in ("", "config", "src")]
    name = parts[-1] if parts else layout.name
    lines = [f"- {key}: {' '.join(values.text(item['description']).split())}" for key, item in tasks.items()]
    agents = dict.fromkeys(values.name(item.get("agent")) for item in tasks.values() if item.get("agent"))
    return Draft(
        type=WORKFLOW,
        name=name,
        description=f"CrewAI crew {name} with the tasks {', '.join(list(tasks)[:12])}",
        body="\n".join(lines)[:20_000],
        digest=file.digest,
        front_matter={"framework": "crewai", "tasks": list(tasks)[:100]},
        tags=("crewai",),
        needs=tuple(ComponentRequirement("component", agent, 0.8, "agent of a task") for agent in agents),
    )


STRATEGY = Strategy("crew", _claims, _extract)
