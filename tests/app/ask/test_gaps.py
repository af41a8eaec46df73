"""A gap is what a task really asks for: no everyday word, no part of a file's name, and nothing that is ruled out."""

from __future__ import annotations

import pytest

from repertoire.app.ask.gaps import gaps_of, words_for, worth_telling
from repertoire.app.sources.vocabulary import shipped_vocabulary

UNLIKELY = dict.fromkeys(shipped_vocabulary().broader, 0.01) | dict.fromkeys(("documents", "sales", "testing"), 0.01)


def gaps(task: str, *still_open: str) -> tuple[str, ...]:
    return gaps_of(task, still_open, shipped_vocabulary(), UNLIKELY)


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("document the endpoints of our API", "documents"),
        ("fix the box shadow of the cards", "documents"),
        ("plot sales_2023.csv by month", "sales"),
        ("the route in src/routes/users.ts returns 404", "typescript"),
        ("why does auth/hash.py hang", "python"),
        ("cluster the reviews, no deep learning please", "deep-learning"),
        ("send mails without using Kubernetes", "kubernetes"),
    ],
)
def test_what_a_task_names_in_passing_in_a_path_or_rules_out_is_no_gap(task: str, named: str) -> None:
    assert named in shipped_vocabulary().count(task)
    assert gaps(task, named) == ()


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("write python scripts that read sales_2023.csv", "python"),
        ("build the page with next.js", "nextjs"),
        ("set up vue.js with tests", "vue"),
        ("train a deep learning model", "deep-learning"),
        ("there is no documentation: deploy to Kubernetes", "kubernetes"),
    ],
)
def test_what_a_task_names_in_earnest_is_a_gap(task: str, named: str) -> None:
    assert gaps(task, named) == (named,)


def test_an_everyday_word_is_a_gap_where_the_task_implies_the_same() -> None:
    assert gaps_of("document the release", ["documents"], shipped_vocabulary(), {"documents": 0.3}) == ("documents",)


def test_what_a_members_first_sentence_names_is_no_gap() -> None:
    named = ("background-jobs", "disaster-recovery")
    task, member = "cron job for backups", "create-cron. Configure a cron job with error handling."
    assert gaps_of(task, named, shipped_vocabulary(), {}) == named
    assert gaps_of(task, named, shipped_vocabulary(), {}, (member,)) == ("disaster-recovery",)


def test_a_gap_all_whose_words_a_member_bears_is_none() -> None:
    asked, named = "contract tests between the services", ("integration-testing",)
    assert gaps_of(asked, named, shipped_vocabulary(), {}) == named
    assert gaps_of(asked, named, shipped_vocabulary(), {}, ("testing-integration. Runs what crosses services.",)) == ()


@pytest.mark.parametrize(("chance", "told"), [(0.05, ("jupyter",)), (0.02, ())])
def test_what_is_far_less_likely_than_what_the_task_is_about_is_not_told(chance: float, told: tuple[str, ...]) -> None:
    likely = {"machine-learning": 0.4, "jupyter": chance}
    task, named = "the model is worse than in the notebook", ("jupyter",)
    assert gaps_of(task, named, shipped_vocabulary(), likely) == named
    assert worth_telling(named, likely) == told


def test_a_gap_is_told_with_the_tasks_word_for_it_where_that_is_another() -> None:
    task = "keep a backup of the invoices in a spreadsheet, and tell Slack"
    told = words_for(task, ("disaster-recovery", "spreadsheets", "chat-integrations", "logging"), shipped_vocabulary())
    assert told == {"disaster-recovery": "backup", "chat-integrations": "slack"}


def test_a_tasks_word_for_a_gap_is_told_as_it_is_written() -> None:
    told = words_for("Crashes of axum with Postgres", ("debugging", "postgresql"), shipped_vocabulary())
    assert told == {"debugging": "crashes", "postgresql": "postgres"}


def test_nothing_is_a_gap_where_all_is_covered() -> None:
    assert gaps("deploy to Kubernetes") == ()
