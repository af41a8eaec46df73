"""Turns a Python module into Markdown: its public classes and functions with signatures and docstrings, never run."""

from __future__ import annotations

import ast
import inspect
import posixpath
import warnings
from collections.abc import Collection, Iterator, Sequence

from repertoire import linear
from repertoire.domain.errors import PackRefused

_SIGNATURE = 300  # characters
_SILENT = 60  # members without a docstring that are listed
_DEEPEST = 3  # classes within classes
_UNDERLINE = linear.compile(r"^[-=~^\"]{3,}[ \t]*$")
_HEADING = linear.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_FIELD = linear.compile(
    r"^:(param|parameter|arg|keyword|raises?|except|returns?|rtype|type|yields?)[ ]?([^:\n]{0,80}):[ ]?(.*)$"
)
_DIRECTIVE = linear.compile(r"^\.\. ([a-z-]{3,30})::[ ]?(.*)$")
_ROLE = linear.compile(r":[a-z]{1,12}(?::[a-z]{1,12})?:`[~!]?([^`\n<>]{1,200}?)(?:[ ]?<[^`\n<>]{1,200}>)?`")
_TARGET = linear.compile(r"`([^`\n<>]{1,200}?)[ ]?<(https?://[^\s`<>]{1,400})>`_{1,2}")
_VERBATIM = linear.compile(r"``([^`\n]{1,200})``")
_PARAMETERS = ("param", "parameter", "arg", "keyword")
_CODE = ("code-block", "code", "sourcecode", "doctest", "testcode")
_LEFT_OUT = frozenset(("test", "tests", "docs", "doc", "examples", "example", "benchmarks", "build", "_vendor"))


def modules_of(paths: Collection[str], top: str = "") -> dict[str, str]:
    """Map the paths of public modules in Python packages to their names; `top` is the name of the folder itself.

    Left out are tests, examples and vendored code, and what begins with an underscore.
    """
    packages = {posixpath.dirname(path) for path in paths if posixpath.basename(path) == "__init__.py"}
    found = {}
    for path in sorted(paths):
        folder, base = posixpath.split(path)
        names = [base.removesuffix(".py")] if base != "__init__.py" else []
        if not base.endswith(".py") or folder not in packages or base in ("conftest.py", "__main__.py"):
            continue
        while folder in packages and folder:
            names.insert(0, posixpath.basename(folder))
            folder = posixpath.dirname(folder)
        if "" in packages and top and not folder:
            names.insert(0, top)
        hidden = any(name.startswith(("_", "test_")) or name in _LEFT_OUT for name in names)
        outside = any(part in _LEFT_OUT for part in folder.split("/"))
        if names and not hidden and not outside and all(name.isidentifier() for name in names):
            found[path] = ".".join(names)
    return found


def module_to_markdown(name: str, text: str) -> str:
    """Return the public part of a module as Markdown; each heading bears the qualified name as its fragment.

    Raises:
        PackRefused: the text is no Python that this interpreter parses, or lies too deep.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in a stranger's strings
            tree = ast.parse(text)
        said = _docstring(tree)
        parts = list(_members(tree.body, name, level=2, public=_exported(tree.body)))
    except (SyntaxError, ValueError) as error:
        message = "no Python that can be parsed"
        raise PackRefused(message) from error
    except (RecursionError, MemoryError) as error:
        message = "its parts lie too deep within one another"
        raise PackRefused(message) from error
    if not said and not parts:
        return ""
    return "\n\n".join([f"# `{name}` {{#{name}}}", *([said] if said else []), *parts]) + "\n"


def _exported(body: Sequence[ast.stmt]) -> frozenset[str] | None:
    """Return the names in a literal `__all__`; None where there is none."""
    for node in body:
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets
        ):
            listed = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else []
            names = {one.value for one in listed if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            return frozenset(names) or None
    return None


def _members(body: Sequence[ast.stmt], above: str, *, level: int, public: frozenset[str] | None) -> Iterator[str]:
    """Yield the sections of a body's public members, then a list of those that say nothing of themselves."""
    silent, seen = list[str](), set[str]()
    for node in _definitions(body):
        if node.name in seen or not _is_public(node, public):
            continue
        seen.add(node.name)
        qualified, said = f"{above}.{node.name}", _docstring(node)
        shown = f"```python\n{_signature(node, node.name)}\n```"
        heading = f"{'#' * min(level, 6)} `{qualified}` {{#{qualified}}}\n\n{shown}"
        if isinstance(node, ast.ClassDef):
            inner = list(_members(node.body, qualified, level=level + 1, public=None)) if level <= _DEEPEST else []
            if said or inner:
                yield "\n\n".join([heading, *([said] if said else []), *inner])
                continue
        elif said:
            yield f"{heading}\n\n{said}"
            continue
        silent.append(f"- `{_signature(node, node.name)}`")
    if silent:
        # before a heading of its own these would belong to the last member
        yield f"{'#' * min(level, 6)} Without description in {above} {{#{above}--others}}\n\n" + "\n".join(
            silent[:_SILENT]
        )


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(body: Sequence[ast.stmt]) -> Iterator[_Definition]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        elif isinstance(node, ast.If):  # such as a check of the interpreter's version
            yield from _definitions([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _definitions([*node.body, *node.orelse, *(line for one in node.handlers for line in one.body)])


def _is_public(node: _Definition, public: frozenset[str] | None) -> bool:
    marks = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
    if marks & {"overload", "setter", "deleter"}:
        return False
    return node.name in public if public is not None else not node.name.startswith("_")


def _signature(node: _Definition, name: str) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        said = f"class {name}({_arguments(made.args, bound=True)})" if made else f"class {name}({bases})"
    elif "property" in {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}:
        said = f"property {name}" + (f": {ast.unparse(node.returns)}" if node.returns else "")
    else:
        bound = bool(node.args.args) and node.args.args[0].arg in ("self", "cls")
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        said = f"{name}({_arguments(node.args, bound=bound)}){returns}"
    said = " ".join(said.replace("`", "'").split())
    return said if len(said) <= _SIGNATURE else f"{said[: _SIGNATURE - 2]} …"


def _arguments(arguments: ast.arguments, *, bound: bool) -> str:
    words = ast.unparse(arguments)
    return words.partition(",")[2].strip() if bound else words


def _docstring(node: ast.Module | _Definition) -> str:
    return _to_markdown(inspect.cleandoc(ast.get_docstring(node, clean=False) or "")).strip()


def _to_markdown(text: str) -> str:
    """Return a docstring as Markdown: no line of it is a heading, and examples stay as they are."""
    lines, kept, fence, listed = text.expandtabs().splitlines(), list[str](), "", False
    for at, line in enumerate(lines):
        bare = line.lstrip()
        if fence == "pycon" and not bare:
            kept.append("```")
            fence = ""
        if not fence and bare.startswith(">>> "):
            kept += ["", "```pycon"]
            fence = "pycon"
        elif not fence and (directive := _DIRECTIVE.match(bare)):
            kept += [] if directive[1] in _CODE else [f"{directive[1]}: {directive[2]}".rstrip(": ")]
            continue
        if fence:
            kept.append(bare)
        elif _UNDERLINE.match(bare) and at and lines[at - 1].strip() and len(kept) and kept[-1].strip():
            kept[-1] = f"**{kept[-1].strip()}**\n"
        elif listed and line.startswith(" ") and bare:  # a field goes on, as deep as its name is long
            kept.append(f"  {_line(bare)}")
        else:
            listed = _FIELD.match(line) is not None
            kept.append(_line(line))
    return "\n".join([*kept, *(["```"] if fence else [])])


def _line(line: str) -> str:
    field = _FIELD.match(line)
    if field:
        name = f"`{field[2].strip()}`" if field[2].strip() else ""
        kind = "" if field[1] in _PARAMETERS else field[1]
        line = f"- {' '.join(part for part in (kind, name) if part)}: {field[3]}"
    if _HEADING.match(line) or _UNDERLINE.match(line.lstrip()):
        line = f"\\{line.lstrip()}"
    line = _TARGET.sub(lambda match: f"[{match[1]}]({match[2]})", line)
    return _VERBATIM.sub(lambda match: f"`{match[1]}`", _ROLE.sub(lambda match: f"`{match[1]}`", line))
