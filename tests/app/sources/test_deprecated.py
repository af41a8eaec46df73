"""What its author calls deprecated draws no hint, gives way to what serves as well, and is told as such."""

from __future__ import annotations

import json

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.search import search
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.embed import embed_pending
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query
from repertoire.domain.soundness import is_retired
from repertoire.rendering.answers import answer_text
from repertoire.rendering.explanations import explanation_text

NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}
PROMPT = "Reconcile our bank statements with the ledger"


@pytest.mark.parametrize(
    "text",
    [
        "[DEPRECATED - use ledger-match] Reconciles statements.",
        "DEPRECATED: use the new one.",
        "**Deprecated 2026-04-28.** Use `ledger-match`.",
        "This skill is deprecated in favor of ledger-match",
        "Deprecated",
        "No longer maintained. Reads ledgers.",
    ],
)
def test_an_author_says_that_a_component_is_deprecated(text):
    assert is_retired(text)


@pytest.mark.parametrize(
    "text",
    [
        "Deprecated-API finder for Java.",
        "Obsolete code remover.",
        "Finds deprecated calls. Use it before an upgrade.",
        "Deprecated dependency cleanup",
        "Replaces every deprecated: pattern",
        "",
    ],
)
def test_a_component_about_what_is_deprecated_is_not_deprecated_itself(text):
    assert not is_retired(text)


def test_a_deprecated_component_gives_way_and_every_answer_says_why(bench):
    old = skill("match-statements", "Deprecated: use ledger-match. Matches statements with a ledger.")
    new = skill("ledger-match", "Matches statements with a ledger.")
    bench.ingest(bench.write({"skills/match-statements/SKILL.md": old, "skills/ledger-match/SKILL.md": new}))
    with open_repertoire(bench.home, environment=NO_MODEL) as opened:
        found = search(opened.pipeline, Query("match statements with a ledger"))
        assert [hit.component.name for hit in found.hits] == ["ledger-match", "match-statements"]
        assert answer_text(found).count("warning: its author calls it deprecated") == 1
        told = explanation_text(explain(opened.store, opened.pipeline, ExplainRequest("match-statements")))
        assert "warning: its author calls it deprecated" in told


def test_the_parts_of_a_deprecated_plugin_are_told_as_such(bench):
    plugin = json.dumps({"name": "old-books", "description": "Deprecated: use new-books instead"})
    part = skill("count-stock", "Counts the stock.")
    bench.ingest(bench.write({".claude-plugin/plugin.json": plugin, "skills/count-stock/SKILL.md": part}))
    with open_repertoire(bench.home, environment=NO_MODEL) as opened:
        told = explanation_text(explain(opened.store, opened.pipeline, ExplainRequest("count-stock")))
        assert "warning: its plugin old-books is deprecated, its author says" in told


@pytest.mark.parametrize(("before", "named"), [("", ["bank-match"]), ("[DEPRECATED - use nothing] ", [])])
def test_a_prompt_draws_no_hint_to_a_deprecated_component(bench, before, named):
    bench.ingest(
        bench.write(
            {"skills/bank-match/SKILL.md": skill("bank-match", f"{before}Reconciles bank statements with the ledger.")}
        )
    )
    with open_repertoire(bench.home, environment={}) as opened:
        embed_pending(opened.store, opened.embedder)
        assert [hit.component.name for hit in offer(opened.pipeline, PROMPT, HintLimits()).hits] == named
