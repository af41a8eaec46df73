"""What was said in sessions waits as a candidate for a note until a person accepts or rejects it, and comes once."""

from __future__ import annotations

import hashlib

import pytest

from app.projects.small_project import begin, write
from repertoire.app.person.forget import REQUESTS, forget
from repertoire.app.projects.entries import list_entries, move_entries, save_entry
from repertoire.app.projects.entry_requests import ListQuery, MoveRequest, save_request
from repertoire.app.projects.review import ReviewRequest, keep_candidates, review, sighted
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_project
from repertoire.boot.home import database_path
from repertoire.domain.errors import InvalidRequest
from repertoire.projects.noticing import in_message, in_prompt
from repertoire.store.database import Store
from repertoire.store.project_candidates import MOST, Candidate
from repertoire.store.stemming import stems

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def project(tmp_path):
    root = write(tmp_path / "kiln-project", {"README.md": "# Kiln\n"})
    begin(tmp_path / "home", root).close()
    shelf = ProjectShelf(tmp_path / "home", open_project)
    yield shelf.open(str(root))
    shelf.close()


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("We decided to keep the glaze lead-free.", "decision"),
        ("Looks good. From now on every pot dries a week in the yard", "decision"),
        ("let's stick with gas for the big kiln", "decision"),
        ("Never commit the glaze recipes to the repository.", "preference"),
        ("we prefer small kilns over large ones", "preference"),
        ("Remember that the clay comes from the old pit", "fact"),
        ("Wir haben uns für Gas im großen Ofen entschieden.", "decision"),
        ("Passt. Ab jetzt trocknet jeder Topf eine Woche im Hof", "decision"),
        ("我们决定订单都用 PostgreSQL 保存。", "decision"),
        ("好的。从现在开始注释都用中文写", "decision"),
        ("请始终先运行单元测试再提交", "preference"),
        ("テストはJestで書くことにしました。", "decision"),
        ("Мы решили хранить заказы в PostgreSQL.", "decision"),
        ("Никогда не коммить ключи в репозиторий", "preference"),
        ("Decidimos guardar los pedidos en PostgreSQL.", "decision"),
        ("Vale. A partir de ahora los comentarios van en español", "decision"),
        ("Nous avons décidé de garder les commandes dans PostgreSQL.", "decision"),
        ("Toujours lancer les tests avant de pousser", "preference"),
        ("Ficou decidido usar PostgreSQL para os pedidos.", "decision"),
        ("Nunca faça commit das chaves no repositório", "preference"),
        ("Abbiamo deciso di usare PostgreSQL per gli ordini.", "decision"),
        ("주문은 PostgreSQL에 저장하기로 했습니다.", "decision"),
        ("항상 커밋하기 전에 단위 테스트를 실행하세요", "preference"),
        ("我們決定訂單都用 PostgreSQL 保存。", "decision"),
        ("we are waiting for the new burner to arrive", "blocker"),
    ],
)
def test_a_sentence_that_says_how_things_are_to_be_is_noticed_with_its_sort(said, category):
    assert [one.category for one in in_prompt(said)] == [category]


@pytest.mark.parametrize(
    "said",
    [
        *("why did we decide to use gas for the kiln?", "run the tests", "fix the glaze in kiln.py and add a test"),
        *(
            "recall what we agreed on for the big kiln",
            "let's go with it",
            "```\nwe decided to use gas for the kiln\n```",
        ),
        *("> we decided to use gas for the kiln", "\n".join(["we decided to use gas for the kiln"] * 60)),
        *("warum haben wir uns für Gas entschieden", "为什么我们决定用 PostgreSQL", "给订单加一个决定按钮"),
        *("我们决定用 PostgreSQL 了吗", "füge eine Entscheidungstabelle hinzu", "мы решили?"),
        *(
            "¿por qué decidimos usar gas para el horno?",
            "toujours pas de changement dans le four",
            "como decidimos isso",
        ),
        *(
            "nunca funciona el horno grande",
            "왜 PostgreSQL을 쓰기로 했는지 알려줘",
            "為什麼我們決定用 PostgreSQL 保存訂單",
        ),
        *("always", "I always get a cold kiln when I fire it", "Can we always fire on Mondays then?"),
    ],
)
def test_work_questions_and_what_was_pasted_are_no_candidates(said):
    assert in_prompt(said) == []


def test_of_the_last_message_only_what_it_lists_as_decided_blocked_or_left_is_noticed():
    said = "Done.\n\n- **Decision:** the glaze stays lead-free\nTODO: measure the heat of the kiln\nNext: decide\n"
    assert [(one.kind, one.category, one.said) for one in in_message(said)] == [
        ("note", "decision", "the glaze stays lead-free"),
        ("task", "", "measure the heat of the kiln"),
    ]


def test_nothing_is_saved_before_it_is_accepted_and_what_was_rejected_never_comes_again(project):
    said = [*in_prompt("We decided to fire with gas."), *in_message("TODO: order the new burner today")]
    keep_candidates(project, sighted(project, said))
    assert list_entries(project, ListQuery()).total == 0
    waiting = review(project, ReviewRequest(), embedder=None).waiting
    gas, burner = sorted(waiting, key=lambda one: one.kind)
    done = review(project, ReviewRequest((gas.name,), (burner.name[:5],)), embedder=None)
    assert done.waiting == ()
    [entry] = list_entries(project, ListQuery()).entries
    assert (entry.title, entry.data["category"]) == ("We decided to fire with gas.", "decision")
    again = [*in_prompt("we decided, to fire with gas"), *in_message("- todo: Order the new burner, today")]
    assert sighted(project, again).candidates == ()


def test_what_was_rejected_does_not_come_again_where_it_is_said_to_be_decided_in_other_words(project):
    said = ("We decided to fire with gas", "Let's go with: fire with gas", "Fire with gas now")
    listed = [one for text in said for one in in_message(f"Decisions:\n- {text}")]
    for one in listed:
        keep_candidates(project, sighted(project, [one]))
    [waiting] = review(project, ReviewRequest(), embedder=None).waiting
    review(project, ReviewRequest(reject=(waiting.name,)), embedder=None)
    assert [sighted(project, [one]).candidates for one in listed] == [()] * 3
    assert sighted(project, in_prompt("We decided to never fire with gas")).candidates


def test_what_was_rejected_under_its_former_name_does_not_come_again(project):
    former = hashlib.sha256(b"we decid to fire with ga").hexdigest()[:8]
    project.store.candidates.add([Candidate(former, "note", "decision", "We decided to fire with gas", "2026-01-01")])
    review(project, ReviewRequest(reject=("all",)), embedder=None)
    assert sighted(project, in_prompt("We decided to fire with gas.")).candidates == ()


def test_a_candidate_has_no_secrets_and_a_hidden_order_is_none(project):
    found = sighted(project, in_prompt(f"Remember that the key of the kiln is {SECRET}")).candidates
    assert [SECRET in one.said for one in found] == [False]
    assert (
        sighted(project, in_prompt("Remember that the\u200b\u200b\u200b kiln is hot \U000e0041\U000e0042")).candidates
        == ()
    )


def test_candidates_are_few_and_a_wrong_name_is_refused(project):
    project.store.candidates.add(
        Candidate(f"{number:08}", "note", "fact", f"fact {number}", f"2026-01-01T00:00:{number:02}")
        for number in range(60)
    )
    assert len(review(project, ReviewRequest(), embedder=None).waiting) == MOST
    with pytest.raises(InvalidRequest, match="more than one"):
        review(project, ReviewRequest(("0000",)), embedder=None)
    with pytest.raises(InvalidRequest, match="no candidate"):
        review(project, ReviewRequest(reject=("zzz",)), embedder=None)
    with pytest.raises(InvalidRequest, match="accepted and rejected"):
        review(project, ReviewRequest(("all",), ("00000059",)), embedder=None)
    assert review(project, ReviewRequest(reject=("all",)), embedder=None).waiting == ()


def test_candidates_go_with_the_past_requests(project, tmp_path):
    keep_candidates(project, sighted(project, in_prompt("We decided to fire with gas.")))
    with Store.open(database_path(tmp_path / "home")) as store:
        forget(store, REQUESTS)
    assert review(project, ReviewRequest(), embedder=None).waiting == ()


def test_two_sentences_of_the_same_words_in_another_order_are_two(project):
    first, second = "We decided to use gas, not wood", "We decided to use wood, not gas"
    keep_candidates(project, sighted(project, in_prompt(first)))
    [one] = review(project, ReviewRequest(), embedder=None).waiting
    review(project, ReviewRequest(reject=(one.name,)), embedder=None)
    assert [one.said for one in sighted(project, in_prompt(second)).candidates] == [second]
    assert sighted(project, in_prompt("we decided, to use gas, not wood!")).candidates == ()


def test_each_item_of_a_list_below_a_word_such_as_decisions_is_noticed_by_itself():
    said = (
        "All done.\n\n**Decisions:**\n\n- **Glaze** stays lead-free for all pots\n1. Fire with gas: wood is too slow\n"
        "   and dear\n- Pots dry a week in the yard\n- The kiln cools slowly at night\n\nI changed two files:\n"
        "- kiln.py has the new heat in it\n\n## Follow-ups\n- [ ] measure the heat of the kiln\n"
        "- [x] weigh the clay of each pot\n"
    )
    assert [(one.kind, one.category, one.said) for one in in_message(said)] == [
        ("note", "decision", "Glaze stays lead-free for all pots"),
        ("note", "decision", "Fire with gas: wood is too slow"),
        ("note", "decision", "Pots dry a week in the yard"),
        ("note", "decision", "The kiln cools slowly at night"),
        ("task", "", "measure the heat of the kiln"),
    ]
    prompted = (
        "We decided:\n- glaze stays lead-free for all pots\n- pots dry a week in the yard\n\nTODO:\n- fix the heat now"
    )
    assert [one.category for one in in_prompt(prompted)] == ["decision", "decision"]


def test_the_items_of_a_list_that_are_parted_by_blank_lines_are_noticed_to_its_end():
    said = (
        "Decisions:\n\n- Glaze stays lead-free for all pots\n\n  It is a law here.\n"
        "  - Plates and cups are glazed so too\n\n"
        "- Pots dry a week in the yard\n\n"
        "1. Then look at the new heat of the kiln\n\nI changed two files:\n\n- kiln.py has the new heat in it\n"
    )
    assert [one.said for one in in_message(said)] == [
        "Glaze stays lead-free for all pots",
        "Plates and cups are glazed so too",
        "Pots dry a week in the yard",
    ]


def test_what_a_note_or_task_says_already_is_no_candidate_before_or_after_it_was_saved(project):
    keep_candidates(project, sighted(project, in_message("TODO: order the new burner for the kiln")))
    for said in (
        {"kind": "note", "title": "Kiln", "body": "It is fired with gas.\nUse oak, not pine, for the doors."},
        {"kind": "task", "title": "Order a new burner for the big kiln"},
    ):
        save_entry(project, save_request(said), embedder=None)
    assert review(project, ReviewRequest(), embedder=None).waiting == ()
    said = in_prompt("We decided that the kiln is fired with gas.") + in_prompt("We decided: it is fired with gas.")
    assert sighted(project, said).candidates == ()
    for new in ("We decided to use pine, not oak, for the doors", "We decided it is not fired with gas"):
        assert sighted(project, in_prompt(new)).candidates
    assert sighted(project, in_prompt("We decided to use oak, not pine, for the doors")).candidates == ()


def test_a_decision_that_takes_an_earlier_one_back_is_a_candidate(project):
    save_entry(
        project, save_request({"kind": "note", "title": "Doors: glaze in lead and kiln doors in oak"}), embedder=None
    )
    assert sighted(project, in_prompt("Decision: glaze in lead and kiln doors in oak")).candidates == ()
    for new in ("Decision: glaze in oak and kiln doors in lead", "Decision: the glaze is to be in oak"):
        assert sighted(project, in_prompt(new)).candidates


def test_what_only_a_superseded_note_or_a_closed_task_says_is_a_candidate(project):
    for said, state in (({"kind": "note", "title": "Fire with gas"}, "superseded"), *_CLOSED_TASKS):
        [entry] = save_entry(project, save_request(said), embedder=None).entries
        move_entries(project, MoveRequest((entry.key,), state))
    said = [
        *in_prompt("We decided to fire with gas."),
        *in_message("TODO: order the new burner\nTODO: weigh all the clay"),
    ]
    assert len(sighted(project, said).candidates) == 3


_CLOSED_TASKS = (
    ({"kind": "task", "title": "Order the new burner"}, "done"),
    ({"kind": "task", "title": "Weigh all the clay"}, "dropped"),
)


def test_a_turns_end_compares_few_of_many_notes(project, monkeypatch):
    for number in range(40):
        save_entry(
            project, save_request({"kind": "note", "title": f"Pot {number}", "body": "clay\n" * 20}), embedder=None
        )
    save_entry(project, save_request({"kind": "note", "title": "窯 is fired with gas"}), embedder=None)
    read = list[str]()
    monkeypatch.setattr("repertoire.app.projects.review.stems", lambda text: read.append(text) or stems(text))
    said = in_message("Decisions:\n- 窯 is fired with gas\n- Each pot of clay dries in the yard")
    assert [one.said for one in sighted(project, said).candidates] == ["Each pot of clay dries in the yard"]
    assert len(read) < 40


@pytest.mark.parametrize(
    "message",
    [
        "Agreed: that makes sense to me.",
        "Blockers: none at the moment",
        "Blockers: no blockers that I know of",
        "## Blockers\n- None at the moment for the kiln\n- Nothing blocks the new burner now",
        "## Todo\n- ✅ parser fixed and merged\n- ~~rename the store of pots~~\n- ✔️ glaze is mixed for all pots",
        "TODO: ✅ order the new burner",
        "## Todo\n\n- [x] measured the heat of the kiln\n\n- kiln.py has the new heat in it",
    ],
)
def test_what_is_done_struck_out_or_only_agreed_to_is_no_candidate(message):
    assert in_message(message) == []
    assert in_prompt(message) == []


def test_a_list_after_another_one_has_no_sort_of_its_own():
    said = (
        "## Decisions\n\n- Glaze stays lead-free for all pots\n   and plates\n1. Fire with gas: wood is too slow\n\n"
        "- kiln.py has the new heat in it\n- yard.py dries the pots now\n"
    )
    decided = ["Glaze stays lead-free for all pots", "Fire with gas: wood is too slow"]
    assert [one.said for one in in_message(said)] == decided
    assert [one.said for one in in_prompt(said)] == decided


def test_what_was_agreed_is_a_decision_where_a_list_or_a_statement_of_it_follows():
    said = "Agreed: the glaze stays lead-free\n\nAgreed:\n- fire the big kiln with gas"
    decided = ["the glaze stays lead-free", "fire the big kiln with gas"]
    assert [one.said for one in in_message(said)] == decided
    assert [one.category for one in in_prompt(said)] == ["decision", "decision"]
