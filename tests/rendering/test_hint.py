"""A hint stays short, whole and on our own lines, whatever its components say of themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.hint import MAX_CHARACTERS, MAX_ITEMS, HintItem, hint_text, silenced

TEXT = st.text(max_size=600)
ITEMS = st.lists(st.builds(HintItem, TEXT, TEXT, TEXT, TEXT, TEXT, st.booleans(), st.tuples(TEXT)), max_size=6)


@given(ITEMS)
def test_a_hint_is_short_and_every_line_is_ours(items: list[HintItem]) -> None:
    text = hint_text("Heading", items)
    assert len(text) < MAX_CHARACTERS
    if items:
        heading, *lines, closing = text.split("\n")
        assert heading.startswith("Heading. The user installed Repertoire to ")
        assert 1 <= len(lines) <= MAX_ITEMS
        assert all(line.startswith("- ") for line in lines)
        assert closing.startswith("(From a local graph")
    else:
        assert text == ""


def test_an_item_says_name_type_state_what_and_why() -> None:
    item = HintItem(
        "s:a", "pdf", "mcp_server", "Fills forms.", "words: pdf", installed=False, install=("add m", "install p")
    )
    assert hint_text("H", [item]).split("\n")[1] == (
        "- pdf (mcp server, not installed; install: add m, then install p): Fills forms. Why: words: pdf."
    )


@pytest.mark.parametrize(("along", "told"), [(9, ""), (10, ", brings 10 more components"), (2_000, ", brings 2,000")])
def test_an_item_says_what_its_plugin_brings_if_that_is_much(along: int, told: str) -> None:
    item = HintItem("s:a", "pdf", "skill", "Fills forms.", "x", installed=False, install=("install p",), along=along)
    assert f"install: install p{told}" in hint_text("H", [item])
    assert "brings" not in hint_text("H", [replace(item, installed=True)])
    assert told.replace("brings", "brings at least") in hint_text("H", [replace(item, whole=False)])


PLUGIN = ("/plugin marketplace add owner/market", "/plugin install pdf@market")


def test_an_item_names_our_command_which_copies_it_alone_where_its_plugin_brings_much() -> None:
    item = HintItem("s:a", "pdf", "skill", "Fills.", "x", installed=False, install=PLUGIN, alone=True)
    assert "(skill, not installed; install: /repertoire:install pdf): " in hint_text("H", [item])
    assert "install pdf --alone): " in hint_text("H", [replace(item, along=30)])
    assert "install pdf, brings 30 more components): " in hint_text("H", [replace(item, along=30, alone=False)])
    assert "repertoire:install" not in hint_text("H", [replace(item, installed=True)])


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("mkdir -p ~/.claude/skills && cp -R '/a b/pdf' ~/.claude/skills/pdf", True),
        ("mkdir -p ~/.claude/skills/'p d' && cp -R '/a b/pdf/.' ~/.claude/skills/'p d'/", True),
        (
            "Copy the programs of this hook from its source to a.py, then merge /s/a.json into ~/.claude/settings.json",
            False,
        ),
        ("merge /a/hooks.json into ~/.claude/settings.json", True),
        ("merge /a/.mcp.json into .mcp.json", True),
        ("claude mcp add pdf -e KEY=${KEY} -- npx pdf", True),
        ("Copy the folder skills/pdf of https://github.com/o/r to .claude/skills/pdf", True),
        ("Copy agents/pdf.md of https://github.com/o/r to .claude/agents/", True),
        ("claude mcp add pdf -e KEY=… -- npx pdf", False),
        ("merge /a/AGENTS.md into CLAUDE.md", False),
        ('Merge the "hooks" of hooks/pdf.json of https://github.com/o/r into .claude/settings.json', False),
        ("Unpack the archive, and add the folder", False),
    ],
)
def test_our_command_is_named_only_for_lines_that_it_carries_out(line: str, runs: bool) -> None:
    item = HintItem("s:a", "pdf", "skill", "Fills.", "x", installed=False, install=(line,))
    assert ("install: /repertoire:install pdf)" in hint_text("H", [item])) is runs


@pytest.mark.parametrize("name", ["--flagged", "a; rm -rf .", "`x`", "a b", "$(x)", "é" * 10, "x" * 400, "a\nb"])
def test_a_name_that_a_shell_would_read_otherwise_is_never_typed(name: str) -> None:
    item = HintItem("s:a", name, "skill", "Fills.", "x", installed=False, install=PLUGIN)
    assert "install: /repertoire:install s:a): " in hint_text("H", [item])
    assert "install: /plugin marketplace add owner/market, then " in hint_text("H", [replace(item, id=name)])


def test_an_install_line_is_whole_or_not_there() -> None:
    item = HintItem("s:a", "pdf", "skill", "Fills forms.", "x", installed=False, install=("run " + "x" * 400,))
    assert "install: explain_component tells how" in hint_text("H", [item])


@pytest.mark.parametrize("value", ["1", "true", "yes", "anything"])
def test_off_is_off(value: str) -> None:
    assert silenced({"REPERTOIRE_OFF": value})


@pytest.mark.parametrize(
    "environment", [{}, {"REPERTOIRE_OFF": "0"}, {"REPERTOIRE_OFF": ""}, {"REPERTOIRE_HINTS": "true"}]
)
def test_on_is_the_default(environment: dict[str, str]) -> None:
    assert not silenced(environment)
