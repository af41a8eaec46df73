"""Recognises contexts that only mention an attack: warnings, denylists, examples, patterns, quotations."""

from __future__ import annotations

import re
from functools import lru_cache

from repertoire import linear
from repertoire.trust.scanned_text import RUN, Line, ScannedText

_WARNS = re.compile(
    r"""(?ix)
      \b(?:never|avoid|don'?t|do\s+not|must\s+not|mustn'?t|should\s+not|shouldn'?t|cannot|not\s+allowed|instead\s+of|rather\s+than
        |block(?:s|ed|ing|list)?|den(?:y|ies|ied|ying|ylist)|prevent(?:s|ed|ing)?|refus\w*|forbid\w*|prohibit\w*|disallow\w*
        |reject(?:s|ed|ing)?|detect(?:s|ed|ing|ion|or)?|flag(?:s|ged|ging)?|catch(?:es)?|dangerous|unsafe|insecure|harmful
        |destructive|catastroph\w*|malicious|suspicious|hostile|evil|attack(?:s|er|ers|ing)?|payloads?|exploit\w*|vulnerab\w*
        |anti-?patterns?|red\s+flags?|bad|wrong|incorrect|risky|patterns?|indicators?|signatures?|threats?|abuse\w*
        |injections?|victim|pentest\w*|penetration|privilege\s+escalation|forensic\w*|malware|adversar\w*|untrusted
        |look(?:s|ing)?\s+for|scan(?:s|ning)?\s+for|search(?:es|ing)?\s+for|triggers?\s+on|warns?\s+(?:on|about|when|if))\b
    | [\u274c\U0001f6ab\u26d4\u2717\u2718\U0001f6d1]"""
)
_NEGATES = re.compile(
    r"(?i)\b(?:never|not|don'?t|won'?t|cannot|can'?t|avoid|without\s+\w+ing|refuse\s+to|stop|no|must\s+not|nor|neither)\b[^.;:!?\n]{0,60}$"
)
_TOPIC = re.compile(
    r"(?i)\b(?:secur\w*|pen-?test\w*|penetration|attack\w*|exploit\w*|vulnerab\w*|hacking|red[ -]team\w*|malware|forensic\w*"
    r"|audit\w*|hardening|privilege escalation|injection|sanitiz\w*|guard(?:s|rails?)?|threats?|adversar\w*|jailbreak\w*"
    r"|block(?:s|er)? dangerous|safety|secrets? (?:scan|detect)\w*|scanner|detector|supply[ -]chain|ctf)\b"
)
_PATTERN = re.compile(r"\\[sbdwSBW.(|/$]|\.\*|\.\+|\[\^|\(\?[:i=!]|\[\[:space|\\\\s")
_COMPARES = re.compile(
    r"(?i)\b(?:grep|egrep|rg|ack|re\.(?:compile|search|match|findall)|regex|new\s+RegExp|pattern|matches?|includes|startswith|"
    r"contains|in\s+(?:command|cmd|line|content|text|input)|assert|expect|case|denylist|blocklist|deny|blocked)\b|=~|\.test\("
)
_SAYS = re.compile(
    r"""^\s*(?:\#(?!!)|//|\*(?!\*)|--\s|;|rem\s|(?:echo|printf|print|console\.\w+|log\w*(?:\.\w+)?|Write-\w+|warn|die|fail)\b[\s(]*["'])""",
    re.IGNORECASE,
)
_LISTED = linear.compile(r"""^\s*(?:[-*+]\s*)?["'`/][^"'`]*["'`/]\s*[,\])}|]*\s*(?:\#.*|//.*|[-:|\x{2014}].*)?$""")
_STRINGS = re.compile(r"""'[^']*'|"[^"$`]*\"""")
# signs that printed text is piped into a program or written into a file that is run
_GOES_ON = linear.compile(r"[|;&`]|\$\(|>\s*[\"']?[^\s\"']*(?:\.(?:bash|zsh|profile|xprofile)|/cron|authorized_keys)")
# "do not tell the user" behind an order: words of a warning that conceal instead
_HIDING = re.compile(r"(?i)\b(?:do\s+not|don'?t|never)\s+(?:tell|mention|inform|notify|reveal|disclose)\b")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"


# calls that run their string argument, or the variable that holds it
_RUNNERS = (
    r"(?:\b(?:exec(?:Sync|File(?:Sync)?|a|v[pe]*)?|spawn(?:Sync)?|system|popen\w*|Popen|getoutput|getstatusoutput|shell|run(?:Sync|_command|Command)?"
    r"|call|check_(?:output|call)|create_subprocess_\w+|passthru|shell_exec|proc_open|eval|sh|bash|ShellExecute\w*|Command|Function)\b\s*\("
    r"|\$`|%x|(?<!\w)`|\bsh\s*`|[\"'](?:-\w*c|/[cC])[\"']\s*,)"
)
_HANDS_ON = re.compile(_RUNNERS)
_WORD = re.compile(r"\b\w+")
_AT_MOST = 60  # characters between a call of _RUNNERS and a name in its arguments
_BEHIND = 120  # characters behind a call of _RUNNERS that are searched for names
_OPENED = re.compile(rf"{_RUNNERS}\s*(?:\[\s*|[^()\n]{{0,80}},\s*)?(?:\n[^()\n]{{0,200}}){{0,3}}$")
_NAMED = re.compile(r"\s*(?:const\s+|let\s+|var\s+|my\s+|self\.)?\$?(\w{1,40})\s*(?::\s*\w+\s*)?\+?=[^=]")

# the start of a sentence or of its second clause, with the words that may stand before its verb
_BARE = re.compile(
    r"""(?ix) (?:^|[.!?:;)\u2014\u3002\uff01]\s*|^\s*\d+[.)]\s+|\b(?:and|then|but)\s+) [*_]{0,3}(?:(?:before|when|if|after)\s[^,.:\n]{2,60}[,:]\s*)?
        (?:[*_]{0,3}(?:please|important|critical|note|first|now|then|also|always|instead|next|kindly|you\s+must|you\s+should|must|should|for\s+best\s+results
           |(?:the\s+)?(?:assistant|agent|claude|model|ai)(?:\s+must)?|silently|quietly|secretly|just|directly)[*_]{0,3}[\s,:\u2014-]+){0,4} [*_]{0,3}$"""
)
_SHOWN = re.compile(r"\s*(?:[-*+>#]\s|\|)")
_BEFORE = 120  # characters before an order in which its sentence begins

NOT, PERHAPS, SURELY = 0, 1, 2  # degrees to which an attack is only mentioned


def how_surely_mentioned(line: Line, start: int, end: int) -> int:
    """Return how surely the span only mentions an attack: as a warning, an example or a search pattern.

    SURELY if its own line says so; PERHAPS if only the words around it do, which an attacker may have written.
    """
    before, after = line.text[:start], line.text[end:]
    if _NEGATES.search(before) or _is_searched_for(line.text, before):
        return SURELY
    if line.place == RUN:
        return SURELY if _is_text(line.text, before) else NOT
    if _is_text(line.text, before):
        return SURELY
    return PERHAPS if _WARNS.search(f"{before}\n{_HIDING.sub('', after)}\n{line.introduced}") else NOT


def is_quoted(text: str, start: int, end: int) -> bool:
    """Tell whether a span is in quotes or backticks on its line."""
    before, after = text[:start], text[end:]
    if before[-1:] and before[-1] in _QUOTES:
        return True
    return any(before.count(mark) % 2 == 1 and mark in after for mark in '"`') or (
        "\u201c" in before and "\u201d" in after
    )


def is_bare_order(text: str, start: int, end: int) -> bool:
    """Tell whether a span begins a sentence that gives an order itself, not listed and not quoted."""
    before = text[:start] if start <= _BEFORE else "\0" + text[start - _BEFORE : start]
    return not _SHOWN.match(text) and _BARE.search(before) is not None and not is_quoted(text, start, end)


def is_about_security(document: ScannedText) -> bool:
    """Tell whether a believed document is about security."""
    return document.believed and len(_TOPIC.findall(document.about)) >= 2


def is_only_text(document: ScannedText, line: Line, start: int) -> bool:
    """Tell whether a command in a program is a string that it stores, shows or compares, but never runs."""
    before = line.text[:start]
    if not document.is_program or not _in_a_string(before):
        return False
    if _HANDS_ON.search(before) or "${" in before[-4:]:
        return False
    above = "\n".join(document.above(line.number, 4))[-600:]
    if _OPENED.search(above):
        return False
    named = _NAMED.match(before)
    return named is None or named[1] not in _handed_on(document.text)


@lru_cache(maxsize=4)
def _handed_on(text: str) -> frozenset[str]:
    """Return the words of a program that stand among the arguments of calls which run strings."""
    found: set[str] = set()
    for runner in _HANDS_ON.finditer(text):
        start = runner.end()
        line = text.find("\n", start, start + _BEHIND)
        end = start + _BEHIND if line < 0 else line
        found.update(word.group() for word in _WORD.finditer(text, start, end) if word.start() <= start + _AT_MOST)
    return frozenset(found)


def _in_a_string(before: str) -> bool:
    plain = before.replace("\\'", "").replace('\\"', "").replace("\\`", "")
    mark = ""
    for letter in plain:
        if mark:
            mark = "" if letter == mark else mark
        elif letter in "\"'`":
            mark = letter
    return bool(mark)


def is_negated(text: str, start: int) -> bool:
    """Tell whether the words before a column negate the words behind it."""
    return _NEGATES.search(text[:start]) is not None


def _is_searched_for(text: str, before: str) -> bool:
    if _PATTERN.search(text) and _COMPARES.search(text):
        return True
    return _COMPARES.search(before[-80:]) is not None and before.rstrip()[-1:] in {"'", '"', "/", "(", "`"}


def _is_text(text: str, before: str) -> bool:
    """Tell whether a line of a program is a comment, a printed message or an entry of a list."""
    if _SAYS.match(text):
        printed = text.lstrip()[:6].lower().startswith(("echo", "printf"))
        return not (printed and _GOES_ON.search(_STRINGS.sub("", text)))
    return _is_listed(text) or (_PATTERN.search(text) is not None and before.count('"') + before.count("'") > 0)


def _is_listed(text: str) -> bool:
    return _LISTED.match(text) is not None
