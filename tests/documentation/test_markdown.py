"""A Markdown document becomes sections that keep its text, under the fragments that its addresses really have."""

from __future__ import annotations

import itertools

import pytest

from repertoire.documentation.markdown import CHUNK_CHARACTERS, linked, read_markdown

DOCUMENT = """before any heading

# Handlers

See [state](../guide/state.md#sharing) and [state again](../guide/state.md), [the web](https://example.org/a.md).

<!-- a note to editors -->

## Using `Option<T>` & friends?

```rust
# not a heading
fn main() {}
```

## Using `Option<T>` & friends?

| name | default |
|------|---------|
| port | 80      |

### Named {#own-name}

end
"""


def article(text, header=None, path="docs/api/handlers.md"):
    return read_markdown(path, text, header or {}, content_hash="")


def test_headings_part_a_document_and_code_and_tables_stay_whole():
    found = article(DOCUMENT)
    assert [(s.anchor, s.level, s.path) for s in found.sections] == [
        ("", 0, ()),
        ("handlers", 1, ()),
        ("using-optiont--friends", 2, ("Handlers",)),
        ("using-optiont--friends-1", 2, ("Handlers",)),
        ("own-name", 3, ("Handlers", "Using Option<T> & friends?")),
    ]
    assert "```rust\n# not a heading\nfn main() {}\n```" in found.sections[2].text
    assert found.sections[3].text.endswith("| port | 80      |")
    assert found.sections[4].title == "Named"


def test_equal_headings_get_the_numbers_that_github_gives_them():
    found = article("# a\n\n# a 1\n\n# a\n\n# a\n\n# {x} y\n\n# B_c-d. É {.c #own}\n\n# z {#}\n")
    assert [section.anchor for section in found.sections] == ["a", "a-1", "a-2", "a-3", "x-y", "own", "z-"]


def test_a_heading_that_shows_a_template_keeps_it():
    for heading in ("Length of ${#name}", "{#each items as item}", "Use {{#if x}}"):
        [section] = read_markdown("a.md", f"## {heading}\n\ntext", {}, content_hash="").sections
        assert section.text.startswith(f"## {heading}\n")


def test_what_no_reader_sees_is_left_out():
    assert not any("editors" in section.text for section in article(DOCUMENT).sections)


def test_title_and_category_come_from_front_matter_or_else_from_heading_and_folder():
    assert (article(DOCUMENT).title, article(DOCUMENT).category) == ("Handlers", "docs/api")
    told = article(DOCUMENT, {"title": "Routing", "category": "web"})
    assert (told.title, told.category) == ("Routing", "web")
    assert article("only text", path="a/notes.md").title == "notes.md"


def test_links_count_only_within_the_source():
    assert article(DOCUMENT).links == ("docs/guide/state.md", "docs/guide/state.md")
    for outside in ("../../../etc/passwd.md", "/root.md", "mailto:a@b.md", "#here", "image.png", "C:\\a.md"):
        assert linked("docs/api/handlers.md", outside) == ""
    assert linked("a.md", "b%20c.html#x") == "b c.md"


def test_chunks_cover_a_section_in_order_and_cut_no_block_that_fits():
    code = "```py\n" + "x = 1\n" * 100 + "```"
    text = "# Long\n\n" + "\n\n".join(["word " * 60, code, "word " * 60, "w" * 5000])
    (section,) = article(text).sections
    spans = section.chunks
    assert spans[0][0] == 0
    assert spans[-1][1] == len(section.text)
    assert all(one[1] == other[0] for one, other in itertools.pairwise(spans))
    assert max(end - begin for begin, end in spans) <= 2 * CHUNK_CHARACTERS
    assert any(code in section.text[begin:end] for begin, end in spans)


@pytest.mark.parametrize("text", ["", "\n\n", "<!-- nothing -->"])
def test_a_document_without_text_has_no_sections(text):
    assert article(text).sections == ()


@pytest.mark.parametrize("text", ["> " * 5_000, "[" * 20_000, "# a\n" * 5_000, "*a " * 20_000, "- " * 5_000 + "x"])
def test_hostile_markup_is_read_in_bounded_time(text):
    assert len(article(text).sections) <= 5_000
