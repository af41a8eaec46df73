"""Relations inside a source are found in proportion to its texts, whatever they name."""

from __future__ import annotations

import time

from repertoire.domain.component import MENTIONS
from repertoire.ingestion.relations import SourceMember, derive, mentioned_words

WORDS = mentioned_words(" ".join(f"a{number}:x-y" for number in range(1_000)))


def test_texts_that_name_their_namesakes_again_and_again_cost_in_proportion_to_their_number():
    def cost(number: int) -> float:
        paths = [f"skills/{place}/SKILL.md" for place in range(number)]
        members = [SourceMember(f"s:{path}", "skill", "x-y", path, None, WORDS) for path in paths]
        began = time.process_time()
        edges = derive(members, {})
        assert {edge.relation for edge in edges} == {MENTIONS}
        assert len(edges) == number
        return time.process_time() - began

    assert cost(160) < 2 * 4 * max(cost(40), 0.05)
