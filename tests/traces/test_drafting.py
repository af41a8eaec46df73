"""A draft says what failed, what was tried and what mended it, shortly, and nothing of what was taken back."""

from __future__ import annotations

from itertools import pairwise

import pytest

from repertoire.traces.drafting import TEXT, TITLE, Draft, draft_of
from traces.story import PASSED, Story, pytest_failed

ESM = "Error [ERR_REQUIRE_ESM]: require() of ES Module /srv/shop/node_modules/chalk/index.js not supported."


@pytest.fixture
def draft() -> Draft:
    story = Story().passes("node --version && npm ls chalk", "v20.11.1\nshop@1.0.0\n`-- chalk@5.3.0")
    story.fails("node cli.js --color", ESM).edits("cli.js", "require('chalk')", "require('chalk').default")
    story.fails("node cli.js --color", ESM).edits("cli.js", "require('chalk').default", "require('chalk')")
    story.searches("chalk ERR_REQUIRE_ESM").edits("package.json", '"chalk": "^5.3.0"', '"chalk": "^4.1.2"')
    story.passes("npm install").passes("node cli.js --color")
    problem = story.stops()
    assert problem is not None
    return draft_of(story.session, problem)


def test_its_title_is_the_error(draft):
    assert "require() of ES Module" in draft.title
    assert len(draft.title) <= TITLE


def test_its_context_tells_command_error_attempts_and_look_ups(draft):
    assert "`node cli.js --color` failed:" in draft.context
    assert "ERR_REQUIRE_ESM" in draft.context
    assert "- edited cli.js: require('chalk') → require('chalk').default" in draft.context
    assert "- chalk ERR_REQUIRE_ESM" in draft.context


def test_its_solution_is_what_stands_at_the_end(draft):
    assert '+ "chalk": "^4.1.2"' in draft.solution
    assert "- `npm install`" in draft.solution
    assert "default" not in draft.solution
    assert draft.solution.endswith("Then `node cli.js --color` passed.")


def test_it_knows_languages_and_tags(draft):
    assert draft.languages == ("javascript",)
    assert "javascript" in draft.tags


def test_where_nothing_was_edited_the_language_is_that_of_the_program():
    story, error = Story(), "RuntimeError: CUDA error: no kernel image is available"
    story.fails("python train.py", error).passes("pip install torch==2.1.0").fails("python train.py", error)
    problem = (
        story.passes("pip uninstall -y torch").passes("pip install torch==2.3.0").passes("python train.py").stops()
    )
    draft = draft_of(story.session, problem)
    assert draft.languages == ("python",)
    assert draft.title == error


def test_a_problem_that_printed_nothing_is_named_by_its_command():
    story = Story()
    for _ in range(3):
        story.fails("./deploy.sh").edits("deploy.sh")
    problem = story.passes("./deploy.sh").stops()
    assert draft_of(story.session, problem).title == "deploy.sh fails"


def test_however_much_happened_it_is_short():
    story = Story()
    for number in range(30):
        story.fails("pytest -q", pytest_failed() + "x" * 9_000)
        for part in range(9):
            story.edits(f"src/{number}_{part}.py", "old\n" * 400, "new\n" * 400)
    problem = story.passes("pytest -q", PASSED).stops()
    draft = draft_of(story.session, problem)
    assert max(len(draft.context), len(draft.solution)) <= TEXT


@pytest.mark.parametrize("told", [True, False])
def test_of_a_file_that_was_written_anew_only_what_still_stands_in_it_is_told_as_left(told):
    versions = ["", "import tax\nrate = tax.guess()\n", "import tax\nrate = tax.rates['de']\n", "rate = 0.19\n"]
    story = Story().fails("pytest", pytest_failed()).edits("src/pay.py", "total = 3", "total = round(net)")
    for before, after in pairwise(versions):
        story.fails("pytest", pytest_failed()).writes("src/rate.py", after, before=before if told else None)
    problem = story.passes("pytest", PASSED).stops()
    solution = draft_of(story.session, problem).solution
    assert "+ rate = 0.19" in solution
    assert "+ total = round(net)" in solution
    assert "+ import tax" not in solution
    assert "+ rate = tax" not in solution
