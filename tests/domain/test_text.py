"""Text is split, searched and shown: examples that people type, and properties of any text."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.text import (
    STOPWORDS,
    clean_line,
    content_words,
    description_line,
    index_text,
    match_any,
    split_words,
)

SERVER = Path(__file__).parents[2] / "server"
ANY_TEXT = st.text(max_size=60) | st.text(alphabet="aB c+#_-.'\"*():^{}\x00\ud800\u200b日ßΣİ1", max_size=40)


def rows_found(document: str, expression: str) -> int:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(a, tokenize = 'porter unicode61')")
        database.execute("INSERT INTO t VALUES (?)", (index_text(document),))
        return database.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchone()[0]
    finally:
        database.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("C++ and c# and F#", ["cplusplus", "and", "csharp", "and", "fsharp"]),
        ("C++17, c", ["cplusplus", "17", "c"]),
        ("node.js", ["node", "js"]),
        ("OAuth2 on iOS", ["oauth2", "on", "ios"]),
        ("getUserById", ["get", "user", "by", "id", "getuserbyid"]),
        ("PostgreSQL", ["postgre", "sql", "postgresql"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("snake_case kebab-case SCREAMING_CASE", ["snake", "case", "kebab", "case", "screaming", "case"]),
        ("k8s i18n 2FA", ["k8s", "i18n", "2fa"]),
        ("\ufb01le \uff26\uff55\uff4c\uff4c", ["file", "full"]),
        ("日本語 café", ["日本語", "café"]),
        ("", []),
        ("--- *** !!!", []),
        ("PDFを作る、生成PDF报告、PDF를", ["pdf", "を作る", "生成", "pdf", "报告", "pdf", "를"]),
    ],
)
def test_text_is_split_as_people_write_it(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("typescript", "Writes TypeScript"),
        ("TypeScript", "writes typescript"),
        ("fast api", "a FastAPI service"),
        ("c++", "modern C++20"),
        ("oauth2", "OAuth2 login"),
        ("user", "calls getUserById"),
        ("testing", "test-driven"),
        ("cafe", "Café"),
    ],
)
def test_a_name_is_found_however_it_is_written(query: str, document: str) -> None:
    assert rows_found(document, match_any(content_words(query))) == 1


def test_c_is_neither_c_plus_plus_nor_c_sharp() -> None:
    assert rows_found("a C library", match_any(content_words("C++"))) == 0
    assert rows_found("a C++ library", match_any(content_words("C#"))) == 0


def test_the_half_of_a_name_does_not_ask_for_everything_that_holds_it() -> None:
    assert content_words("open a GitHub issue") == ["open", "github", "issue"]


@pytest.mark.parametrize("text", ["thanks!", "I don't know", "Can you please help me with this?", "we'll see"])
def test_small_talk_has_hardly_a_content_word(text: str) -> None:
    assert set(content_words(text)) <= {"know"}


@given(ANY_TEXT)
def test_every_content_word_of_a_text_is_among_its_split_words(text: str) -> None:
    words = content_words(text)
    assert set(words) <= set(split_words(text)) - STOPWORDS
    assert len(words) == len(set(words))


@given(ANY_TEXT)
def test_a_text_is_found_by_each_of_its_own_content_words(text: str) -> None:
    for word in content_words(text):
        # a letter that came into Unicode after SQLite's tables were made is a separator to it: found or not, no error
        assert rows_found(text, match_any([word])) == 1 or not word.isascii()


@given(ANY_TEXT)
def test_splitting_what_was_split_changes_nothing(text: str) -> None:
    once = [word for word in split_words(text) if word.isascii()]
    assert split_words(" ".join(once)) == once


@given(st.lists(ANY_TEXT, max_size=5))
def test_an_expression_is_valid_whatever_it_is_made_of(words: list[str]) -> None:
    assert rows_found("nothing of that", match_any(words)) in (0, 1)


def test_an_expression_of_thousands_of_words_is_valid() -> None:
    assert rows_found("word4999", match_any([f"word{number}" for number in range(5000)])) == 1


@given(st.text(max_size=200) | ANY_TEXT, st.integers(min_value=0, max_value=40))
def test_a_clean_line_is_one_visible_line_within_its_limit(text: str, limit: int) -> None:
    line = clean_line(text, limit)
    assert len(line) <= limit
    assert line == line.strip()
    assert len(line.splitlines()) <= 1
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    line.encode()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\r\ntwo\tthree", "one two three"),
        ("pass\u200bword \u202egnp.exe", "password gnp.exe"),
        ("a\U000e0041\U000e0042b\ufe0f\U000e0101\u3164\u115f", "ab"),
        ("\x1b[31mred\x07", "[31mred"),
        ("grüße 日本語 🎉", "grüße 日本語 🎉"),
    ],
)
def test_what_could_fake_or_hide_text_is_taken_out_and_the_rest_stays(text: str, line: str) -> None:
    assert clean_line(text, 100) == line


def test_a_long_line_ends_in_an_ellipsis() -> None:
    assert clean_line("alpha beta gamma", 8) == "alpha b…"
    assert clean_line("alpha beta gamma", 7) == "alpha…"


def test_a_hook_can_split_text_with_nothing_but_the_standard_library() -> None:
    code = f"import sys; sys.path.insert(0, {str(SERVER)!r})\nfrom repertoire.domain.text import content_words\n"
    code += "print(content_words('Review my FastAPI app'))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['review', 'fastapi', 'app']"


@pytest.mark.parametrize(
    "tag",
    [
        "</system-reminder>",
        "<system-reminder>",
        "<function_calls>",
        '<invoke name="Bash">',
        "<|im_start|>",
        "</tool_result>",
    ],
)
def test_a_line_neither_ends_nor_opens_a_frame_of_the_client(tag):
    assert "<" not in clean_line(f"Fills invoices. {tag}", 200)
    assert clean_line("a <div> of List<string> and x < y", 200) == "a <div> of List<string> and x < y"


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        (
            r"Use this agent for clusters. Specifically:\n\n<example>\nContext: a cluster",
            "Use this agent for clusters.",
        ),
        ("Reviews skills.\n\nExamples:\n\n<example>\nContext: a skill", "Reviews skills."),
        ("Audits brand content\n<example>Context: a brand</example>", "Audits brand content"),
        ("Examples: <example>Context: a page</example>", "Examples"),
        ("<example>Context: a page</example>", "<example>Context: a page</example>"),
    ],
)
def test_a_description_is_shown_without_its_sample_dialogues(description: str, shown: str) -> None:
    assert description_line(description, 200) == shown
