"""The hint that a session gets about components: its one text template, and the switch that turns hints off.

Hooks on any Python 3.9 and the server use the same template. Of a component's own text it holds only the name and at
most 160 characters. A model takes text that gives orders for an attack, so a hint only states facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repertoire.domain.text import UNCOPIED, clean_line, description_line, to_copy

MAX_ITEMS = 3
MAX_CHARACTERS = 1_500  # length limit of a whole hint
DESCRIPTION_CHARACTERS = 160
MANY = 10  # components that come along with another from which on hints say so, and answers how to have it alone
_NAME_CHARACTERS, _WHY_CHARACTERS = 80, 120
_INSTALL_CHARACTERS = 320  # of 6,086 real components 43 % have longer lines than 160, and none than this

# Without it, and with "Optional." at the end, a model passes over a third of what is installed and two of three others.
_PURPOSE = "The user installed Repertoire to hear of one in a sentence, and to have it used where it is installed."
_CLOSING = "(From a local graph; descriptions are their authors'.)"
# The lines that our command carries out; where a line names a repository, the command reads it first.
_CARRIED_OUT = re.compile(
    r"/plugin (?:marketplace add|install|enable) |mkdir -p ~/\.claude/[^&]+ && cp |claude mcp add [^…]*$"
    r"|merge \S+ into (?:~/\.claude/settings\.json|\.mcp\.json)$"
    r"|Copy (?:the folder )?\S+ of https://\S+ to \.claude/(?:skills|agents|commands)/"
)
_TYPED = re.compile(r"[\w.:/@#+][\w.:/@#+-]{0,299}", re.ASCII)  # needs no quotes in any shell, and is no option
_SAYS_ENOUGH = 40  # characters of whole sentences; fewer tell less than a sentence that is cut
_READ = 2_000  # characters of a description that are looked through
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")
# What authors write for a model that chooses by itself: in a hint it would be our order.
_URGING = re.compile(r"\b(?:MUST(?: BE USED)?|ALWAYS|NEVER|IMPORTANT|CRITICAL|MANDATORY|(?i:proactively))\b:?")

# Environment variables of the plugin's switch: the client's own name in hooks, ours (server/mcp.json) in the server.
SWITCHES = ("REPERTOIRE_HINTS", "REPERTOIRE_SUGGESTIONS", "CLAUDE_PLUGIN_OPTION_SUGGESTIONS")
_NO = frozenset(("0", "false", "no", "off"))


@dataclass(frozen=True)
class HintItem:
    """One component of a hint."""

    id: str
    name: str
    type: str
    description: str
    why: str
    installed: bool
    install: tuple[str, ...] = ()  # the lines that install it, in order
    along: int = 0  # components that these lines bring besides, since they install its whole plugin
    whole: bool = True  # false where these are only those that are known
    alone: bool = False  # it can be copied without the others of its plugin
    by_person: bool = False  # the client lets a person alone start it
    missing: str = ""  # a program that these lines start and that is not on this machine


def switched_off(environment: Mapping[str, str]) -> bool:
    """Tell whether the environment switches Repertoire off in hooks: REPERTOIRE_OFF=1."""
    return environment.get("REPERTOIRE_OFF", "").lower() not in {"", *_NO}


def silenced(environment: Mapping[str, str]) -> bool:
    """Tell whether the environment switches hints off: REPERTOIRE_OFF=1, or any of the switches set to no."""
    return switched_off(environment) or any(environment.get(name, "").lower() in _NO for name in SWITCHES)


def hint_text(heading: str, items: Iterable[HintItem]) -> str:
    """Return the hint: a heading and a line for each item; the last items are left out if it would be too long."""
    lines = [_line(item) for item in list(items)[:MAX_ITEMS]]
    first = f"{heading}. {_PURPOSE}"
    while lines and len("\n".join([first, *lines, _CLOSING])) >= MAX_CHARACTERS:
        lines.pop()
    return "\n".join([first, *lines, _CLOSING]) if lines else ""


def _line(item: HintItem) -> str:
    state = "installed" if item.installed else "not installed"
    if item.by_person:
        state += f"; only the person can start it{f', with /{item.name}' if item.installed else ''}"
    if item.install and not item.installed:
        state += f"; {item.missing} is not found here" if item.missing else ""
        state += f"; install: {_how(item)}"
    description = _shown(item.description)
    name, why = clean_line(item.name, _NAME_CHARACTERS), clean_line(item.why, _WHY_CHARACTERS)
    kind = clean_line(item.type, _NAME_CHARACTERS).replace("_", " ")
    reason = f" Why: {_ended(why)}" if why else ""
    return f"- {name} ({kind}, {state}): {_ended(description)}{reason}"


def _how(item: HintItem) -> str:
    """Return how an item is installed, and what comes along if that is much."""
    many = item.along >= MANY
    least = "" if item.whole else "at least "
    along = f", brings {least}{item.along:,} more components" if many else ""
    handle = next(filter(_TYPED.fullmatch, (item.name, item.id)), "")  # a name means what was suggested last
    if handle and all(map(_CARRIED_OUT.match, item.install)):
        return f"/repertoire:install {handle}" + (" --alone" if many and item.alone else along)
    lines = ", then ".join(to_copy(item.install))
    whole = UNCOPIED not in lines and len(lines) <= _INSTALL_CHARACTERS
    return f"{lines if whole else 'explain_component tells how'}{along}"


def _shown(description: str) -> str:
    """Return the first whole sentences of a description that there is room for, or else what there is room for."""
    line = description_line(_statements(description), _READ)
    if len(line) <= DESCRIPTION_CHARACTERS:
        return line
    whole = ""
    for sentence in _SENTENCE.split(line):
        longer = f"{whole} {sentence}".lstrip()
        if len(longer) > DESCRIPTION_CHARACTERS:
            break
        whole = longer
    return whole if len(whole) >= _SAYS_ENOUGH else clean_line(line, DESCRIPTION_CHARACTERS)


def _ended(text: str) -> str:
    """Return a sentence with its end: what was cut has one."""
    return text if text.endswith("…") else f"{text.rstrip('.')}."


def _statements(description: str) -> str:
    """Return a description without its sentences that urge the reader; where all do, without the words that urge."""
    kept = [sentence for sentence in _SENTENCE.split(description[:_READ]) if not _URGING.search(sentence)]
    return " ".join(kept) if any(kept) else _URGING.sub(" ", description[:_READ])
