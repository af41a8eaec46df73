"""Reads a request for a component, as "is there a skill that writes changelogs": the type asked for, and its job."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire import linear
from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SKILL
from repertoire.domain.text import content_words

ASKING = "asking"
_LONGEST = 300  # characters: a longer prompt tells more than which component it wants
_TYPES = {"skill": SKILL, "agent": AGENT, "command": COMMAND, "hook": HOOK, "mcp": MCP_SERVER, "plugin": PLUGIN}
# What serves as well who asks for a type: Claude Code runs commands as skills, and a plugin brings any type. Who asks
# for a plugin may mean anything that Claude Code can be extended with.
_AS_GOOD = {
    SKILL: (SKILL, COMMAND, PLUGIN),
    AGENT: (AGENT, PLUGIN),
    COMMAND: (COMMAND, SKILL, PLUGIN),
    HOOK: (HOOK, PLUGIN),
    MCP_SERVER: (MCP_SERVER, PLUGIN),
    PLUGIN: (PLUGIN,),
}
_OTHER_TYPE, _NO_PLUGIN = 2.0, 1.0
_COURTESY = linear.compile(
    r"(?i)(?:(?:please|pls|hi|hey|hello|ok|okay|so|claude|help me|(?:can|could|would|will) (?:you|we))[,!]? )+"
)
_NAMING = r"(?:what|which)(?: is| are|'?s)?"
_SEEKING = (
    r"(?:find|list|show|search(?: for)?|look(?:ing)? for|(?:i'?m|i am|we'?re|we are) (?:looking|searching) for|suggest|"
    r"recommend|propose|do you (?:know|have)(?: of| about)?|do we have|(?:is|are) there|isn'?t there|know of|any"
    rf"|(?P<naming>{_NAMING}))(?: me| us)? "
)
_ARTICLES = r"(?:(?:an?|any|some|a few|kinds? of|me|other|another|more|(?P<the>the)) )*"
_PRAISE = (
    r"(?P<praise>(?:(?:good|best|great|useful|helpful|suitable|right|existing|available|ready-made|official|free|nice|"
    r"popular|recommended|certain|claude(?: code)?|anthropic|must-have|top) )*)"
)
_KIND = r"(?P<kind>mcp(?: servers?)?|skills?|(?:sub-?)?agents?|slash commands?|hooks?|plugins?)"
_FIRST = linear.compile(rf"(?i)(?P<seeking>{_SEEKING})?{_ARTICLES}{_PRAISE}{_KIND}\b")
# Who needs or wants a hook or an agent mostly wants one made.
_NEEDED = linear.compile(
    r"(?i)(?:i|we)(?:'d like| need| want)(?: to (?:find|use|install|have))? an? "
    rf"{_PRAISE}(?P<kind>mcp server|skill|subagent|slash command|plugin)\b"
)
# "a code review agent": hooks are left out, which React and git have, too
_LAST = linear.compile(
    rf"(?i){_SEEKING}(?:(?:an?|any|some|the best|me) )*{_PRAISE}(?P<job>[^,;:.?!\s]+(?: [^,;:.?!\s]+){{0,3}}?) "
    r"(?P<kind>mcp(?: servers?)?|skills?|(?:sub-?)?agents?|plugins?)(?: (?:out there|around|available))?"
)
_FUNCTION_WORDS = frozenset("a an the to of my our your in with that for is are and or is not how way".split())
_USABLE = (
    r"(?:(?:that )?(?:i|we) (?:can|could|should) (?:use|install|add|try)|to (?:use|install|add|try)|out there|around|"
    r"available|here)"
)
# What may stand between the type and the job, or behind the job.
_BESIDE = linear.compile(
    rf"(?i)(?: (?:(?:for|in|from) claude(?: code)?|{_USABLE}|(?:(?:do|would|could|can) )?you "
    r"(?:recommend|suggest|know|have|propose)))+"
)
_BEHIND = linear.compile(rf"(?i)(?: {_USABLE})+$")
_SHOULD = (
    r"(?:(?:should|could|can|would|might|shall|must) (?:i|we) (?:use|install|need|add|try|get|want|pick|take|have)"
    r"|do (?:i|we) need)"
)
_ABLE = r"(?:can|could|will|would|might|may)"
_HELPS = (
    rf"(?:{_ABLE} )?(?:helps?|assists?|be (?:useful|good|helpful|best)|works?|fits?|suits?)(?: best| well)?(?: me| us)?"
)
_IS = (
    r"(?:is|are|would be)(?: the| a)?(?: (?:best|good|right|useful|helpful|recommended|suited|available|there|made|"
    r"meant))+"
)
_TO = r"(?:for|to|with|about|on|around|at|in|when|if (?:i|we) (?:want|need) to)"
_LINK = linear.compile(
    rf"(?i) (?:(?P<sought>{_SHOULD}(?: {_TO})?|(?:(?:that|which|who) )?(?:{_HELPS}|{_IS})(?: {_TO})?)"
    rf"|(?:that|which|who)(?: {_ABLE})?|(?P<bare>for|to)|with|about|around)(?: |$)"
)
_NO_JOB = frozenset(
    "this that here it job best most installed project repo repository codebase app me us now team company".split()
)


@dataclass(frozen=True)
class ComponentRequest:
    """The type of component that a prompt asks for, and the job that it is for; empty if none is told."""

    type: str
    job: str
    of_project: bool = False  # whether the job is what the project is built with, since none is told

    @property
    def note(self) -> str:
        """The sentence that tells the reader of an answer what stands for the job that is not told."""
        return f"the request names no job: read as for what this project is built with ({self.job})"

    @property
    def types(self) -> tuple[str, ...]:
        """The types that serve who asks for this one."""
        return _AS_GOOD[self.type]

    def handicap(self, type_: str) -> float:
        """Return what a component of some type loses, in log-odds, because another type is asked for."""
        if type_ in self.types:
            return 0.0
        return _NO_PLUGIN if self.type == PLUGIN else _OTHER_TYPE


def component_request(text: str) -> ComponentRequest | None:
    """Return what a prompt asks for if it is nothing but a request for components; None for any other prompt."""
    said = text.strip().rstrip("?.! ")
    if len(said) > _LONGEST or "\n" in said:
        return None
    courtesy = _COURTESY.match(said)
    said = said[courtesy.end() :] if courtesy else said
    found = _with_job_behind(said)
    if found is None and (last := _LAST.fullmatch(said)) and _FUNCTION_WORDS.isdisjoint(last["job"].lower().split()):
        found = _request(last["kind"], last["job"])
    return found


def _with_job_behind(said: str) -> ComponentRequest | None:
    """Return a request that tells its job behind the type, or no job; None if it is none."""
    needed, seeks, names = _NEEDED.match(said), True, False
    begin = needed or _FIRST.match(said)
    if begin is None:
        return None
    if not needed:
        if begin["the"] and not begin["praise"]:
            return None  # "the plugin for payments is broken" is about one that is there
        seeks, names = bool(begin["seeking"]), bool(begin["naming"])
    rest = said[begin.end() :]
    beside = _BESIDE.match(rest)
    seeks_any = bool(beside) or not names  # "what are skills" seeks none
    for at in [beside.end(), 0] if beside else [0]:
        link = _LINK.match(rest[at:])
        if link is not None and (seeks or link["bare"]):
            return _request(begin["kind"], rest[at + link.end() :], sought=seeks_any or bool(link["sought"]))
    nothing_follows = not rest[beside.end() if beside else 0 :].strip()
    return _request(begin["kind"], "", sought=seeks_any) if seeks and nothing_follows else None


def _request(kind: str, job: str, *, sought: bool = True) -> ComponentRequest | None:
    """Return the request; None if it tells no job and no component is `sought` either."""
    word = kind.lower().removeprefix("slash ").replace("sub", "").lstrip("-").removesuffix("s").partition(" ")[0]
    behind = _BEHIND.search(f" {job}")
    told = (job[: behind.start()] if behind else job).strip(" ,").rstrip(".?!")
    told = told if {*content_words(told)} - _NO_JOB else ""
    return ComponentRequest(_TYPES[word], told) if told or sought else None
