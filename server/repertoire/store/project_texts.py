"""Makes the texts of a file's symbols and sections from which vectors are made, and their hashes."""

from __future__ import annotations

from repertoire.domain.digest import digest_of
from repertoire.domain.project import CHUNKS_OF, CODE, DOCS, DocSection, ReadFile, Symbol, section_key, symbol_key
from repertoire.domain.text import index_text
from repertoire.store.index_words import English, untranslated, words_in
from repertoire.store.rows import storable


def text_hash(text: str, english: English = untranslated) -> str:
    """Return a short hash of a text that is embedded, which is another one when it is translated otherwise.

    For ASCII it is not: to look for a language in all of a program takes a fifth of the time in which it is read.
    """
    told = text if text.isascii() else f"{text}{english(text)}"
    return digest_of(told)[:32]


def words_of_symbol(path: str, symbol: Symbol, english: English) -> tuple[str, str, str]:
    """Return the texts by which a symbol is found: its name, what its head says, its own text."""
    head = f"{path} {symbol.signature} {symbol.doc}\n{english(symbol.doc)}"
    return words_in(f"{symbol.name} {symbol.qualname}"), words_in(head), words_in(symbol.text)


def heading_of_symbol(path: str, symbol: Symbol) -> str:
    """Return the text that stands for a symbol's name: what it is called, what it says of itself, its head."""
    return f"{index_text(symbol.qualname or path)}: {symbol.doc[:300]}\n{symbol.signature}"


def heading_of_section(file: ReadFile, section: DocSection) -> str:
    """Return the headings above a section and its own."""
    return " - ".join(dict.fromkeys(part for part in (file.title, *section.path, section.title) if part))


def first_line(section: DocSection) -> str:
    """Return the first line of a section that is no heading and no fence of a code block."""
    lines = (line.strip() for line in section.text.split("\n"))
    return next((line[:200] for line in lines if line and not line.startswith(("#", "```", "~~~"))), "")


def texts_to_embed(file: ReadFile) -> dict[str, str]:
    """Map the keys of a file's nodes to the texts that their vectors are made from."""
    texts: dict[str, str] = {}
    for symbol in file.symbols:
        key = storable(symbol_key(file.path, symbol.qualname))
        texts[key] = heading_of_symbol(file.path, symbol)
        texts.update({f"{CHUNKS_OF[CODE]}:{number}:{key}": one.text for number, one in enumerate(symbol.chunks)})
    for section in file.sections:
        key = storable(section_key(file.path, section.anchor))
        texts[key] = heading_of_section(file, section)
        texts.update({f"{CHUNKS_OF[DOCS]}:{number}:{key}": one.text for number, one in enumerate(section.chunks)})
    return texts
