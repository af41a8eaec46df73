"""Tells prompts that may need a component from small talk, commands, and text that the client wrote itself."""

from __future__ import annotations

import re

from repertoire.domain.text import content_words, split_words

MOST = 6_000  # characters that say what is wanted; what follows is pasted material
_MIN_WORDS = 2
# what the client sends in the user's name: notifications, command output, summaries
_BY_CLIENT = re.compile(
    r"\s*(?:<[a-z][a-z-]*>|\[Request interrupted|Caveat: The messages below|This session is being continued from)"
)
_COMMAND = re.compile(r"\s*[/!]\S")
_SMALL_TALK = frozenset(
    """again agree agreed alright amazing answer awesome back bad bravo bye cheers come continue cool
    correct day doing done else evening everything exactly excellent fantastic fine further going good
    goodbye great hello hmm hope idea joke know later lgtm like look looking looks love maybe moment morning
    much never next nice night nope nothing okay ok perfect pretty problem proceed question ready right same
    saying second sense share sleep sorry sound sounds stop story stuff sure tea tell think time today
    tomorrow told true understood wait weather week weekend welcome well wonderful work works worries wow
    yeah yep yesterday""".split()
)


def needless(prompt: str) -> str:
    """Return why a prompt is not worth a look, or an empty string where it may be."""
    if _BY_CLIENT.match(prompt):
        return "written by the client"
    if _COMMAND.match(prompt):
        return "a command"
    words = content_words(prompt[:MOST])
    if len(words) < _MIN_WORDS or _SMALL_TALK.issuperset(words):
        return "small talk or too short"
    return ""


def names(prompt: str, component: str, kind: str) -> bool:
    """Tell whether a prompt names a component rather than its subject.

    `pdf-forms`, `/pdf` and "the pdf skill" name one; "fill this PDF" does not name a skill called `pdf`.
    """
    name = component.rsplit(":", 1)[-1]
    text, escaped = prompt[:MOST].lower(), re.escape(name.lower())
    edge, end = r"(?<![\w-])", r"(?![\w-])"
    if len(split_words(name)) > 1 and re.search(edge + escaped + end, text):
        return True
    noun = rf"(?:{kind.replace('_', ' ')}|skill|agent|command|plugin|mcp)"
    marked = rf"[/@:]{escaped}{end}|@agent-{escaped}{end}|{edge}{escaped}['\"`]?\s+{noun}\b"
    return re.search(marked, text) is not None
