"""What a source calls itself makes none of its components one that a person has installed."""

from __future__ import annotations

import json

from app.sources.test_ingest_installed import Claude
from ingestion.workbench import git, repository, skill
from repertoire.domain.component import SKILL

PLUGIN = {".claude-plugin/plugin.json": '{"name": "kit", "description": "d"}'}
MARKET = {"name": "market", "owner": {"name": "x"}, "plugins": [{"name": "kit", "source": "./kit"}]}


def market_of(skills, description):
    texts = {f"skills/{name}/SKILL.md": skill(name, description) for name in skills}
    return {f"kit/{path}": text for path, text in {**PLUGIN, **texts}.items()}


def test_a_source_whose_marketplace_is_called_as_an_installed_one_has_nothing_installed_but_the_same_repository_has(
    bench,
):
    folder = bench.root / "person" / ".claude"
    folder.mkdir()
    claude = Claude(bench, folder)
    claude.marketplace("market", market_of(["a"], "Mine."), [{"name": "kit", "source": "./kit"}])
    claude.install("kit@market", {**PLUGIN, "skills/a/SKILL.md": skill("a", "Mine.")})
    listed = {".claude-plugin/marketplace.json": json.dumps(MARKET)}
    odd = bench.write({**market_of(["a", "b"], "Theirs."), **listed}, under="odd")
    own = bench.write({**market_of(["a"], "Own clone."), **listed}, under="own")
    repository(own)
    git(own, "remote", "add", "origin", "https://github.com/Acme/market.git")

    bench.ingest_all("installed")
    bench.ingest(odd)
    bench.ingest(own)

    found = bench.store.graph.components(row.node_id for row in bench.store.graph.summaries()).values()
    have = {(row.component.description, row.component.installed) for row in found if row.component.type == SKILL}
    assert have == {("Mine.", True), ("Own clone.", True), ("Theirs.", False)}
