"""What a source calls itself makes none of its components one that a person has installed."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from app.sources.test_ingest_installed import Claude
from ingestion.workbench import git, repository, skill
from repertoire.app.sources.catalogue_source import records_of
from repertoire.catalogue import reading
from repertoire.domain.component import SKILL, SourceInfo
from repertoire.domain.errors import SourceRefused

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


def test_a_folder_that_says_it_is_what_was_fetched_takes_its_place_for_a_person_alone_who_is_told(bench, monkeypatch):
    fetched = SourceInfo("github.com/acme/market", "git", "https://github.com/acme/market", "github.com/acme/market")
    bench.store.sources.write(fetched, [], [], derived=(), now="2026-01-01T00:00:00Z")
    odd = bench.write({"skills/a/SKILL.md": skill("a")}, under="odd")
    repository(odd)
    git(odd, "remote", "add", "origin", "https://github.com/acme/market.git")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(odd))
    with pytest.raises(SourceRefused, match="says of itself"):
        bench.ingest(odd, trusted=False)
    assert any("was fetched before" in warning for warning in bench.ingest(odd).warnings)
    assert not bench.ingest(odd, trusted=False).warnings


def test_one_file_at_the_path_of_a_catalogued_one_does_not_take_its_place_and_a_copy_of_half_its_repository_does():
    entries = reading.load().components
    (repository, most), *_ = Counter(entry.repository for entry in entries).most_common()
    places = [(one.path, one.type, one.name) for one in entries if one.repository == repository]
    one, half = (records_of(reading.load(), copies=[frozenset(places[:number])]) for number in (1, (most + 1) // 2))
    assert len(one) == len(entries)
    assert len(half) == len(entries) - (most + 1) // 2
