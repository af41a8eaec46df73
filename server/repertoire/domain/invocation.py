"""How Claude Code starts skills, agents and commands: under which name, and whether a person or the model alone may.

Both are as in its version 2.1.332, which `tests/client/test_invocation.py` asks.
"""

from __future__ import annotations

import re

# Who alone may start a component; an empty string where a person and the model both may. `MATCHED` is for those that
# neither may start, nor is told of, before the session reads or writes a file that the component's `paths` match.
PERSON, MODEL, NOBODY, MATCHED = "person", "model", "nobody", "matched"
UNLISTED = frozenset((PERSON, NOBODY, MATCHED))  # the model is not told of these, at least as a session starts
REFUSED = "settings deny it to the model in this project, turn it off, or do not allow it"  # said of one that they do
LISTED = 1536  # characters of one description that the model is told at most
# Characters of all descriptions of skills and commands that it is told, with the default model, and with one whose
# context has 200,000 tokens. Claude Code's own take some 6,000 of them; what does not fit is listed by name alone.
LISTING, LITTLE_LISTING = 30_000 - 6_000, 8_000 - 6_000

# as `domain.component` calls them, which imports this module
_SKILL, _AGENT, _COMMAND, _SERVER = "skill", "agent", "command", "mcp_server"
_SKILL_FILE, _PROJECT = "/SKILL.md", "project:"
_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]")
_TOOLS = {_SKILL: ("Skill",), _COMMAND: ("Skill",), _AGENT: ("Agent", "Task")}  # with which the model starts them


def call_name(kind: str, name: str, path: str, plugin: str) -> str:
    """Return the name under which an installed component is listed and started, such as `plugin:folder:command`.

    A skill is named by its folder, one at the top of a plugin by its front matter, a plugin's without the signs that
    names may not hold, a command by its path below `commands/` unless a manifest renames it, a plugin's skill there by
    the folders above its own, too, an agent by its front matter, a plugin's agent by the folders below `agents/`
    besides. What is not started by name keeps its own.
    """
    if kind not in (_SKILL, _AGENT, _COMMAND):
        return name
    own, folders = name, [plugin] if plugin else []
    if kind == _SKILL and plugin:  # its name is its folder's already, but at the top, where the folder has any name
        own = _UNUSUAL.sub("-", name)
        _, among_commands, below = f"/{path}".rpartition("/commands/")
        folders += below.split("/")[:-2] if among_commands and "/skills/" not in f"/{below}" else ()
    elif kind == _SKILL and path.endswith(_SKILL_FILE):
        own = path[: -len(_SKILL_FILE)].rpartition("/")[2]
    elif kind == _AGENT or path.rpartition("/")[2].startswith(f"{name}."):
        _, found, below = f"/{path}".rpartition(f"/{kind}s/")
        folders += below.split("/")[:-1] if found and (kind == _COMMAND or plugin) else ()
    return ":".join((*folders, own))


def precedence(kind: str, component_id: str, plugin: str) -> tuple[bool, bool, int]:
    """Return the place of a component among those that are installed under one call name: the least is what runs.

    A skill comes before a command, but in plugins after it. A person's own skills and commands come before a
    project's, all else of theirs after it. Of a project and those around it the innermost comes first.
    """
    of_project = component_id.startswith(_PROJECT)
    depth = -len(component_id[len(_PROJECT) :].partition(":")[0]) if of_project else 0
    if kind not in (_SKILL, _COMMAND):
        return False, not of_project, depth
    return (kind == _COMMAND) != bool(plugin), of_project, depth


def server_name(name: str, plugin: str) -> str:
    """Return the name under which Claude Code lists a server, turns it on and off."""
    return f"plugin:{plugin}:{name}" if plugin else name


def is_denied(rule: str, kind: str, call: str, plugin: str) -> bool:
    """Tell whether a rule of `permissions.deny` refuses the model a component, by the name that starts it.

    Skills and commands are denied by their name or its beginning (`NAME:*`), agents by their name, servers by the
    beginning of their tools' names. A rule on some of a server's tools leaves the server.
    """
    if kind == _SERVER:
        tools = f"mcp__{_UNUSUAL.sub('_', server_name(call, plugin))}__"
        return tools.startswith(rule[:-1]) if rule.endswith("*") else f"{rule}__" == tools
    tool, some, named = rule.partition("(")
    if tool not in _TOOLS.get(kind, ()) or (some and not named.endswith(")")):
        return False
    named = named[:-1]
    if not some or named == "*":
        return True
    if kind == _AGENT:
        return named == call
    named = named.removeprefix("/")
    return call.startswith(named[:-2]) if named.endswith(":*") else call == named.removesuffix(" *")
