"""Finds the pack that a prompt asks about: a question that names the pack or a topic of it, and that it covers."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass

from repertoire import linear
from repertoire.app.kernel import Repertoire
from repertoire.documentation.manifest import PackManifest
from repertoire.domain.component import DOCUMENTATION, PACKS
from repertoire.domain.errors import InvalidRequest, PackRefused, StoreError
from repertoire.domain.event import OFFERED, Event, Moment
from repertoire.domain.pack import stand_in
from repertoire.domain.text import clean_line
from repertoire.domain.tokens import tokens_of
from repertoire.learning.arbiter import Candidate
from repertoire.learning.hints import PROMPT
from repertoire.learning.small_talk import CJK

_CHANCE = 0.6  # probability that a pack helps with a question that names it and that it covers
_READ = 600  # characters of a prompt that are read: a longer one is a task, with an error or a file in it
_LINE = 160
_ASKS = linear.compile(
    r"(?i)[?\x{ff1f}]"
    r"|^\W*(?:how|what|which|why|when|where|who|can|could|does|do|is|are|should|explain|show me how|tell me)\b"
    r"|^(?:\S+[:,] |(?:in|bei|dans|en|para|nel|в) \S+ )?(?:wie|was|welche[rsn]?|warum|wann|wo|wer|kann|darf|comment"
    r"|quel(?:le)?s?|pourquoi|quand|où|qui|cómo|qué|cuál|cuándo|dónde|quién|como|qual|quando|onde|quale|dove"
    r"|perché|chi|как|какой|какие|почему|когда|где|кто|можно)(?:\s|$)"
    r"|怎么|怎樣|如何|什么|什麼|哪|多久|多少|吗|嗎|是否|(?:ます|です|でしょう)か|どう|いつ|なぜ|어떻게|언제|왜|무엇|까요"
)


@dataclass(frozen=True)
class CoveringPack:
    """A pack that covers a prompt, as a candidate for a hint, with its line."""

    name: str
    candidate: Candidate
    text: str

    def offered(self, moment: Moment, request: str, *, rank: int) -> Event:
        """Return the event of having named the pack."""
        data = {
            "name": self.name,
            "type": DOCUMENTATION,
            "rank": rank,
            "why": "covers the question",
            "confidence": self.candidate.chance,
            "where": PROMPT,
            "installed": True,
        }
        return Event(moment.at, OFFERED, moment.session, moment.project, request, self.candidate.key, data)


def covering_pack(repertoire: Repertoire, prompt: str, *, muted: AbstractSet[str] = frozenset()) -> CoveringPack | None:
    """Return the pack that a question names and that covers it; None for most prompts, and while no model is loaded."""
    if len(prompt) > _READ or not _ASKS.search(prompt):
        return None
    named = [pack.name for pack in repertoire.packs.listing().packs if _is_named(pack, prompt)]
    wanted = [name for name in named if muted.isdisjoint((PACKS, stand_in(name)))]
    if not wanted or repertoire.embedder is None or not repertoire.embedder.loaded:
        return None
    from repertoire.app.packs.asking import means_of  # noqa: PLC0415 - most prompts ask about no pack
    from repertoire.app.packs.query import PackQuestion, query_packs  # noqa: PLC0415

    with suppress(PackRefused, StoreError, InvalidRequest):  # a hint never fails a prompt; query_pack tells why
        found = query_packs(repertoire.packs, PackQuestion(prompt, tuple(wanted), 1), means_of(repertoire))
        if found.covered and found.hits:
            hit = found.hits[0]
            text = _line(hit.pack, hit.passage.citation)
            return CoveringPack(hit.pack, Candidate(stand_in(hit.pack), DOCUMENTATION, _CHANCE, tokens_of(text)), text)
    return None


def _line(pack: str, citation: str) -> str:
    return (
        f"Repertoire: the documentation pack {pack} covers this question (nearest: {clean_line(citation, _LINE)}). "
        "query_pack answers from it with citations. Optional."
    )


def _is_named(pack: PackManifest, prompt: str) -> bool:
    """Tell whether a prompt holds the name of a pack, with blanks for hyphens, or one of its topics, as whole words."""
    said = f" {_plain(prompt)} "
    return any(f" {plain} " in said for name in (pack.name, *pack.topics) if (plain := _plain(name)))


def _plain(text: str) -> str:
    spaced = CJK.sub(r" \g<0> ", text.lower())  # scripts that part no words: each letter is one
    return " ".join("".join(letter if letter.isalnum() else " " for letter in spaced).split())
