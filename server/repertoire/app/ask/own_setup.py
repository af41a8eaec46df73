"""Tells a question about a person's own set-up, as "which agents do I have", from a task: no set answers it."""

from __future__ import annotations

import re

ANSWER = (
    "this asks what you have: search_components with `installed`, or `repertoire search WORDS --installed`, finds it "
    "(also by type), and `repertoire status` counts what is known"
)
_MOST = 120  # characters: a longer prompt says more than that
_WORD = re.compile(r"\w+")
_COURTESY = frozenset("please can could would you tell give me a".split())
_ASKING = frozenset("list show which what how_many".split())
_OWN = frozenset("my i installed configured enabled".split())
_TYPES = frozenset(
    "skill skills agent agents subagent subagents command commands hook hooks plugin plugins mcp mcps".split()
)
# Every further word makes it a task: "what tests do I have to write", "list the plugins installed in the admin page".
_BESIDE = frozenset(
    """all and any are available claude code currently do for got have here in is machine me now of on or please
    project right_now s server servers session slash sub that the there this ve""".split()
)
_FOR = re.compile(r"\bfor (?:my|our|the|this|that) ")  # what it shall serve: a task
_KNOWN = _ASKING | _OWN | _TYPES | _BESIDE


def asks_own_setup(text: str) -> bool:
    """Tell whether a prompt plainly asks which components of some type the person has, and nothing else."""
    plain = text.casefold().replace("how many", "how_many").replace("right now", "right_now")
    words = _WORD.findall(plain) if len(text) <= _MOST and not _FOR.search(plain) else []
    while words and words[0] in _COURTESY:
        del words[0]
    said = frozenset(words)
    return bool(_ASKING.intersection(words[:1]) and said & _OWN and said & _TYPES) and said <= _KNOWN
