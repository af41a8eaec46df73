"""What rules found in a pack is told with its citation, redacted, and the same after each build."""

from __future__ import annotations

import pytest

from app.packs.documentation import build, write
from repertoire.app.packs.describe import PackDescriptionRequest, describe_pack
from repertoire.app.packs.shelf import PackShelf
from repertoire.domain.pack import ENTITY, FACTS
from repertoire.rendering.pack_facts import description_data, description_text
from repertoire.store.pack_file import PackStore

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY2"
DOCS = {
    "api/client.md": (
        "# `client.send(body)`\n\nSends a body to the server.\n\n"
        "* `timeout` - Default: `300` seconds after which it ends.\n"
        f"* `token` - Default: `{TOKEN}`\n"
    ),
    "guide.md": "# Weaving\n\nA *bodkin* is a tool that opens the weave.\n\nThe `weave` tool requires Node.js 18.\n",
}


def described(home, about, offset=0):
    with_shelf = PackShelf(home / "packs", PackStore.open)
    try:
        return describe_pack(with_shelf, PackDescriptionRequest("loom", about, offset=offset))
    finally:
        with_shelf.close()


def test_a_pack_tells_its_facts_with_citations(tmp_path):
    built = build(tmp_path, "loom", write(tmp_path / "docs", DOCS))
    size = built.manifest.statistics
    assert (size.entities, size.facts, size.relations, size.categories) == (6, 5, 3, 1)
    found = described(tmp_path, "timeout")
    assert [(fact.kind, fact.subject, fact.citation) for fact in found.facts] == [
        ("default", "timeout", "api/client.md#clientsendbody")
    ]
    text = description_text(found)
    assert "found by rules: 6 entities, 5 facts, 3 relations, 1 categories" in text
    assert "relation: timeout option of client.send" in text
    assert description_data(described(tmp_path, ""))["facts"] == []
    assert "No fact about xylophone" in description_text(described(tmp_path, "xylophone"))


@pytest.mark.parametrize(
    ("path", "citation"),
    [
        ("My Notes/Getting Started.md", "My Notes/Getting Started.md#bodkins"),
        ("plain.md", "plain.md"),
        ("C#/lambda.md", "C#/lambda.md#bodkins"),
        ("C#/lambda.md", "C#/lambda.md"),
    ],
)
def test_each_citation_that_an_answer_gives_opens_its_section(tmp_path, path, citation):
    text = "Before the heading.\n\n# Bodkins\n\nA *bodkin* is a tool that opens the weave.\n"
    built = build(tmp_path, "loom", write(tmp_path / "docs", {path: text}))
    with PackStore.open(built.folder / "pack.db") as store:
        assert citation in store.sections_by_citation()
    section = described(tmp_path, citation).section
    assert section is not None
    assert section.citation == citation


def test_a_very_long_section_is_shown_in_parts_that_lose_nothing(tmp_path):
    text = "# Rows\n\n" + "".join(f"The row {number} of the table has its own sentence.\n\n" for number in range(4_000))
    build(tmp_path, "loom", write(tmp_path / "docs", {"rows.md": text}))
    parts, offset = [], 0
    while not parts or offset:
        found = described(tmp_path, "rows.md#rows", offset)
        parts.append(description_data(found)["section"])
        offset = description_data(found)["next_offset"]
        assert (f"more characters, from offset {offset} on)" in description_text(found)) == bool(offset)
        assert parts[-1].endswith("sentence.") or offset
    assert len(parts) > 2
    assert "\n".join(parts).rstrip() == text.rstrip()
    assert "199,0" in description_text(described(tmp_path, "rows.md#rows", 199_000))


def test_a_fact_holds_no_credential(tmp_path):
    build(tmp_path, "loom", write(tmp_path / "docs", DOCS))
    told = description_text(described(tmp_path, "token default"))
    assert "[secret]" in told
    assert TOKEN not in (tmp_path / "packs" / "loom" / "pack.db").read_bytes().decode("latin-1")


def test_entities_facts_and_categories_are_nodes_of_the_graph(tmp_path):
    built = build(tmp_path, "loom", write(tmp_path / "docs", DOCS))
    with PackStore.open(built.folder / "pack.db") as store:
        types = store.graph.topology(FACTS).types
        links = {(one.relation, one.other) for one in store.graph.links("article:guide.md", view=FACTS)}
    assert types.count(ENTITY) == 6
    assert {"entity:bodkin", "entity:weave"} <= {other for relation, other in links if relation == "has_entity"}
    assert sum(relation == "has_fact" for relation, _ in links) == 2
