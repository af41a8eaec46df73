"""Separates prompts that may need a component from small talk, commands and text that the client wrote."""

from __future__ import annotations

import re
import unicodedata

from repertoire.domain.text import content_words, split_words
from repertoire.learning.follow_ups import is_follow_up
from repertoire.learning.foreign_follow_ups import refers_back
from repertoire.learning.pasted import without_images
from repertoire.learning.small_talk import count_words, is_small_talk

MOST = 6_000  # characters of a prompt that are read; the rest is pasted material
_MIN_WORDS = 2  # content words of a request
# beginnings of text that the client sends in the user's name: notifications, command output, summaries
_BY_CLIENT = re.compile(
    r"\s*(?:<[a-z][a-z-]*>|\[Request interrupted|Caveat: The messages below|This session is being continued from)"
)
_WORDS = re.compile(r"[^\W_]+(?:[.+#/@:_-]+[^\W_]+)*[+#]*")  # names, paths and versions stay whole
_COMMAND = re.compile(
    r"\s*(?:/[\w:-]+(?:\.[\w:-]+)*(?:\s|\Z)|!\S)"
)  # the name ends it: "/api/orders returns 500" begins with a path


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
    """Tell whether a prompt needs no component: it is a command, begins no work of its own, or is too short to tell."""
    return (
        is_command(prompt)
        or carries_on(prompt)
        or count_words(content_words(without_images(prompt[:MOST]))) < _MIN_WORDS
    )


def is_command(prompt: str) -> bool:
    """Tell whether a prompt is a slash command, or one for the shell."""
    return _COMMAND.match(prompt) is not None


def carries_on(prompt: str) -> bool:
    """Tell whether a prompt begins no work of its own: the client wrote it, or it is a follow-up."""
    if _BY_CLIENT.match(prompt):
        return True
    said = without_images(prompt[:MOST])
    words = content_words(said)
    return is_small_talk(words) or is_follow_up(said, words) or refers_back(said, words)


def names(prompt: str, component: str, kind: str) -> bool:
    """Tell whether a prompt names a component, rather than the component's subject.

    `pdf-forms`, `/pdf` and "the pdf skill" are names; "fill this PDF" does not name a skill called `pdf`.
    """
    name = unicodedata.normalize("NFC", component.rsplit(":", 1)[-1])  # macOS takes the accents of a folder apart
    text, escaped = unicodedata.normalize("NFC", prompt[:MOST]).lower(), re.escape(name.lower())
    edge, end = r"(?<![\w-])", r"(?![\w-])"
    if len(split_words(name)) > 1 and re.search(edge + escaped + end, text):
        return True
    noun = rf"(?:{kind.replace('_', ' ')}|skill|agent|command|plugin|mcp)"
    marked = rf"[/@:]{escaped}{end}|@agent-{escaped}{end}|{edge}{escaped}['\"`]?\s+{noun}\b"
    return re.search(marked, text) is not None
