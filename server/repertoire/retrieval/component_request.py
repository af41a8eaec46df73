"""Reads a request for a component, as "is there a skill that writes changelogs": the type asked for, and its job."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repertoire import linear
from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, SKILL
from repertoire.domain.text import content_words

ASKING = "asking"
_LONGEST = 300  # characters: a longer prompt tells more than which component it wants
# Words that name a component type. Tool, package and workflow are left out: tasks use these words for other things.
_TYPE_WORDS = {
    "skill": SKILL,
    "agent": AGENT,
    "subagent": AGENT,
    "sub-agent": AGENT,
    "command": COMMAND,
    "hook": HOOK,
    "mcp": MCP_SERVER,
    "mcp server": MCP_SERVER,
    "plugin": PLUGIN,
    "setting": SETTING,
}
# What serves as well who asks for a type: Claude Code runs commands as skills.
_AS_GOOD = {SKILL: (SKILL, COMMAND), COMMAND: (COMMAND, SKILL)}
# Log-odds that another type loses: a plugin may bring the type that is asked for, and who asks for a plugin may mean
# anything that Claude Code can be extended with.
_OTHER_TYPE, _PLUGIN_OR_NONE = 2.0, 1.0
_COURTESY = linear.compile(
    r"(?i)(?:(?:please|pls|hi|hey|hello|good morning|ok|okay|so|claude|help me|(?:can|could|would|will) (?:you|u|we|i))"
    r"[,!]? )+"
)
_ONE = r"(?:anyone|anybody|someone|somebody|people)"
_NAMING = r"(?:tell me )?(?:what|which)(?: is| are|'?s)?"
_SEEKING = (
    r"(?:find|list|get|got|need|wanted:?|install|look up|search(?: the marketplace)?(?: for)?|look(?:ing)? for|"
    r"(?:i'?m|i am|we'?re|we are) (?:after|looking for|searching for)|suggest|recommend|propose|"
    r"(?:i|we)'?d (?:like|love|install)|do (?:you|u) (?:know|have)(?: of| about)?|(?:happen to )?know(?: of)?|"
    rf"do we have|(?:have you )?heard of|(?:is|are) there|isn'?t there|there be|is|(?:does|has|who|did)?(?: {_ONE})? ?"
    r"(?:publish|published|have|has|made|built)|where (?:can|could|do|would) (?:i|we) (?:find|get)|"
    r"point (?:me|us) (?:to|at)|(?:set|hook) (?:me|us) up with|how about|(?:anything|something) (?:like|in the way of)|"
    r"give|show|does|(?:i|we) (?:could|can) (?:really )?(?:use|do with)|i heard (?:of|there'?s)|a pointer to|any"
    rf"|(?P<naming>{_NAMING}))(?: me| us)? "
)
_ARTICLES = r"(?:(?:an?|one|any|some|a few|kinds? of|me|other|another|more|(?P<the>the)) )*"
_PRAISE = (
    r"(?P<praise>(?:(?:(?:most )?(?:good|best|great|useful|helpful|suitable|reliable|trustworthy|right|handy|solid|"
    r"decent|nice|popular)|existing|available|ready[- ]made|official|free|recommended|certain|claude(?: code)?|"
    r"anthropic|must[- ]have|top(?: rated)?|go-to) )*)"
)
_BEFORE = r"(?P<before>(?:[^,;:.?!\s]+ ){0,3}?)"
_TYPE = r"(?:mcp servers?|mcps?|skills?|(?:sub-?)?agents?|slash commands?|hooks?|plugins?)"
_FIRST = linear.compile(rf"(?i)(?P<seeking>{_SEEKING})?{_ARTICLES}{_PRAISE}{_BEFORE}(?P<kind>{_TYPE})\b")
# Who wants a hook or an agent mostly wants one made.
_WANTED = linear.compile(
    rf"(?i)(?:i|we)(?: need| want)(?: to (?:find|use|install|have))? an? {_PRAISE}{_BEFORE}"
    r"(?P<kind>mcp(?: server)?|skill|subagent|slash command|plugin)\b"
)
# "pdf form filling skill?"
_ALONE = linear.compile(rf"(?i){_PRAISE}{_BEFORE}(?P<kind>{_TYPE})(?:, (?:ideas|anyone))?\?+")
_EVENTS = frozenset(
    "pretooluse posttooluse stop sessionstart sessionend userpromptsubmit notification precompact".split()
)
# No job is told with these before the type: "find the tests of our agent", "what happens when a hook"
_FUNCTION_WORDS = frozenset(
    """a an the to of my our your his their this that in on with for is are and or not how way from when why running
    failing broken installed enabled""".split()
)
_USABLE = (
    r"(?:(?:that )?(?:i|we) (?:can|could|should) (?:use|install|add|try|drop in)(?: (?:in|to|into) claude(?: code)?)?|"
    r"to (?:use|install|add|try)|out there|around|available|exists?|here|yet|already)"
)
# What may stand between the type and the job, or behind the job.
_BESIDE = linear.compile(
    rf"(?i)(?: (?:(?:for|in|from) claude(?: code)?|in the marketplace|(?:suggestions?|recommendations?)|{_USABLE}|"
    r"(?:(?:do|would|could|can) )?(?:you|u) (?:recommend|suggest|know|have|propose)))+"
)
_BEHIND = linear.compile(
    rf"(?i)(?: (?:{_USABLE}|please|pls|lol|thanks)|, (?:if|does|do|has|have|know|anything|anyone|any|pls|please|top|"
    r"ideas|what'?s|who)\b[^,]*)+$"
)
_DO = r"(?:use|install|need|add|try|get|want|pick|take|have|go with|recommend|suggest|grab)"
_SHOULD = (
    r"(?:(?:(?:should|could|can|would|might|shall|must|to)(?: (?:i|we|you|u|people|a \w+ \w+))?"
    rf"|do (?:you|u|people|ppl|most)(?: usually)?) {_DO}(?: first)?|do (?:i|we) need|(?:is|are) worth \w+)"
)
_ABLE = r"(?:can|could|will|would|might|may|just)"
_HELPS = (
    rf"(?:{_ABLE} )?(?:helps?|assists?|be (?:useful|good|helpful|best)|works?|fits?|suits?)(?: best| well)?(?: me| us)?"
)
_IS = (
    r"(?:is|are|would be)(?: the| a)?(?: (?:best|good|right|useful|helpful|recommended|suited|available|there|made|"
    r"meant))+"
)
_TO = r"(?:for|to|with|about|on|around|at|in|when|if (?:i|we) (?:want|need) to)"
_LINK = linear.compile(
    rf"(?i)(?:[,:]|,? (?:(?P<sought>{_SHOULD}(?: {_TO})?|(?:(?:that|which|who) )?(?:{_HELPS}|{_IS})(?: {_TO})?)"
    rf"|(?P<which>(?:that|which|who)(?: {_ABLE})?)|(?P<bare>for|to)|with|about|around|good (?:at|for|with)|related to"
    r"|so that|so|(?P<doing>[a-z]+ing)))(?: |$)"
)
_SENTENCE = linear.compile(r"[.?!;]+\s+")
# "a plugin which helps me study, if one exists"
_OFFERED = linear.compile(
    r"(?i).*(?:,| -| would be) (?:if|does|do|is there|has|have|know|any|anyone|ideas|please|pls|great|nice|handy|good|"
    r"lovely|useful|wonderful|perfect)\b.*"
)
# "got one?", "what do you recommend", "where do I find one": says nothing of the job
_REMARK = linear.compile(
    r"(?i)(?:got|know|where|what|which|is|are|does|do|any|anyone|exists?|ideas|thanks|please)(?: [^\s]+){0,5}"
)
_MOST_SENTENCES = 4
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
        return _AS_GOOD.get(self.type, (self.type,))

    def handicap(self, type_: str) -> float:
        """Return what a component of some type loses, in log-odds, because another type is asked for."""
        if type_ in self.types:
            return 0.0
        return _PLUGIN_OR_NONE if PLUGIN in (type_, self.type) else _OTHER_TYPE


def component_request(text: str) -> ComponentRequest | None:
    """Return what a prompt asks for if it is nothing but a request for components; None for any other prompt.

    What its other sentences tell is taken for a part of the job.
    """
    said = text.strip()
    if len(said) > _LONGEST or "\n" in said:
        return None
    sentences = _SENTENCE.sub("\0", said).split("\0")
    if len(sentences) > _MOST_SENTENCES:
        return None
    for at, sentence in enumerate(sentences):
        found = _request_in(sentence if at + 1 == len(sentences) else f"{sentence}?")
        if found is not None:
            others = (one.strip(" ?.!") for one in (*sentences[:at], *sentences[at + 1 :]))
            told = [one for one in others if one and not _REMARK.fullmatch(one)]
            return replace(found, job=". ".join(filter(None, (found.job, *told))))
    return None


def job_of(text: str) -> str:
    """Return the job of a request for components, else the text itself: what is compared with what is known."""
    found = component_request(text)
    return found.job if found is not None and found.job else text


def type_named(words: str) -> str:
    """Return the component type that a word or two name, in either number: "slash commands", "MCP server"."""
    return _TYPE_WORDS[words.lower().removeprefix("slash ").removesuffix("s")]


def _request_in(sentence: str) -> ComponentRequest | None:
    said = sentence.rstrip("?.! ")
    courtesy = _COURTESY.match(said)
    found = _with_type_first(said[courtesy.end() :] if courtesy else said)
    alone = _ALONE.fullmatch(sentence) if found is None else None
    before = _before(alone) if alone else None
    return found if alone is None or before is None else _request(alone["kind"], before, "")


def _before(found: linear.LinearMatch) -> str | None:
    """Return the part of the job that stands before the type; None if what stands there tells none."""
    words = found["before"].strip().lower().split()
    if not words:
        return ""
    if found["kind"].lower().startswith("hook"):  # React and git have hooks, too
        return "" if _EVENTS.issuperset(words) else None
    return found["before"].strip() if _FUNCTION_WORDS.isdisjoint(words) else None


def _with_type_first(said: str) -> ComponentRequest | None:
    """Return a request whose type stands before the job, or before its second half; None if it is none."""
    wanted, seeks, names = _WANTED.match(said), True, False
    begin = wanted or _FIRST.match(said)
    if begin is None or (before := _before(begin)) is None:
        return None
    if not wanted:
        if begin["the"] and not begin["praise"]:
            return None  # "the plugin for payments is broken" is about one that is there
        seeks, names = bool(begin["seeking"]), bool(begin["naming"])
    rest = said[begin.end() :]
    beside = _BESIDE.match(rest)
    seeks_any = bool(beside) or not names  # "what are skills" seeks none
    for at in [beside.end(), 0] if beside else [0]:
        link = _LINK.match(rest[at:])
        if link is None:
            continue
        job = " ".join(filter(None, (link["doing"], rest[at + link.end() :])))
        if seeks or (not before and (link["bare"] or (link["which"] and _OFFERED.fullmatch(job)))):
            return _request(begin["kind"], before, job, sought=seeks_any or bool(link["sought"]))
    nothing_follows = not rest[beside.end() if beside else 0 :].strip()
    return _request(begin["kind"], before, "", sought=seeks_any) if seeks and nothing_follows else None


def _request(kind: str, before: str, job: str, *, sought: bool = True) -> ComponentRequest | None:
    """Return the request; None if it tells no job and no component is `sought` either."""
    behind = _BEHIND.search(f" {job}")
    told = (job[: max(behind.start(), 1) - 1] if behind else job).strip(" ,").rstrip(".?!")
    told = f"{before} {told}".strip()
    told = told if {*content_words(told)} - _NO_JOB else ""
    return ComponentRequest(type_named(kind), told) if told or sought else None
