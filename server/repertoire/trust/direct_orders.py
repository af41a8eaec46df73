"""Checks for text that speaks to a model as such: as its system, over its user's head, or with orders for its tools."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repertoire.trust.check import Check, Match
from repertoire.trust.prompt_injection import ORDER, doubtful_severities, order_severities
from repertoire.trust.prose import compile_prose
from repertoire.trust.scanned_text import Line

_MODEL = r"""(?:claude(?:\s+code)?|copilot|chatgpt|ai|llms?|language\s+models?
            |(?:(?:ai|llm|coding)\s+)*(?:agents?|assistants?|models?))"""
_ADDRESSED = compile_prose(
    rf"""(?i) \b(?:(?:notes?|messages?|attention|notice|reminder|instructions?)\s+(?:to|for)
            |attention,?\s+(?:all|any)) \s+
          (?:(?:all|the|any|every|other)\s+)* {_MODEL}\b [^.:,\x{{2014}}\n]{{0,40}} [:,\x{{2014}}]\s*
          (?:please\s+)? (?:you\s+|always\s+|never\s+|do\s+not\s+|don'?t\s+|first\s+|before\s+
            |(?:run|execute|install|push|send|call|use|invoke|read|open|fetch|upload|download|delete|approve|ignore)\b)
      | \bas\s+(?:claude|an?\s+(?:ai|llm|language\s+model|assistant)(?:\s+\w+)?|the\s+(?:ai|assistant|model|agent)),\s+
          you\s+(?:must|should|shall|will|have\s+to|need\s+to|are\s+(?:required\s+)?to|always|never)\b""",
    verbose=True,
)
_UNSAID = compile_prose(
    r"""(?i) \b(?:and|but)\s+(?:do\s+not|don'?t|never)\s+(?:mention|disclose|reveal)\s+(?:it|this|that)\s*(?:[.;!"]|$)
      | \b(?:do\s+not|don'?t|never)\s+(?:show|display|disclose|report)\s+(?:it|this|that|anything)\s+to\s+
          (?:the\s+|your\s+)?(?:users?|human|operator|anyone)\b""",
    verbose=True,
)
_AS_SYSTEM = compile_prose(
    r"""(?i) <(?:system|admin|developer)>\s*you\s+(?:are\s+now|must|will|shall)\b
      | \byou\s+are\s+now\s+in\s+(?:maintenance|developer|debug|admin|root|god|jailbreak|unrestricted)\s+mode\b""",
    verbose=True,
)
_EMPOWERED = compile_prose(
    r"""(?i) \byou\s+are\s+(?:now\s+)?an?\s+(?:ai|llm|agent|assistant|model)\b [^.\n]{0,30} \bwith\s+
          (?:root|admin|administrator|unrestricted|unlimited)\s+(?:access|permissions?|rights|privileges)\b
      | \buser\s+(?:has\s+)?already\s+(?:pre-?)?(?:approved|authori[sz]ed|consented\s+to|permitted|confirmed)\s+
          (?:every|all|any)\b""",
    verbose=True,
)
_ON_CONDITION = re.compile(r"(?i)\b(?:if|once|when|whenever|after|unless|until|whether|where|that)\b[^.;:\n]{0,60}$")
_TOOLS = r"(?:vote|contribute|amend)_trace|memory_(?:save|delete|move)"
_ON_READING = compile_prose(
    rf"""(?i) \b(?:when|once|if|after|as\s+soon\s+as)\s+you\s+(?:read|see|find|load|get|are\s+shown)\s+(?:this|it)\b
          [^.\n]{{0,80}} \b(?:call|use|invoke|run)\s+(?:the\s+)?[^\w\s]{{0,2}}(?:mcp__\w+__)?(?:{_TOOLS})\b""",
    verbose=True,
)
_HANDED_OVER = compile_prose(
    r"""(?i) \b(?:read|open|cat|print|load|get|fetch)\b [^\n]{0,60}
          (?:\.ssh\b|id_rsa|id_ed25519|\.aws\b|\.env[\s"'`,;)]|\.netrc|\.npmrc|\bcredentials\b) [^\n]{0,60}
          \b(?:include|paste|put|add|append|repeat|quote|send|write)\b [^\n]{0,40}
          \b(?:in|into|to|with)\s+your\s+(?:next\s+)?(?:message|reply|answer|response)
          (?:\s*(?:[.,;:!)"]|$)|\s+(?:so|and|verbatim|before|in\s+full)\b)""",
    verbose=True,
)


def _unconditional(match: Match, line: Line) -> Mapping[str, str]:
    return {} if _ON_CONDITION.search(line.text[: match.start()]) else order_severities(match, line)


CHECKS = (
    Check(
        ORDER,
        "addresses models, past the person who reads it, with an order",
        (
            *("note to ", "note for ", "notes to ", "notes for ", "message to ", "message for ", "attention "),
            *("notice to ", "notice for ", "reminder to ", "reminder for ", "instructions to ", "instructions for "),
            *("as claude,", "as an ai", "as an llm", "as a language", "as an assistant"),
            *("as the ai,", "as the assistant,", "as the model,", "as the agent,"),
        ),
        _ADDRESSED,
        {},
        doubtful_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model not to say what it does",
        (
            *("mention it", "mention this", "mention that", "disclose ", "reveal it", "reveal this", "reveal that"),
            *("show it to", "show this to", "show that to", "show anything to", "display it to", "display this to"),
            *("display that to", "display anything to", "report it to", "report this to", "report that to"),
        ),
        _UNSAID,
        {},
        doubtful_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "speaks to the model as if its system did",
        ("<system>", "<admin>", "<developer>", "you are now in"),
        _AS_SYSTEM,
        {},
        order_severities,
        span=2,
        orders=True,
    ),
    Check(
        ORDER,
        "tells the model that it may do what its user did not allow",
        ("you are an", "you are a ", "you are now a", "user already", "user has already"),
        _EMPOWERED,
        {},
        _unconditional,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model to call a tool of Repertoire as soon as it reads this",
        ("_trace", "memory_"),
        _ON_READING,
        {},
        order_severities,
        orders=True,
    ),
    Check(
        ORDER,
        "orders the model to hand over credentials in its answer",
        (".ssh", "id_rsa", "id_ed25519", ".aws", ".env", ".netrc", ".npmrc", "credentials"),
        _HANDED_OVER,
        {},
        order_severities,
        orders=True,
    ),
)
