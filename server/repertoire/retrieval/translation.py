"""Translates a question into English word by word, as far as its words are known; names and code stay as they are.

Components describe themselves in English, and all weights of ranking were learned on English questions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from repertoire.domain.chinese import simplified
from repertoire.domain.text import content_words, with_pairs
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.language import BY_WORDS, ENGLISH, LANGUAGES, UNPARTED, language_of
from repertoire.retrieval.translation_dictionary import TranslationDictionary, dictionary

_MOST = 2_000  # characters that are translated; the rest of a longer prompt is mostly pasted text
_RULING_OUT = ("without", "instead of")
_BEHIND_ITS_NOUN = frozenset(("ja", "ko"))  # languages that say "Docker without"
_STOPS = frozenset(".,;:?!")
_BEFORE = "\"'“”„‚‘«»‹›…–—¿¡,;:?!"  # noqa: RUF001
_BEHIND = _BEFORE + "."
_FULL = str.maketrans("、。「」『』・", ",.()() ")
_JOINED = re.compile(r"[-_]+")  # between the words of a component's name
_TOKEN = re.compile(r"\S+|\n")
# a path, a call, a version, camelCase or an abbreviation: not translated, unless it has a hyphen, as `--fehler` has
_NAME = re.compile(r"[\w)][_/\\@:=<>.#][\w(]|\d|[a-z][A-Z]|^[A-Z]{2,5}s?$|[`{}\[\]$<>_]|^[./@#~-]|\(\)")
_PARTED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]")
_HIRAGANA = re.compile("[\u3040-\u309f]")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]")
_SHORT = 2  # letters of a word in katakana that is no part of a longer one
_PLAIN = re.compile("[^\\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]+")


@dataclass(frozen=True)
class Translation:
    """A question translated into English."""

    text: str
    language: str
    known: int = 0  # number of translated content words
    unknown: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The sentence that tells the reader of an answer how the question was translated."""
        kept = [word for word in self.unknown if word.isascii()]  # as `miss` keeps them
        lost = [word for word in self.unknown if not word.isascii()]
        told = f"; not known, left as they are: {', '.join(kept[:5])}" if kept else ""
        told += f"; not known: {', '.join(lost[:5])}" if lost else ""
        return f"read from {self.language} word by word, as: {self.text}{told}"


@dataclass
class _EnglishText:
    """The English words of a translation so far, and the words that were not known."""

    words: list[str] = field(default_factory=list)
    known: int = 0
    unknown: list[str] = field(default_factory=list)
    behind: bool = False  # what rules a noun out is said behind it
    lost: bool = False  # the last word was not known, and left out

    def add(self, english: str) -> None:
        """Append an English word; an empty one stands for a word that is dropped."""
        if not english:
            return
        self.known += 1
        if self.behind and english in _RULING_OUT:
            if self.words and not self.lost:
                self.words.insert(-1, english)
                self.stop(";")
        elif self.words[-1:] != [english]:
            self.words.append(english)
        self.lost = False

    def keep(self, name: str) -> None:
        """Append a name, which is the same in any language."""
        self.lost = False
        self.words.append(name)

    def miss(self, word: str) -> None:
        """Note an unknown word; append it if it is ASCII, since it may be a name."""
        self.unknown.append(word)
        self.lost = not word.isascii()
        if not self.lost:
            self.words.append(word)
        elif self.words and self.words[-1] in _RULING_OUT:
            self.words.pop()  # else it would rule out the next word

    def stop(self, mark: str) -> None:
        """End the clause with a punctuation mark, if a clause has begun."""
        if self.words and self.words[-1][-1] not in _STOPS:
            self.words[-1] += mark

    def translation(self, language: str, rest: str) -> Translation:
        return Translation(" ".join(self.words) + rest, language, self.known, tuple(dict.fromkeys(self.unknown)))


def translate(text: str) -> Translation | None:
    """Return the English translation of a question; None if it is English already, or in no supported language."""
    code = language_of(text)
    if not code:
        return None
    english_text, head = _EnglishText(behind=code in _BEHIND_ITS_NOUN), text[:_MOST].replace("\u2019", "'")
    if code in UNPARTED:  # letters and signs may be typed as wide as the others, and katakana half as wide
        head = unicodedata.normalize("NFKC", head).translate(_FULL)
        _by_letters(simplified(head) if code == "zh" else head, dictionary(code), english_text)
    else:  # macOS takes accents apart, in names of files at least
        _by_words(unicodedata.normalize("NFC", head), dictionary(code), english_text)
    return english_text.translation(LANGUAGES[code], text[_MOST:])


def in_english(text: str, model: str = "") -> str:
    """Return a text in English as far as it can be translated; unchanged for a multilingual model."""
    translation = None if is_multilingual(model) else translate(text)
    return text if translation is None else translation.text


def described_in_english(name: str, description: str, body: str) -> str:
    """Return a component's name and description in English, where they are in another language; else an empty text.

    A name that is the same in English is left out. In an alphabet that English shares, a body in English says that
    the description is English as well: of 6,587 real components three were read as Spanish or French by few words.
    """
    code = language_of(description)
    if not code or (code in BY_WORDS and language_of(body) != code):
        return ""
    spaced = _JOINED.sub(" ", name)
    translation = translate(f"{spaced}. {description}")
    return translation.text.removeprefix(f"{spaced}. ") if translation is not None else ""


def english_of(text: str) -> str:
    """Return the English of a document's text, of any length; empty if all of it is English already."""
    parts = (text[at : at + _MOST] for at in range(0, len(text), _MOST))
    return "\n".join(found.text for part in parts if (found := translate(part)) is not None)


def words_asked(question: str) -> list[str]:
    """Return the content words of a question as it is written, with the pairs of unparted letters, and in English."""
    return list(dict.fromkeys((*content_words(with_pairs(question)), *content_words(in_english(question)))))


def forms_asked(question: str, model: str) -> list[str]:
    """Return a question in English and as it is written: vectors of older versions were made of the original texts."""
    return list(dict.fromkeys((in_english(question, model), question)))


def embed_in_english(embedder: Embedder, texts: Iterable[str]) -> Vectors:
    """Return the vectors of passages in English, unless the model is multilingual; (texts, dimensions)."""
    return embedder.embed_passages([in_english(text, embedder.model) for text in texts])


def is_multilingual(model: str) -> bool:
    """Tell by a model's name whether it is multilingual."""
    return "multilingual" in model.lower()


@dataclass(frozen=True)
class _Token:
    """A word without quotes and punctuation, and the mark behind it that ends a clause."""

    bare: str
    mark: str

    @property
    def lower(self) -> str:
        """The word in lower case, as it is looked up."""
        return self.bare.lower()


def _by_words(text: str, words: TranslationDictionary, english_text: _EnglishText) -> None:
    tokens, place = list(_tokens(text)), 0
    while place < len(tokens):
        width = _add_phrase(tokens, place, words, english_text)
        if not width:
            _add_word(tokens[place].bare, words, english_text)
            width = 1
        place += width
        if tokens[place - 1].mark:
            english_text.stop(tokens[place - 1].mark)


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        written = found.group()
        bare, mark = _bare(written)
        if written == "\n" or not bare:
            yield _Token("", mark or ".")
        elif _NAME.search(bare):
            yield _Token(bare, mark)
        else:
            *elided, last = bare.split("'")
            yield from (_Token(part + "'", "") for part in elided)
            yield _Token(last, mark)


def _bare(written: str) -> tuple[str, str]:
    """Return a word without quotes and punctuation, and the mark behind it that ends a clause."""
    quoted = written.rstrip(_BEHIND)
    mark = next((letter for letter in written[len(quoted) :] if letter in _STOPS), "")
    quoted = quoted.lstrip(_BEFORE)
    return quoted if _NAME.search(quoted) else quoted.strip("()[]*."), mark


def _add_phrase(tokens: list[_Token], place: int, words: TranslationDictionary, english_text: _EnglishText) -> int:
    """Translate the longest known phrase that begins at a token; return its number of words, 0 if none is known."""
    ahead = tokens[place : place + words.most]
    ends = next((count for count, token in enumerate(ahead, 1) if token.mark), len(ahead))
    for width in range(ends, 1, -1):
        english = words.phrase([token.lower for token in ahead[:width]])
        if english is not None:
            english_text.add(english)
            return width
    return 0


def _add_word(bare: str, words: TranslationDictionary, english_text: _EnglishText) -> None:
    lower = bare.lower()
    if not bare or lower == "'":
        return
    if _NAME.search(bare) and "-" not in bare:
        english_text.keep(bare)
    elif (english := words.word(lower)) is not None:
        english_text.add(english)
    elif lower in ENGLISH:
        english_text.keep(bare)
    elif "-" in bare and any(words.word(part) is not None for part in lower.split("-") if part):
        for part in bare.split("-"):
            _add_word(part, words, english_text)
    elif bare.endswith("'"):
        return  # an elided article or pronoun, as in l'erreur
    else:
        english_text.miss(bare)


def _by_letters(text: str, words: TranslationDictionary, english_text: _EnglishText) -> None:
    place, begun, lost = 0, False, ""
    while place < len(text):
        letter = text[place]
        if not _PARTED.match(letter):
            lost, begun = _add_unknown(lost, english_text), False
            place = _add_plain(text, place, english_text)
            continue
        key = _longest(text, place, words, begun=begun or bool(lost))
        if key and not (lost and _is_inside(text, place, len(key))):
            lost = _add_unknown(lost, english_text)
            english_text.add(words.written(key) or "")
            place, begun = place + len(key), True
            continue
        if not _HIRAGANA.match(letter) and not ("\uac00" <= letter <= "\ud7af" and begun):
            lost += letter
        place += 1
    _add_unknown(lost, english_text)


def _add_plain(text: str, place: int, english_text: _EnglishText) -> int:
    found = _PLAIN.match(text, place)
    if found is None:
        if text[place] == "\n":
            english_text.stop(".")
        return place + 1
    written = found.group()
    bare, mark = _bare(written)
    if bare:
        english_text.keep(bare)
    if mark:
        english_text.stop(mark)
    return found.end()


def _longest(text: str, place: int, words: TranslationDictionary, *, begun: bool) -> str:
    """Return the longest known word at a position; inside a Korean word, a single syllable is a particle."""
    for end in range(min(place + words.longest, len(text)), place, -1):
        key = text[place:end]
        if words.written(key) is not None and not (begun and len(key) == 1 and "\uac00" <= key <= "\ud7af"):
            return key
    return ""


def _is_inside(text: str, place: int, width: int) -> bool:
    """Tell whether a word behind an unknown letter is part of a longer one, as the マージ of カスタマージャーニー."""
    if not (_KATAKANA.match(text, place - 1) and _KATAKANA.match(text, place)):
        return False
    return width <= _SHORT or _KATAKANA.match(text, place + width) is not None


def _add_unknown(lost: str, english_text: _EnglishText) -> str:
    if lost:
        english_text.miss(lost)
    return ""
