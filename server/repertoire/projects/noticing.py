"""Finds in what was said in a session the sentences that may be worth a note: decisions, preferences, blockers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repertoire.domain.chinese import readings
from repertoire.domain.project import NOTE, TASK
from repertoire.domain.text import content_words, with_pairs

_LONGEST, _SHORTEST, _MOST = 300, 4, 3  # characters and words of a sentence, sentences of one text
_MOST_LISTED = 8  # of one text, things that it lists
_NAMED = 2  # words of content of what is called a decision in so many words
_LINES = 40  # lines of a text that are read: what is longer was pasted
_SENTENCE = re.compile("(?<=[.!;])\\s+|\n|(?<=[\u3002\uff01\uff1b])")
_CODE = re.compile(r"^(?:\s{4,}|\t|[>$#|+<{}\[]|\d+[:|])")
# What only answers: `agreed: that makes sense` decides nothing that could be read again.
_ANSWER = (
    r"(?:that|this|these|those|it|its|sounds|looks|makes|good|great|fine|yes|yeah|ok|okay|sure|thanks|i|let me"
    r"|you|your)\b"
)
# Each of what a person says of how things are to be from now on; a question or a request for one change is none.
_SAID = (
    ("decision", re.compile(r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|settled|chose)\b", re.IGNORECASE)),
    ("decision", re.compile(r"^(?:decision|decided)\s?[:\u2013-]\s?\S", re.IGNORECASE)),
    ("decision", re.compile(rf"^agreed\s?:\s?(?!\s|{_ANSWER})", re.IGNORECASE)),
    (
        "decision",
        re.compile(r"\b(?:let'?s|we(?:'ll| will)?) (?:stick (?:with|to)|standardi[sz]e on|go with)\b", re.IGNORECASE),
    ),
    ("decision", re.compile(r"\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future,", re.IGNORECASE)),
    (
        "preference",
        re.compile(
            r"\b(?:we (?:always|never)|(?:we|i) prefer)\b|^(?:please )?(?:always|never|don'?t ever)\b", re.IGNORECASE
        ),
    ),
    (
        "fact",
        re.compile(
            r"^(?:please )?(?:remember|keep in mind|note|for the record)[,:]? (?:that\b|we\b|the\b|our\b|this\b)",
            re.IGNORECASE,
        ),
    ),
    (
        "blocker",
        re.compile(
            r"\b(?:we are|we're|i am|i'm|this is|it is|it's) (?:blocked (?:by|on)|waiting (?:for|on))\b", re.IGNORECASE
        ),
    ),
)
# The same in the other languages that are read.
_DECIDED = re.compile(
    r"\bwir (?:haben|hatten) .{0,60}(?:entschieden|beschlossen|geeinigt|festgelegt)\b|\bwir bleiben bei\b"
    r"|\b(?:ab (?:jetzt|sofort)|von jetzt an|künftig|in zukunft)\b|^(?:entscheidung|beschluss)\s?:\s?\S"
    r"|我们(?:已经|都)?(?:决定|商定|约定|说好)|从(?:现在|今天)(?:起|开始)|^(?:以后|今后)|^决定[:\uff1a]\s?\S"
    r"|ことに(?:しました|した|決め|なりました)|これからは|今後は"
    r"|\bмы (?:решили|договорились|выбрали)\b|\b(?:с этого момента|отныне|впредь)\b|^решение\s?:\s?\S"  # noqa: RUF001
    r"|\b(?:hemos (?:decidido|acordado)|decidimos|acordamos)\b|\b(?:de ahora en adelante|a partir de ahora)\b"
    r"|\b(?:nous avons|on a) (?:décidé|convenu|opté)\b|\b(?:désormais|dorénavant|à partir de maintenant)\b"
    r"|\b(?:combinamos|ficou decidido)\b|\b(?:a partir de agora|daqui (?:em|para a) frente)\b"
    r"|\babbiamo (?:deciso|concordato)\b|\bd'ora in poi\b|^(?:decisión|décision|decisão|decisione)\s?:\s?\S"
    r"|기로 (?:했|결정했|정했|합의했)|^(?:앞으로는?|지금부터) |^결정\s?:\s?\S",
    re.IGNORECASE,
)
_PREFERRED = re.compile(
    r"^(?:bitte )?(?:immer|niemals|nie)\b|\bwir (?:\w+ )?bevorzugen\b"
    r"|^请?(?:总是|始终|一律|永远不要|绝不)|我们(?:总是|从不|一律|更喜欢)|^(?:必ず|絶対に|常に)"
    r"|^(?:пожалуйста, )?(?:всегда|никогда)\b|\bмы (?:всегда|никогда|предпочитаем)\b"
    r"|^(?:por favor,? )?(?:siempre|sempre|nunca) (?!n[oã]\w*|func|falh|falla)|\b(?:preferimos|preferiamo)\b"
    r"|^(?:toujours|jamais) (?!pas|rien|l[ae] même)|\b(?:nous préférons|on préfère)\b|^(?:항상|절대|반드시) ",
    re.IGNORECASE,
)
_KEPT_IN_MIND = re.compile(
    r"^(?:bitte )?(?:merk dir|denk daran|beachte)\b|^请?(?:记住|注意[:\uff1a\uff0c])|覚えておいて"
    r"|^(?:запомни|помни|учти)\b|^(?:recuerda|ten en cuenta|souviens-toi|retiens|garde en tête|lembre-se|lembra que"
    r"|tenha em mente|ricorda(?:ti)?|tieni a mente)\b|기억해 ?(?:줘|둬|주세요)|^참고로 ",
    re.IGNORECASE,
)
_ALL_SAID = (*_SAID, ("decision", _DECIDED), ("preference", _PREFERRED), ("fact", _KEPT_IN_MIND))
_ASKING_ELSEWHERE = re.compile(
    r"^(?:warum|wieso|was|wie|wann|haben wir|почему|зачем|что|как|когда)\b|为什么|怎么|什么|[吗呢么か]$|なぜ|どう"
    r"|^(?:por ?qu[eé]|qu[eé]|cómo|cuándo|pourquoi|comment|quand|o que|como|quando|perché|cosa|come)\b"
    r"|왜|어떻게|무엇|[가까나니]$",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:recall|why|what|which|how|explain|did|do|does|can|could|should|document|find|list|show|we need to)\b"
    r"|\bwhy we\b",
    re.IGNORECASE,
)
_SORT = "decisions?|decided|agreed|blockers?|blocked by|todos?|open tasks|left to do|not done(?: yet)?|follow-?ups?"
_LISTED = re.compile(
    r"^\s*(?:#{1,6} |[-*\u2022] (?:\[ \] )?|\d{1,2}[.)] )?(?:\*\*)?"
    rf"(?P<sort>{_SORT})(?:\*\*)?\s?:(?:\*\*)?\s*(?P<said>\S.*)$",
    re.IGNORECASE,
)
_ABOVE = re.compile(rf"^\s*(?:#+ )?(?:\*\*)?(?:we )?(?P<sort>{_SORT})(?:\*\*)?\s?:?(?:\*\*)?\s*$", re.IGNORECASE)
_NO_DECISION = re.compile(r"(?:none|nothing|n/a|no (?:new |other )?decisions?)(?![\w-])|~~", re.IGNORECASE)
_NOTHING_LEFT = re.compile("(?:none|nothing|n/a|no)(?![\\w-])|~~|[\u2705\u2714\u2611\u2713]|\\[x\\]", re.IGNORECASE)
_ONLY_AN_ANSWER = re.compile(_ANSWER, re.IGNORECASE)
_ITEM = re.compile(
    r"^\s*(?P<sign>[-*\u2022]|\d{1,2}[.)])\s+(?:(?P<done>\[[xX]\]\s)|(?P<open>\[ \]\s+))?(?P<said>\S.*)$"
)


@dataclass(frozen=True)
class Noticed:
    """A sentence that may be worth a note or a task; `category` is empty for a task."""

    kind: str
    category: str
    said: str


def in_prompt(text: str) -> list[Noticed]:
    """Return what a person said that may be worth a note; of pasted code and of questions nothing is taken."""
    found = list[Noticed]()
    lines = text.split("\n")
    if len(lines) > _LINES or "```" in text:
        return []
    for sentence in _SENTENCE.split("\n".join(line for line in lines if not _CODE.match(line))):
        said = sentence.strip().strip("-*\u2022 ")
        read = readings(said)
        category = next((category for category, shape in _ALL_SAID if any(map(shape.search, read))), "")
        if category and _tells(said) and not _ASKING.search(said) and not _ASKING_ELSEWHERE.search(read[-1]):
            found.append(Noticed(NOTE, category, said))
    listed = [one for one in _listed(lines, below=True) if one.category and not _ASKING.search(one.said)]
    return [*found[:_MOST], *listed][:_MOST_LISTED]


def in_message(text: str) -> list[Noticed]:
    """Return what Claude's last message lists as decided, blocked, or left to do."""
    return [*_listed(text.split("\n"))][:_MOST_LISTED]


def _listed(lines: Sequence[str], *, below: bool = False) -> Iterator[Noticed]:
    """Yield each item of a list below a word such as `Decision:`, and unless `below` what stands behind such a word."""
    sort, parted = "", False
    marks = dict[int, tuple[str, bool]]()  # of the newest item at each indentation
    for line in (line[: 2 * _LONGEST] for line in lines):
        if above := _ABOVE.match(line):
            sort, parted = above["sort"], False
            marks.clear()
        elif beside := _LISTED.match(line):
            sort = ""
            if not below:
                yield from _beside(beside["sort"], beside["said"])
        elif item := _ITEM.match(line):
            mark = (item["sign"][-1], bool(item["done"] or item["open"]))
            sort = "" if parted and marks.get(item.start("sign"), mark) != mark else sort  # another list
            parted = False
            marks[item.start("sign")] = mark
            if sort and not item["done"]:
                yield from _of_sort(sort, item["said"])
        elif not line.strip():
            parted = True
        elif not line.startswith((" ", "\t")):  # not the rest of an item
            sort = ""


def _beside(sort: str, said: str) -> Iterator[Noticed]:
    if not (sort.lower() == "agreed" and _ONLY_AN_ANSWER.match(said)):
        yield from _of_sort(sort, said)


def _of_sort(sort: str, text: str) -> Iterator[Noticed]:
    word, said = sort.lower(), text.replace("**", "").strip("* \t\r")
    category = "decision" if word.startswith(("deci", "agreed")) else "blocker" if word.startswith("block") else ""
    says_none = _NO_DECISION if category == "decision" else _NOTHING_LEFT
    if _tells(said, _NAMED) and not says_none.match(said):
        yield Noticed(NOTE if category else TASK, category, said)


def _tells(said: str, words_of_content: int = _SHORTEST - 1) -> bool:
    words = with_pairs(said)  # of a script that parts no words, each pair of letters counts
    return (
        len(words.split()) >= _SHORTEST
        and len(said) <= _LONGEST
        and not said.endswith(("?", "\uff1f", ":", "\uff1a", "\u2026"))
        and len(content_words(words)) >= words_of_content
    )
