"""The Python API answers as the doors do, and records nothing."""

from __future__ import annotations

import pytest

from app.packs.documentation import WILLOW, build, write
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import InvalidRequest, PackRefused
from repertoire.domain.event import EVENT_KINDS
from repertoire.packs import PROFILES, open_packs


def test_a_program_lists_asks_and_opens_what_is_cited(tmp_path):
    with open_repertoire(tmp_path) as repertoire:
        build(tmp_path, "willow", write(tmp_path / "docs", WILLOW), repertoire.embedder)
    with open_packs(tmp_path) as packs:
        assert [pack.name for pack in packs.listing().packs] == ["willow"]
        for profile in PROFILES:
            answer = packs.ask("how long must willow rods lie in water", profile=profile, off=("quality",))
            assert answer.covered
            shown = packs.show("willow", answer.hits[0].passage.citation)
            assert shown.section is not None
            assert shown.section.text == answer.hits[0].passage.text
        with pytest.raises(InvalidRequest, match="profiles are"):
            packs.ask("a question", profile="best")
        with pytest.raises(PackRefused, match="has no section"):
            packs.show("willow", "nowhere.md")
    with open_repertoire(tmp_path) as repertoire:
        assert repertoire.store.events.recent(kinds=[kind.name for kind in EVENT_KINDS]) == []
