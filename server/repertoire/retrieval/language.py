"""Detects the language of a question: English by words that no other language borrows, others by script or words."""

from __future__ import annotations

import re
import unicodedata

from repertoire.retrieval.translation_dictionary import dictionary

LANGUAGES = {
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}
UNPARTED = frozenset(("zh", "ja", "ko"))  # languages whose words spaces do not, or not fully, separate
BY_WORDS = ("de", "fr", "es", "pt", "it")  # languages in the alphabet of English, told apart by words
# Frequent English words that sentences in the other languages do not contain.
ENGLISH = frozenset(
    """the and for with to our of it this we my what is from that one can at by two each up how make are which
    after write out when have get every three into new people only should over about before same but find
    without or look these like them who need where not next says first nobody be own wants keep through read old
    everything see half does something never since tell don they too please would now show takes between work
    down there other day why their must got wrong give ask nothing turn still know could many any month then
    your its here just night say year four things some whole way under because left twice right found again
    against than instead until another everywhere hour needs good keeps much slow behind returns anything around
    doesn looks asks gives always already built made been went isn together yesterday fill those both else today
    think somebody tomorrow really cannot leave though several itself gone rather less asked even said later
    took you i'm it's let's what's that's there's who's where's how's he's she's i've we've i'd i'll we'll don't
    doesn't didn't isn't aren't wasn't can't won't couldn't shouldn't haven't hasn't his she were did done add build
    fix remove explain clean convert update help using set take send check rewrite replace rename follow begin
    happens want more""".split()
)
# An English word behind one of these is borrowed, as in "den Build beschleunigen".
_GERMAN_ARTICLES = frozenset("der das dem den ein eine einen einem einer beim zum vom".split())
_FEW = 5  # words; in a longer question a single foreign word may be a quotation
_SURE, _SEEN = 0.2, 0.2  # least share of surely English words, of words of another language
_ASKED = 40  # words that are read; pasted text follows behind the question
_HEAD = 400  # characters that are read
_A_WORD = 2  # characters of Chinese, Japanese or Korean that count as one word
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff\uff66-\uff9f]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")),
)
_LAST_LATIN = "\u024f"
_CYRILLIC = re.compile("[\u0400-\u04ff]+")


def language_of(text: str) -> str:
    """Return the code of a question's language; empty for English and for unknown languages."""
    head = unicodedata.normalize("NFC", text[:_HEAD])  # a letter and its accent apart are no word
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(head)[:_ASKED]]
    pairs = zip(("", *words), words, strict=False)
    english = sum(word in ENGLISH and before not in _GERMAN_ARTICLES for before, word in pairs)
    if not head.isascii() and (code := _by_script(head, english)):
        return code
    if not words or (english and english >= _SURE * len(words)):
        return ""
    return _by_words(words, english)


def is_unread(text: str) -> bool:
    """Tell whether a question is mostly in a script of no language that is read, such as Arabic or Thai."""
    letters = [letter for letter in text[:_HEAD] if letter.isalpha()]
    return 2 * sum(letter > _LAST_LATIN for letter in letters) > len(letters) and not language_of(text)


def _by_script(text: str, english: int) -> str:
    held = {code: len(script.findall(text)) for code, script in _SCRIPTS}
    if sum(held.values()) > _A_WORD * english:
        # Japanese uses Chinese characters too; Chinese and Korean use no kana
        return "ja" if held["ja"] else "ko" if held["ko"] > held["zh"] else "zh"
    return "ru" if len(_CYRILLIC.findall(text)) > english else ""


def _by_words(words: list[str], english: int) -> str:
    parts = [part for word in words for part in word.replace("'", "' ").split()]
    counts = {code: dictionary(code).tells(parts) for code in BY_WORDS}
    most = max(counts.values())
    if most < max(english + 1, 1 if len(words) <= _FEW else 2, _SEEN * len(words)):
        return ""
    # "la" and "de" are in several: words tell that were typed without their accents
    alike = [code for code in BY_WORDS if counts[code] == most]
    return max(alike, key=lambda one: sum(dictionary(one).word(part) is not None for part in parts))
