"""Checks for prompt injection: hidden text, orders in comments, orders to disobey or to conceal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repertoire import linear
from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust import other_languages
from repertoire.trust.benign_context import is_negated, is_quoted
from repertoire.trust.check import UNCHECKED, Check, CheckMatch, Match, ScanBudget, span_of
from repertoire.trust.prose import compile_prose
from repertoire.trust.scanned_text import CODE, COMMENT, MARKDOWN, PROSE, RUN, Line, ScannedText

HIDDEN, IN_COMMENT, ORDER = "hidden-text", "comment-order", "order-to-model"
STEERING = (HIDDEN, IN_COMMENT, ORDER)  # rules of what is written for a model, past the person who reads

# UTF-8 bytes of zero-width, direction, tag and selector characters; a search in bytes is much faster
_STRANGE = re.compile(
    rb"\xf3\xa0|\xe2\x80[\x8b\x8c\xaa-\xae]|\xe2\x81[\xa0-\xa9]|\xef\xbb\xbf|\xef\xb8[\x80-\x8f]\xef\xb8[\x80-\x8f]"
)
# runs of tag characters, but not those behind a black flag, which spell flags such as England's
_TAGS = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0020-\U000e007f]{3,}")
_SELECTORS = re.compile("[\U000e0100-\U000e01ef]{3,}|[\ufe00-\ufe0f]{4,}")
_OVERRIDES = "\u202d\u202e"
_TURNS = (("\u2066\u2067\u2068", "\u2069"), ("\u202a\u202b", "\u202c"))  # direction marks, and their closing marks
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_RUN_OF_NOTHING = re.compile("[\u200b\u200c\u2060-\u2064\ufeff]{6,}|[\u200b\u200c\u200d\u2060-\u2064\ufeff]{12,}")
_IN_A_WORD = re.compile("(?<=[A-Za-z])[\u200b\u2060-\u2064](?=[A-Za-z])")

_UNSEEN = linear.compile(
    r"""(?i) <(?P<tag>span|div|p|font|i|b|small|sub|td)\b[^>]*style\s*=\s*["'][^"']*(?:display\s*:\s*none|font-size\s*:\s*0(?:px|pt|em)?\s*[;"']
        |color\s*:\s*(?:white|\#fff(?:fff)?|transparent)\s*[;"'])[^>]*>(?P<text>[^<]{15,})
      | <(?:span|div|p|section|details|template)\b[^>]*\shidden(?:=["'](?:hidden)?["'])?[\s>][^<]{0,200}?(?P<unseen>[^<>]{15,})""",
    verbose=True,
)
_FAR_RIGHT = linear.compile(r" {180,}(?P<pushed>\S[^\n]{15,})")

_DISOBEY = r"""(?<!\|[ ])\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?!default)(?:\w+\s+){0,3}?(?:(?:previous|prior|above|earlier|preceding|existing|original|system|developer|safety|all\s+other|other)\s+)
        (?:\w+\s+){0,2}?(?:instructions?|prompts?|rules|system\s+messages?|guidelines?|guardrails?|directives|directions|constraints|restrictions)\b
        |\b(?:ignore|disregard|forget)\s+(?:everything|anything|all)\s+(?:that\s+)?(?:you\s+(?:were|have\s+been)|you've\s+been)\s+(?:told|given|taught|instructed)\b"""
_CONCEAL = r"""\b(?:do\s+not|don'?t|never|must\s+not|without)\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|show(?:ing)?|report(?:ing)?|warn(?:ing)?)\b"""
_HIDING = rf"""{_CONCEAL}[^.\n]{{0,40}}(?:\b(?:this|these|that)\s+(?:\w+\s+)?(?:instructions?|prompts?|messages?|steps?|commands?|actions?|files?|rules?|notes?|comments?|uploads?|requests?|behaviou?rs?)\b
        |\b(?:the|any)\s+(?:upload|transfer|exfiltration|download|backdoor|change\s+to\s+(?:settings|permissions)|hidden\s+\w+|background\s+\w+)\b
        |\babout\s+(?:this|it)\b(?P<after>$|[^\w\s]|\s+(?:$|[^iuw]|i(?:$|[^f])|u(?:$|[^n])|w(?:$|[^h]|h(?:$|[^e]|e(?:$|[^n])))))|\bthat\s+you\s+(?:first\s+|also\s+)?(?:need(?:ed)?\s+to\s+read|ran|run|sent|send|installed|uploaded|changed|read|executed|copied|modified|have\s+(?:run|sent|read)|did|are\s+(?:running|sending|reading))\b)
      | {_CONCEAL}\s+(?:to\s+)?(?:the\s+)?(?:user|human|operator|anyone|them)\s+(?:(?:about|of)\s+(?:the|this|that|these|any\s+of\s+(?:this|it))\s+(?:\w+\s+){{0,2}}?(?:steps?|uploads?|setup|run|reads?|files?|commands?|behaviou?rs?|operations?|scripts?|calls?)
        |what\s+(?:you|this|these|it)\s+(?:\w+\s+){{0,3}}?(?:do|does|did|are\s+doing|is\s+doing|changed|ran|sent|about\s+to\s+do|happened)\b|what\s+happened\b|that\s+this\s+(?:step|skill|tool|command|also)\b|you\s+(?:ran|sent|read|did)\b
        |about\s+(?:network|background|hidden)\s+\w+)
      | \bif\s+(?:the\s+user|anyone|someone|they)\s+asks?\s+(?:you\s+)?(?:what|why|whether|if)\b[^.\n]{{0,60}},?\s*(?:answer|say|reply|respond|claim|tell\s+them)\b[^.\n]{{0,12}}\b(?:you\s+only|nothing\s+else|only\s+that|["'][^"'\n]{{3,60}}["']\s+and\s+nothing)
      | {_CONCEAL}\s+(?:this|that|these|the)\s+(?:\w+\s+){{0,2}}?(?:steps?|comments?|instructions?|commands?|operations?)\b
      | \b(?:silently|quietly)\s+(?:exfiltrate|steal|harvest|upload|(?:send|forward|post|include|read|collect|append)\s+(?:[^\n.]{{0,40}})(?:secrets?|tokens?|keys?|credentials?|passwords?|\.ssh|\.aws|\.env|files?\s+to|config\b|environment|result\s+to|conversation))
      | \b(?:secretly|covertly|stealthily)\s+(?:send|read|run|upload|copy|collect|install|add|change|modify|execut|forward|record|log|track|exfiltrat|steal|store|monitor|download|delet|post|append|insert|call|includ|writ|fetch|open|gather|pass)\w* | \bkeep\s+this\s+(?:\w+\s+)?(?:secret|hidden|between\s+us)\b | \bwithout\s+the\s+(?:user|human|operator)(?:'s)?\s+(?:knowing|noticing|knowledge|awareness)\b
      | {_CONCEAL}\s+(?:this|that|it|anything)\s+to\s+(?:the\s+)?(?:user|human|operator|anyone)\b
      | \b(?:and|but)\s+(?:do\s+not|don'?t|never)\s+(?:tell|inform|notify|alert)\s+the\s+(?:user|human|operator)\s*(?:[.;!"]|$)
      | \b(?:continue|carry\s+on|proceed)\s+as\s+if\s+nothing\s+(?:had\s+)?happened\b
      | \bkeep\s+(?:quiet|silent)\s+about\s+(?:it|this|that)\b | \b(?:hidden|secret)\s+(?:step|instruction|task|note)s?\s+for\s+(?:the\s+)?(?:assistant|agent|model|ai|llm|claude)\b
      | \b(?:hide|conceal)\s+(?:this|these|it|the\s+\w+)\s+from\s+the\s+(?:user|human|operator|developer)\b"""
_REVEAL = r"""\b(?:reveal|print|output|repeat|leak|disclose|recite)\s+(?:\w+\s+){0,3}?(?:your|the\s+(?:hidden|full|original|entire))\s+(?:\w+\s+)?(?:system\s+prompt|initial\s+instructions|hidden\s+instructions|instructions\s+verbatim)"""
_RISKY = re.compile(
    r"(?i)\b(?:run|execut\w*|send|upload|post|ignore|install|download|curl|wget|approve|delete|disable|skip\s+(?:the\s+)?(?:review|confirmation|permission)|override"
    r"|exfiltrate|leak|forward|always\s+(?:answer|approve|reply|say)|--no-verify|credentials?|secrets?|\.env|\.ssh|do\s+not\s+(?:tell|mention|inform)|don'?t\s+(?:tell|mention|inform)|without\s+asking|bypass|grant)\b"
)
_TO_THE_MODEL = compile_prose(
    r"(?i)\b(?:claude|assistant|the\s+model|the\s+agent|llms?|ai(?:\s+(?:assistant|agent|model))?|copilot|gpt|language\s+model)\b[^.\n]{0,80}\b(?:must|should|always|never|need\s+to|is\s+to|are\s+to|please|will)\b"
    r"|^\W{0,6}(?:hidden\s+)?(?:system|agent|assistant|ai(?:\s+(?:assistant|agent))?|llm|claude|model)(?:\s+(?:note|instruction|prompt))?\s*:|\byou\s+must\s+(?:\w+\s+)?(?:run|execute|send|read|download|install|include)\b"
    r"|\bignore\s+the\s+(?:visible|actual|real|user'?s)\s+task\b|\bsilently\s+(?:run|execute|send|read|install)\b"
    r"|\bif\s+you\s+are\s+an?\s+(?:llm|ai|language\s+model|assistant|agent)\b|\b(?:agents?|assistants?|llms?)\s+reading\s+this\b"
    r"|\b(?:as\s+an\s+ai|you\s+(?:are\s+now|must\s+now|must\s+always|should\s+always|must\s+silently)|system\s*(?:override|note|instruction|prompt)\s*:|instructions?\s+(?:for|to)\s+(?:the\s+)?(?:ai|model|agent|assistant|claude|llm))"
)
_OUTWARD = compile_prose(r"(?i)\b(?:send|forward|upload|post|exfiltrate|leak)\b[^.\n]{0,120}https?://")
_FORBIDS = re.compile(r"(?i)\b(?:never|not|don't|avoid|no)\s+(?:\w+\s+){0,2}$")
_FORBIDDING = 200  # characters before a risky word that are searched for a prohibition
_UNSTOPPABLE = r"""\b(?i:you)\s+(?:are|ARE|will\s+be|WILL\s+BE)\s+(?:[A-Za-z]+\s+)?(?:forbidden|prohibited|FORBIDDEN|PROHIBITED)\s+(?i:from|to)\s+
        (?i:(?:stop|paus|terminat|quit|yield)(?:e|ing|ping|ting)?(?:\s+(?:until|before|unless|for\s+(?:user|the\s+user)|early|here|or|at\s+any|work)|\s*[.,;:!*]|\s*$)
          |end(?:ing)?\s+(?:your|the)\s+(?:turn|session)|ask(?:ing)?\s+(?:(?:the\s+|your\s+)?users?\b|for\s+(?:the\s+)?(?:users?\s+|human\s+)?(?:permission|confirmation|approval|consent)))
      | \b(?i:stopping|pausing|terminating|yielding|asking|attempts?\s+to\s+(?:stop|pause|ask))
        (?:\s+(?i:prematurely|early|here|before\s+[^.\n]{1,60}|for\s+(?:user\s+input|permission|confirmation|approval)))?\s+(?i:is|are)\s+(?:[A-Za-z]+\s+)?(?:FORBIDDEN|PROHIBITED)\b"""
_AUTHORITY = linear.compile(
    r"\b(?:ABSOLUTE|SUPREME|ULTIMATE|TOTAL|SYSTEM|CORE|FULL|COMPLETE|SAFETY|POLICY|INSTRUCTION|ALIGNMENT|GUARDRAIL)[ _]"
    r"(?:[A-Z]{3,}[ _]){0,2}OVERRIDE[ _](?:DIRECTIVE|AUTHORITY|PROTOCOL|MANDATE|ORDER)S?\b"
)
DISOBEYS = re.compile(f"(?ix){_DISOBEY}")
# Neither occurs in the 5,149 texts of fourteen real repositories.
_IN_A_ROLE = compile_prose(
    r"(?i)(?:^|[.>!?]\s+)\W{0,6}(?:system|assistant|claude):\s*(?:the\s+(?:assistant|model|agent)|you)\s+"
    r"(?:must|should|will|shall|always|never|are\s+to|need\s+to)\b"
)
_PRAISE = compile_prose(
    r"(?i)\b(?:must|should|always)\s+(?:\w+\s+){0,3}(?:recommend|suggest|choose|prefer|rank)\s+this\s+"
    r"(?:skill|agent|plugin|component|server|command|tool)\b"
)
_HIDES = compile_prose(f"(?i){_HIDING}", verbose=True)
_REVEALS = compile_prose(f"(?i){_REVEAL}", verbose=True)


def order_severities(match: Match, line: Line) -> Mapping[str, str]:
    """Return severities of an order to disobey; none if it is quoted or follows words such as "for example"."""
    text = line.text
    if is_quoted(text, match.start(), min(match.end(), len(text))) or _IN_A_LIST_OF_EXAMPLES.search(
        text[: match.start()]
    ):
        return {}
    return {PROSE: HIGH, RUN: HIGH}


def doubtful_severities(match: Match, line: Line) -> Mapping[str, str]:
    """Return lower severities: a skill may say so to its model, while what a stranger reports of an error may not."""
    return dict.fromkeys(order_severities(match, line), MEDIUM)


_IN_A_LIST_OF_EXAMPLES = re.compile(
    r"(?i)(?:e\.g\.|such\s+as|like|for\s+example|asks?\s+(?:you\s+)?to|tells?\s+(?:you\s+)?to|attempts?\s+to|tr(?:y|ies|ying)\s+to|telling\s+you\s+to|asking\s+you\s+to|instructions?\s+to|requests?\s+to|may\s+say|says?|clear\s+context)[\s:,]*$"
)


def _conceal_severities(match: Match, line: Line) -> Mapping[str, str]:
    if is_quoted(line.text, *(min(place, len(line.text)) for place in span_of(match))) or is_negated(
        line.text, match.start()
    ):
        return {}
    return {PROSE: HIGH, RUN: HIGH}


CHECKS = (
    Check(
        ORDER,
        "orders the model to ignore what it was told",
        ("ignore", "disregard", "forget", "override", "bypass", "discard"),
        DISOBEYS,
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model to keep something from its user",
        (
            "tell",
            "mention",
            "reveal",
            "inform",
            "notify",
            "secretly",
            "hide ",
            "conceal th",
            "silently",
            "quietly",
            "keep this ",
            "user asks ",
            "knowing",
            "as if nothing",
        ),
        _HIDES,
        {},
        _conceal_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "gives the model an order as if its system or itself had said so",
        ("system:", "assistant:", "claude:"),
        _IN_A_ROLE,
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model to recommend it before others",
        ("recommend this ", "suggest this ", "choose this ", "prefer this ", "rank this "),
        _PRAISE,
        {},
        doubtful_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model to give away its own instructions",
        ("system prompt", "hidden instr"),
        _REVEALS,
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "claims to lift the model's rules, or to stand above them",
        ("override", "suspended", "precedence over", "no restrictions"),
        re.compile(
            r"""(?x) \[\s*SYSTEM\s+OVERRIDE\s*\]
               | (?i:\b(?:all|any|your|the)\s+(?:previous|prior|safety|existing|earlier)\s+(?:\w+\s+){0,2}(?:guidelines?|instructions?|rules|restrictions|guardrails)\s+(?:are|is)\s+(?:now\s+|hereby\s+)?(?:suspended|void|lifted|disabled|cancell?ed|revoked|no\s+longer))
               | (?i:\byou\s+(?:now\s+|currently\s+)?have\s+no\s+(?:restrictions|rules|limits|limitations|guidelines)\b) | (?i:\byou\s+are\s+(?:now\s+)?)DAN\b
               | (?i:\bthis\s+(?:\w+\s+)?takes?\s+precedence\s+over\s+(?:the\s+|your\s+|any\s+)?(?:system\s+(?:prompt|instructions)|whatever\s+the\s+user))"""
        ),
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "forbids the model to stop or to ask, whatever its user wants",
        ("forbidden", "prohibited"),
        compile_prose(_UNSTOPPABLE, verbose=True),
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "claims authority over the client and its user, in capitals",
        ("override",),
        _AUTHORITY,
        {PROSE: MEDIUM, COMMENT: HIGH},
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model never to ask for permission",
        ("never ask", "never request"),
        re.compile(
            r"""(?ix)\bnever\s+(?:ask|request|wait\s+for|seek)\s+(?:the\s+)?(?:users?\s+)?(?:for\s+)?(?:permission|approval|confirmation|consent)\b
                (?![^.\n]{0,60}\b(?:resume|continue|unless|until|twice|again)\b)"""
        ),
        {PROSE: MEDIUM, COMMENT: HIGH},
    ),
    Check(
        ORDER,
        "orders the model to deceive its user",
        ("tests pass",),
        re.compile(
            r"""(?ix)\b(?:pretend|claim|say|report|state|assert)\s+(?:that\s+)?(?:all\s+)?(?:the\s+)?(?:tests?|checks?|builds?)\s+(?:have\s+)?pass(?:ed|es)?\b[^.\n]{0,30}\b(?:even|although|regardless|whether\s+or\s+not|no\s+matter)\b"""
        ),
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "writes as if it were the system or the host",
        ("<|", "<system-", "</system>"),
        linear.compile(r"(?i)<\|im_start\|>\s*system|^\s*<system-reminder>|<\|system\|>|</system>\s*<system>"),
        {PROSE: MEDIUM, COMMENT: HIGH},
        span=2,
    ),
    Check(
        ORDER,
        "ends the frame that it is shown in, or opens one of the model's own",
        ("</system-reminder", "<function_calls", "</function_results"),
        re.compile(
            r"(?i)</system-reminder>\s*<system-reminder>|<function_calls>\s*<invoke\s+name=|</function_results>\s*<"
        ),
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "presses the model to prefer it to everything else",
        ("this skill", "this plugin", "this tool"),
        re.compile(
            r"""(?ix)\b(?:you\s+must\s+always|always|must\s+always|you\s+must)\s+(?:install|choose|select|recommend|pick|prefer|use|call|invoke)\s+(?:only\s+)?this\s+(?:skill|plugin|tool|agent|server|command)\b
                [^.\n]{0,80}\b(?:instead\s+of|over|before|rather\s+than|regardless|no\s+matter|every|any|all)\b"""
        ),
        {PROSE: MEDIUM, COMMENT: HIGH},
    ),
    Check(
        ORDER,
        "orders the model, in another language, to ignore what it was told",
        other_languages.DISOBEYS_WITH,
        other_languages.DISOBEYS,
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model, in another language, to keep something from its user",
        other_languages.SILENT_WITH,
        other_languages.SILENT,
        {},
        _conceal_severities,
        orders=True,
    ),
)


def hidden(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield matches for text that a reader does not see."""
    if not document.text.isascii() and _STRANGE.search(document.text.encode("utf-8", "replace")):
        for index, text in enumerate(document.lines):
            if not text.isascii():
                found = _hidden_characters(text)
                if found:
                    yield CheckMatch(HIDDEN, found[0], document.line(index), found[1])
    yield from _invisible_text(document)


def comments(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield matches for orders in comments, which only a model reads."""
    if document.kind != MARKDOWN:
        return
    room = ScanBudget()
    for needle in ("<!--", "[//]: #", "[comment]:"):
        for index in document.numbers_of(needle):
            line = document.line(index)
            if line.place == CODE or is_quoted(line.text, max(line.text.find(needle), 0), len(line.text)):
                continue
            said = _comment(document, index, line)
            if not room.take(len(said)):
                yield CheckMatch(UNCHECKED, MEDIUM, line, "holds so many comments that not all were checked")
                return
            private = _private_order(said)
            addressed = _TO_THE_MODEL.search(said)
            if private or (addressed and _risks(said)):
                risky = private and _RISKY.search(said[: private[0]] + said[private[1] :])
                grave = CRITICAL if risky or _OUTWARD.search(said) else HIGH
                yield CheckMatch(IN_COMMENT, grave, line, "gives the model orders in a comment that nobody else reads")


def _private_order(said: str) -> tuple[int, int] | None:
    """Return the span of the first order to disobey, to conceal or to reveal instructions; None without one."""
    found = (pattern.search(said) for pattern in (DISOBEYS, _HIDES, _REVEALS))
    return min((span_of(match) for match in found if match), key=lambda span: span[0], default=None)


def _risks(said: str) -> bool:
    """Tell whether a text orders a risky action, rather than forbids it."""
    return any(
        match.group()[:2].lower() == "do"
        or not _FORBIDS.search(said[max(0, match.start() - _FORBIDDING) : match.start()])
        for match in _RISKY.finditer(said)
    )


def _comment(document: ScannedText, index: int, line: Line) -> str:
    start = max(line.text.find("<!--"), 0)
    text = "\n".join([line.text[start:], *document.lines[index + 1 : index + 40]])[:4_000]
    if not line.text[start:].startswith("<!--"):
        return line.text
    return text.partition("-->")[0]


def _hidden_characters(text: str) -> tuple[str, str] | None:
    tags = _TAGS.search(text)
    if tags is not None:
        return (CRITICAL if len(tags.group()) >= 8 else HIGH), "hides text in characters that are not shown"
    if _SELECTORS.search(text) or _RUN_OF_NOTHING.search(text):
        return HIGH, "hides data in characters that are not shown"
    if _is_turned(text) and not _RIGHT_TO_LEFT.search(text):
        return HIGH, "turns the direction of text so that it reads otherwise than it is"
    if len(_IN_A_WORD.findall(text)) >= 2:
        return MEDIUM, "breaks words with characters that are not shown"
    return (LOW, "breaks a word with a character that is not shown") if _IN_A_WORD.search(text) else None


def _is_turned(line: str) -> bool:
    """Tell whether a line changes the direction of text without closing it."""
    left_open = (max(map(line.rfind, marks)) > line.rfind(back) for marks, back in _TURNS)
    return any(mark in line for mark in _OVERRIDES) or any(left_open)


def _invisible_text(document: ScannedText) -> Iterator[CheckMatch]:
    if document.kind != MARKDOWN:
        return
    seen: set[int] = set()
    for needle in ("display:", "font-size:", "color:", " hidden"):
        for index in document.numbers_of(needle):
            if index in seen:
                continue
            seen.add(index)
            line = document.line(index)
            match = _UNSEEN.search(line.text) if line.place in (PROSE, COMMENT) else None
            if match is not None and not is_quoted(line.text, match.start(), match.end()):
                said = match["text"] or match["unseen"]
                grave = HIGH if _private_order(said) or _RISKY.search(said) else LOW
                yield CheckMatch(HIDDEN, grave, line, "shows the model text that a page would not show")
    for index in document.numbers_of(" " * 180):
        line = document.line(index)
        match = _FAR_RIGHT.search(line.text)
        if match is not None and line.place == PROSE and _RISKY.search(match["pushed"]):
            yield CheckMatch(HIDDEN, HIGH, line, "pushes text out of sight with spaces")
