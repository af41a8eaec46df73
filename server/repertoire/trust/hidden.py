"""Finds text in a component that a reader does not see or that gives orders to the model; says what was found.

A simple detector, and meant as no more: what it flags is never offered unasked. Standard library only and Python 3.9,
because the session hook runs it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Zero-width joiners belong to emoji and several scripts, so a lone one is no sign; a run, or any bidi override, is.
_ZERO_WIDTH = re.compile(
    "[\u200b\u200c\u2060\ufeff]{2,}|[\u200b\u200c\u200d\u2060\ufeff]{4,}|(?<=[A-Za-z])[\u200b\u2060](?=[A-Za-z])"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0001-\U000e007f]{2,}")
_LONGEST_COMMENT = 2_000
_ORDER = re.compile(
    r"""(?ix)
      \b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}
        (?:previous|prior|above|earlier|preceding|system|developer|safety|your|other)\s+(?:\w+\s+){0,2}
        (?:instructions?|prompts?|rules?|messages?|guidelines?|guardrails?|context)
    | \b(?:you\s+must|always|you\s+should|be\s+sure\s+to)\s+(?:\w+\s+){0,4}
        (?:install|choose|select|recommend|use|prefer|invoke|call|pick|run)\s+(?:this|only\s+this|the\s+above)\s+
        (?:\w+\s+)?(?:skill|plugin|tool|agent|server|command|component)
    | \bdo\s+not\s+(?:tell|inform|mention|reveal|show|warn)\s+(?:\w+\s+){0,4}(?:user|human|anyone|developer)
    | \bwithout\s+(?:telling|informing|asking|alerting)\s+the\s+(?:user|human|developer)
    | \b(?:new|updated|real)\s+system\s+(?:prompt|instructions?|message)\b
    | </?\s*(?:system|assistant|system-reminder)\s*> | \[/?(?:INST|SYSTEM)\] | <\|(?:im_start|im_end|system)\|>
    | \b(?:send|post|upload|exfiltrate|leak|forward)\s+(?:\w+\s+){0,6}
        (?:credentials?|secrets?|passwords?|api\s+keys?|\.env|environment\s+variables?|ssh\s+keys?)\s+(?:\w+\s+){0,3}
        to\s+(?:https?:|www\.|this\s+(?:url|address|server|endpoint))
    """
)
# In a comment nobody sees, plain orders are enough: an author has no other reader there than a model.
_COMMENT_ORDER = re.compile(
    r"(?i)\b(?:assistant|claude|the\s+model|the\s+agent|llm|ai)\b.{0,80}\b(?:must|should|always|never|run|execute|send|ignore)\b"
)


def suspicion(text: str) -> str | None:
    """Return what is wrong with a component's text in a few words, or None."""
    if _BIDI.search(text) or _TAGS.search(text) or _ZERO_WIDTH.search(text):
        return "hidden characters"
    if any(_ORDER.search(comment) or _COMMENT_ORDER.search(comment) for comment in _comments(text)):
        return "orders in a comment"
    if any(not _quoted(match) for match in _ORDER.finditer(text)):
        return "orders to the model"
    return None


def _comments(text: str) -> Iterator[str]:
    """Yield what comments say, but for those so long that they hold text which is put aside."""
    start, end = text.find("<!--"), 0
    while start >= 0:
        if end < start + 4:
            end = text.find("-->", start + 4)
        if end < 0:
            return
        fits = end - start - 4 <= _LONGEST_COMMENT
        if fits:
            yield text[start + 4 : end]
        start = text.find("<!--", end + 3 if fits else start + 4)


def _quoted(match: re.Match[str]) -> bool:
    """Tell an order that a text on attacks shows from one that it gives."""
    return match.string[max(0, match.start() - 1) : match.start()] in {'"', "'", "`", "\u201c", "\u2018"}
