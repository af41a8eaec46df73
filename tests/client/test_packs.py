"""A question about a library draws a hint that names its pack; the answer cites a section, and the citation opens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from client.api_stub import Script
from client.belongings import CHIT_CHAT
from client.graph_tools import GRANTED, call
from client.machine import REPOSITORY, Machine
from repertoire.domain.event import OFFERED, SELECTED
from repertoire.store.database import Store

pytestmark = pytest.mark.client

DOCS = {
    "soak.md": "# Soaking\n\nWillow rods lie in water for a week before weaving.\n",
    "tools.md": "# Tools\n\nA bodkin opens the weave; a rapping iron closes it.\n",
}
QUESTION = "how long must willow rods lie in water before weaving?"


def test_a_question_draws_a_hint_that_names_the_pack_and_its_answer_cites_a_section_that_opens(
    regular: Machine, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in DOCS.items():
        (docs / name).write_text(text, encoding="utf-8")
    built = regular.run(REPOSITORY / "bin" / "repertoire", "pack", "build", "willow", "--from", str(docs), "--quiet")
    assert built.returncode == 0, built.stdout + built.stderr

    # a first turn in which the model loads
    script = Script(
        [
            "Hello.",
            call("query_pack", question=QUESTION),
            call("pack_info", name="willow", about="soak.md#soaking"),
            "A week.",
        ]
    )
    session = regular.session(CHIT_CHAT, QUESTION, script=script, args=GRANTED)
    assert session.results[-1] == "A week."
    hints = [hint for hint in session.injected("UserPromptSubmit") if "pack willow covers this question" in hint]
    assert len(hints) == 1
    answer, opened = (request.last_message for request in session.main_requests[2:4])
    [citation] = re.findall(r"1\. willow: (\S+#\S+)", answer)
    assert citation == "soak.md#soaking"
    assert "Willow rods lie in water for a week" in opened
    with Store.open(Path(regular.env["REPERTOIRE_HOME"]) / "repertoire.db") as store:
        kinds = [event.kind for event in store.events.of_node("packs:willow", kinds=(OFFERED, SELECTED))]
    assert kinds == [SELECTED, OFFERED], "newest first: the offer was taken"


def test_a_pack_that_is_offered_as_a_skill_is_listed_by_each_new_session(regular: Machine, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "wicker.md").write_text("# Wicker\n\nWicker chairs are woven of rattan.\n", encoding="utf-8")
    command = REPOSITORY / "bin" / "repertoire"
    for words in (("build", "wicker", "--from", str(docs), "--quiet"), ("skill", "wicker")):
        done = regular.run(command, "pack", *words)
        assert done.returncode == 0, done.stdout + done.stderr
    session = regular.session(CHIT_CHAT, script=Script(["Fine."]), args=GRANTED)
    assert "pack-wicker" in session.init["skills"]
    assert "- pack-wicker: Answers questions about wicker" in session.main_requests[0].text
    assert regular.run(command, "pack", "remove", "wicker", "--yes").returncode == 0
    assert "pack-wicker" not in regular.session(CHIT_CHAT, script=Script(["Fine."])).init["skills"]
