"""Reads tools, agents, crews and graphs that Python code defines for agent frameworks; parsed, never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from repertoire.domain.component import AGENT, TOOL, WORKFLOW
from repertoire.domain.digest import digest_of
from repertoire.ingestion import prose, values
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy, folder, in_folder, stem
from repertoire.ingestion.values import Unusable

FRAMEWORKS = (
    "agents",
    "agno",
    "autogen",
    "autogen_core",
    "crewai",
    "crewai_tools",
    "google.adk",
    "haystack",
    "langchain",
    "langchain_community",
    "langchain_core",
    "langgraph",
    "llama_index",
    "pydantic_ai",
    "semantic_kernel",
    "smolagents",
    "strands",
)
_DECORATORS = ("tool", "function_tool", "kernel_function", "ai_function")
_BASES = ("BaseTool", "StructuredTool", "Tool", "BaseToolkit")
_NOT_OURS = ("tests", "test", "testing", "__pycache__", "benchmarks")
_MOST_TEXT = 400_000
_SHOWN = 8_000
_GENERAL = ("graph", "agent", "main", "app", "__init__", "crew", "workflow")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _claims(path: str, layout: SourceLayout) -> bool:
    if not path.endswith(".py") or in_folder(path, *_NOT_OURS) or layout.in_skill(path):
        return False
    return not path.rpartition("/")[2].startswith(("test_", "conftest"))


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    if not any(f"{word} import" in file.text or f"import {word}" in file.text for word in _roots(file.text)):
        return FileOutcome(left="Python that imports no agent framework")
    if len(file.text) > _MOST_TEXT:
        message = f"Python of more than {_MOST_TEXT:,} characters"
        raise Unusable(message)
    module = _Module(file, _parse(file.text), layout.name)
    drafts = {draft.anchor: draft for draft in module.drafts()}
    if not drafts:
        return FileOutcome(left="Python that defines no tool, agent or graph")
    return FileOutcome(tuple(drafts.values()))


def _roots(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] in ("from", "import") and _is_framework(words[1]):
            yield words[1]


def _is_framework(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in FRAMEWORKS)


def _parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a stranger's escapes
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = f"not Python that can be parsed ({type(error).__name__})"
        raise Unusable(message) from None


@dataclass(frozen=True)
class _Module:
    """One parsed Python file, and the drafts that it defines."""

    file: SourceFile
    tree: ast.Module
    source: str

    def drafts(self) -> Iterator[Draft]:
        known = _imports(self.tree)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._function(node, known)
            elif isinstance(node, ast.ClassDef):
                yield from self._class(node, known)
            elif isinstance(node, ast.Call) and known.get(_called(node.func)) == "Agent":
                yield from self._agent(node)
        yield from self._graph(known)

    def _function(self, node: Function, known: Mapping[str, str]) -> Iterator[Draft]:
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if known.get(_called(call.func if call else decorator)) not in _DECORATORS:
                continue
            stated = _keywords(call) if call else {}
            first = _text(call.args[0]) if call and call.args else ""
            described = stated.get("description") or ast.get_docstring(node) or ""
            if described:
                yield self._draft(TOOL, first or stated.get("name") or node.name, described, node, _signature(node))

    def _class(self, node: ast.ClassDef, known: Mapping[str, str]) -> Iterator[Draft]:
        stated = _constants(node)
        described = stated.get("description") or ast.get_docstring(node) or ""
        if any(known.get(_called(base)) in _BASES for base in node.bases) and described and _is_tool(node, stated):
            runs = next((inner for inner in node.body if _runs(inner)), None)
            signature = _signature(runs) if isinstance(runs, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
            yield self._draft(TOOL, stated.get("name") or node.name, described, node, f"class {node.name}\n{signature}")
        elif any(known.get(_called(item)) == "CrewBase" for item in node.decorator_list):
            inner = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            parts = [item.name for item in inner if {_called(mark) for mark in item.decorator_list} & {"agent", "task"}]
            described = ast.get_docstring(node) or ""
            yield self._draft(WORKFLOW, node.name, f"{described or 'CrewAI crew'}: {', '.join(parts)}", node, "")

    def _agent(self, node: ast.Call) -> Iterator[Draft]:
        stated = _keywords(node)
        name, goal = stated.get("name") or stated.get("role", ""), stated.get("goal", "")
        instructions = stated.get("instructions") or stated.get("backstory") or stated.get("description", "")
        if name and (goal or instructions):
            role = f"{stated['role']}: {goal}" if goal and "role" in stated else instructions
            yield self._draft(AGENT, name, role, node, "", body="\n\n".join(dict.fromkeys((role, goal, instructions))))

    def _graph(self, known: Mapping[str, str]) -> Iterator[Draft]:
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        made = next((node for node in calls if known.get(_called(node.func)) == "StateGraph"), None)
        added = [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "add_node"]
        nodes = list(dict.fromkeys(name for node in added if node.args and (name := _name_or_text(node.args[0]))))
        if made is None or len(nodes) < 2:
            return
        name = stem(self.file.path).removesuffix(".py")
        if name in _GENERAL:
            name = folder(self.file.path).rpartition("/")[2] or self.source
        described = (ast.get_docstring(self.tree) or "").partition("\n\n")[0]
        steps = f"LangGraph graph of the nodes {', '.join(nodes[:20])}"
        yield self._draft(WORKFLOW, name, f"{described}\n{steps}" if described else steps, made, "")

    def _draft(self, kind: str, name: str, described: str, node: ast.AST, signature: str, body: str = "") -> Draft:
        code = body or values.storable(ast.get_source_segment(self.file.text, node) or "")[:_SHOWN]
        text = values.storable(described).strip()
        return Draft(
            type=kind,
            name=values.name(name),
            description=text[: prose.DESCRIPTION_LIMIT],
            body=code if kind != WORKFLOW else f"{text}\n\n{code}",
            anchor=values.name(name),
            digest=digest_of(f"{text}\n{code}"),
            front_matter={"framework_of": self.file.path},
            signatures=signature,
        )


def _imports(tree: ast.Module) -> dict[str, str]:
    """Map each local name of an import from an agent framework to its original name."""
    return {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level and _is_framework(node.module)
        for alias in node.names
    }


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else _called(node.func) if isinstance(node, ast.Call) else ""


def _text(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Call):  # Field(default="…"), textwrap.dedent("…")
        stated = _keywords(node)
        return stated.get("default") or (_text(node.args[0]) if node.args else "")
    return ""


def _name_or_text(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else _text(node)


def _keywords(call: ast.Call) -> dict[str, str]:
    return {word.arg: _text(word.value) for word in call.keywords if word.arg and _text(word.value)}


def _constants(node: ast.ClassDef) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in node.body:
        target = (
            item.target
            if isinstance(item, ast.AnnAssign)
            else item.targets[0]
            if isinstance(item, ast.Assign)
            else None
        )
        if (
            isinstance(target, ast.Name)
            and isinstance(item, (ast.AnnAssign, ast.Assign))
            and (text := _text(item.value))
        ):
            found[target.id] = text
    return found


def _is_tool(node: ast.ClassDef, stated: Mapping[str, str]) -> bool:
    """Tell whether a class is a tool and not a base class: it has a name, or a method that runs."""
    return bool(stated.get("name")) or any(_runs(item) for item in node.body)


def _runs(node: ast.stmt) -> bool:
    names = ("_run", "_arun", "forward", "run", "_call")
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in names


def _signature(node: Function) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"[:1_000]


STRATEGY = Strategy("python_agents", _claims, _extract)
