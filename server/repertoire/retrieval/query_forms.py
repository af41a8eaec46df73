"""Rewrites a question as a search may find it: as what it defines, as the names of an API, and in its parts."""

from __future__ import annotations

from repertoire import linear
from repertoire.domain.text import content_words

MOST_FORMS = 4
_LEAST_WORDS = 2  # content words of a part: of one word alone, the whole question's vector tells more
_DEFINITION = linear.compile(
    r"(?i)^(?:what(?:'s| is| are| does| do)|define|explain|describe|who is) (?:an? |the )?(.+?)"
    r"(?: (?:mean|means|do|stand for))?$"
)
_DIFFERENCE = linear.compile(r"(?i)\bdifferences? between (.+?) and (.+?)(?: in .*)?$")
_NAME = linear.compile(
    r"`[^`]{1,80}`|(?:--)?[A-Za-z_][\w-]*(?:(?:::|\.|/)[\w-]+)+|--[a-z][\w-]*|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b"
)
_PARTS = linear.compile(r"(?i)[?;.,] | (?:and|or|but|then) ")


def forms_of(question: str) -> list[str]:
    """Return other forms of a question, at most MOST_FORMS and none equal to it; none for a question of one word."""
    asked = " ".join(question.split()).rstrip("?!. ")
    found = [*_definition(asked), *_names(asked), *_parts(asked)]
    known = asked.lower()
    return [form for form in dict.fromkeys(found) if form.lower() != known][:MOST_FORMS]


def _definition(question: str) -> list[str]:
    difference = _DIFFERENCE.search(question)
    if difference:
        return [side.strip() for side in difference.groups()]
    match = _DEFINITION.match(question)
    return [f"{match[1].strip()} is"] if match else []


def _names(question: str) -> list[str]:
    """Return the names of code that a question holds, as one form."""
    names = [name.strip("`") for name in _NAME.findall(question)]
    return [" ".join(dict.fromkeys(names))] if names else []


def _parts(question: str) -> list[str]:
    parts = [part.strip(" ?.") for part in _PARTS.split(question)]
    long = [part for part in parts if len(content_words(part)) >= _LEAST_WORDS]
    return long if len(long) > 1 else []
