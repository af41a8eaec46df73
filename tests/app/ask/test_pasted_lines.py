"""A set answers what is asked, and says so where lines were pasted with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.app.sources.embed import embed_pending
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Task
from sample_home import filled_home

TASK = "Fill in the fields of these PDF forms with the values from the spreadsheet"
STACK = """TypeError: Cannot read properties of undefined (reading 'cluster')
    at deploy (/app/src/kubernetes/helm.ts:42:13)
    at rollback (/app/src/kubernetes/rollback.ts:17:9)
2026-11-27T10:11:12.123Z ERROR [helm] rollback of the services failed"""


@pytest.fixture(scope="module")
def repertoire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    with open_repertoire(filled_home(tmp_path_factory.mktemp("pasted")), environment={}) as opened:
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        yield opened


@pytest.mark.parametrize("text", [f"{TASK}\n\n{STACK}", f"{STACK}\n{TASK}"])
def test_pasted_lines_change_no_set_and_are_told(repertoire: Repertoire, text: str) -> None:
    alone, beside = (recommend(repertoire.pipeline, Task(one)) for one in (TASK, text))
    assert [item.hit.component.id for item in beside.items] == [item.hit.component.id for item in alone.items] != []
    assert beside.confidence == alone.confidence
    assert [note for note in beside.degraded if note not in alone.degraded] == [
        "the task is read without the lines that were pasted with it"
    ]
