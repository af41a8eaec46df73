"""Finds invisible text and orders to the model in a component's text, by a few simple expressions.

A component that it flags is never offered unasked. Standard library of Python 3.9 only, because the session hook runs
it too; `scan` has the full checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Runs of zero-width characters. A single one is no sign, because emoji and several scripts use joiners.
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
    | \byou\s+are\s+now\s+in\s+(?:maintenance|developer|debug|admin|root|god|jailbreak|unrestricted)\s+mode\b
    | \buser\s+(?:has\s+)?already\s+(?:pre-?)?(?:approved|authori[sz]ed|consented\s+to|permitted)\s+(?:every|all|any)\b
    | \b(?:new|updated|real)\s+system\s+(?:prompt|instructions?|message)\b
    | </?\s*(?:system|assistant|system-reminder)\s*> | \[/?(?:INST|SYSTEM)\] | <\|(?:im_start|im_end|system)\|>
    | \b(?:send|post|upload|exfiltrate|leak|forward)\s+(?:\w+\s+){0,6}
        (?:credentials?|secrets?|passwords?|api\s+keys?|\.env|environment\s+variables?|ssh\s+keys?)\s+(?:\w+\s+){0,3}
        to\s+(?:https?:|www\.|this\s+(?:url|address|server|endpoint))
    """
)
_PIPED = re.compile(r"(?i)\b(?:curl|wget|iwr|irm)\b[^|\n]{0,200}\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|iex)\b")
# Plain orders to a model: in an invisible comment they are enough, because only a model reads it.
_COMMENT_ORDER = re.compile(
    r"(?i)\b(?:assistant|claude|the\s+model|the\s+agent|llm|ai)\b.{0,80}\b(?:must|should|always|never|run|execute|send|ignore)\b"
)


def suspicion(text: str) -> str | None:
    """Return a short name of what is suspicious in a component's text; None if nothing is."""
    if _BIDI.search(text) or _TAGS.search(text) or _ZERO_WIDTH.search(text):
        return "hidden characters"
    if any(_ORDER.search(comment) or _COMMENT_ORDER.search(comment) for comment in _comments(text)):
        return "orders in a comment"
    if any(not _quoted(match) for match in _ORDER.finditer(text)):
        return "orders to the model"
    return None


def unfit_unasked(text: str) -> bool:
    """Tell whether a title must not be shown unasked: it is suspicious, or has something downloaded into a shell."""
    return suspicion(text) is not None or _PIPED.search(text) is not None


def _comments(text: str) -> Iterator[str]:
    """Yield the texts of comments, without long ones, which hold disabled text."""
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
    """Tell whether an order is quoted, as a text about attacks does."""
    return match.string[max(0, match.start() - 1) : match.start()] in {'"', "'", "`", "\u201c", "\u2018"}
