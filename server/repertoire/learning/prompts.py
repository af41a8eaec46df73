"""Separates prompts that may need a component from small talk, commands and text that the client wrote."""

from __future__ import annotations

import re

from repertoire.domain.text import content_words, split_words
from repertoire.learning.small_talk import count_words, is_small_talk

MOST = 6_000  # characters of a prompt that are read; the rest is pasted material
_MIN_WORDS = 2  # content words of a request
# beginnings of text that the client sends in the user's name: notifications, command output, summaries
_BY_CLIENT = re.compile(
    r"\s*(?:<[a-z][a-z-]*>|\[Request interrupted|Caveat: The messages below|This session is being continued from)"
)
_WORDS = re.compile(r"[^\W_]+(?:[.+#/@:_-]+[^\W_]+)*[+#]*")  # names, paths and versions stay whole
_COMMAND = re.compile(r"\s*(?:/[\w:-]+(?:\s|\Z)|!\S)")  # the name ends it: "/api/orders returns 500" begins with a path


# Words around a request that never change its meaning, as `not`, `only`, `from` and `into` would.
_AROUND = frozenset("a an the this that these those my our your please pls thanks thank kindly".split())
_OPENING = _AROUND | frozenset(
    """can could would will you i we us me d ll want need like to help let s hey hi hello ok okay now just so then
    and""".split()
)


def essential_words(prompt: str) -> str:
    """Return the essential words of a prompt in order, which are equal for nearly identical prompts.

    Case, punctuation, articles, courtesies and opening phrases ("could you please", "I'd like you to") are removed.
    """
    words = _WORDS.findall(prompt.casefold())
    begin = next((place for place, word in enumerate(words) if word not in _OPENING), 0)
    return " ".join(word for word in words[begin:] if word not in _AROUND)


def is_needless(prompt: str) -> bool:
    """Tell whether a prompt needs no component: the client wrote it, or it is a command, small talk or too short."""
    if _BY_CLIENT.match(prompt) or _COMMAND.match(prompt):
        return True
    words = content_words(prompt[:MOST])
    return count_words(words) < _MIN_WORDS or is_small_talk(words)


def carries_on(prompt: str) -> bool:
    """Tell whether a prompt begins no work of its own: the client wrote it, or it is a command or small talk.

    A command that begins work says so in another hook, which may come before this one or after it.
    """
    return bool(_BY_CLIENT.match(prompt) or _COMMAND.match(prompt)) or is_small_talk(content_words(prompt[:MOST]))


def names(prompt: str, component: str, kind: str) -> bool:
    """Tell whether a prompt names a component, rather than the component's subject.

    `pdf-forms`, `/pdf` and "the pdf skill" are names; "fill this PDF" does not name a skill called `pdf`.
    """
    name = component.rsplit(":", 1)[-1]
    text, escaped = prompt[:MOST].lower(), re.escape(name.lower())
    edge, end = r"(?<![\w-])", r"(?![\w-])"
    if len(split_words(name)) > 1 and re.search(edge + escaped + end, text):
        return True
    noun = rf"(?:{kind.replace('_', ' ')}|skill|agent|command|plugin|mcp)"
    marked = rf"[/@:]{escaped}{end}|@agent-{escaped}{end}|{edge}{escaped}['\"`]?\s+{noun}\b"
    return re.search(marked, text) is not None
