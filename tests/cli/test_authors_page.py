"""The page for authors says what the code does."""

from __future__ import annotations

from pathlib import Path

from repertoire.domain.component import BODY_INDEXED
from repertoire.domain.soundness import is_retired
from repertoire.ingestion.prose import DESCRIPTION_LIMIT
from repertoire.sources.crawl import READ_CAP

PAGE = (Path(__file__).parents[2] / "docs" / "authors.md").read_text(encoding="utf-8")


def test_the_page_for_authors_names_the_limits_that_hold():
    for told in (f"{DESCRIPTION_LIMIT:,} characters", f"{BODY_INDEXED:,} characters", f"{READ_CAP:,} bytes"):
        assert told in PAGE
    assert 'Start the description with "Deprecated: use NAME instead"' in PAGE
    assert is_retired("Deprecated: use NAME instead")
