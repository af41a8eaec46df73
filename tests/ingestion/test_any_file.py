"""Any file: a strategy makes components of it or gives a reason, and raises no other error."""

from __future__ import annotations

import contextlib
import json

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout
from repertoire.ingestion.registry import strategy_for
from repertoire.ingestion.values import Unusable

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
KEYS = st.sampled_from(
    "name description tools functions result function arguments inputSchema properties servers server packages remotes "
    "identifier registryType environmentVariables url headers items path id on jobs steps uses with workflow role goal "
    "agent applyTo command when extensionToLanguage monitors lspServers $schema".split()
) | st.text(max_size=6)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
PIECES = """# Awesome
## Skills
- [a](https://x.example/a) - What it does.
| [b](https://x.example/b) | Does b. |
[c](https://x.example/c)
](
```
<!--
---
on: push
from langchain.tools import tool
@tool
def f(a, *, b=1): 'doc'
class T(BaseTool): name = f'{x}'
graph.add_node(1)
Agent(**x)
\x00
\ud800""".splitlines()
LINES = st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=30).map("\n".join)
STRUCTURED = (
    "servers/x/tools.json",
    "server.json",
    "x.collection.yml",
    "workflows/x.yml",
    "a/agents.yaml",
    "a/tasks.yaml",
)
TEXTS = ("README.md", "workflows/x.md", "x.chatmode.md", "x.instructions.md", ".cursor/rules/x.mdc", "a/b.py")


def is_answered(path: str, text: str) -> None:
    strategy = strategy_for(path, SourceLayout(name="x"))
    assert strategy is not None
    found = FileOutcome()
    with contextlib.suppress(Unusable):
        found = strategy.extract(SourceFile(path, text, "digest"), SourceLayout(name="x"))
        assert found.drafts or found.left or found.part_of
    assert all(draft.name for draft in found.drafts)


@pytest.mark.parametrize("path", STRUCTURED)
@examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(value=VALUES)
def test_any_value_is_read_or_refused_with_a_reason(path, value):
    is_answered(path, json.dumps(value) if path.endswith(".json") else yaml.safe_dump(value))


@pytest.mark.parametrize("path", [*STRUCTURED, *TEXTS])
@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(text=LINES)
def test_any_text_is_read_or_refused_with_a_reason(path, text):
    is_answered(path, text)
