"""Before a command that failed here runs again unchanged, one line states that; after any change nothing is said."""

from __future__ import annotations

import pytest

from repertoire.traces.known_failures import changed, fact, failed_before
from traces.story import SHELL, Story, pytest_failed

MISSING = "Error: Cannot find module 'left-pad'"


def said(story: Story, command: str) -> str:
    known = failed_before(story.session, command, SHELL, story.now)
    return fact(known, story.now) if known else ""


def test_a_command_that_failed_is_told_with_what_it_said():
    story = Story().fails("node app.js", MISSING).waits(300)
    told = said(story, "node app.js")
    assert told.startswith("`node app.js` failed here 5 min ago with: Cannot find module 'left-pad'")
    assert "\n" not in told


def test_an_error_is_told_with_its_kind():
    assert "KeyError: 'rate'" in said(Story().fails("pytest", pytest_failed()), "pytest")


def test_how_often_it_failed_is_told():
    story = Story().fails("node app.js", MISSING).fails("node app.js", MISSING)
    assert "failed here 2 times" in said(story, "node app.js")


@pytest.mark.parametrize("again", ["node  app.js", "node app.js 2>&1 | tail -5", "time node app.js"])
def test_it_is_the_same_command_however_it_is_cut(again):
    assert said(Story().fails("node app.js", MISSING), again)


@pytest.mark.parametrize(
    "other", ["node app.js --fix", "PORT=1 node app.js", "cd web && node app.js", "node b.js", "ls"]
)
def test_another_command_is_not_told(other):
    assert said(Story().fails("node app.js", MISSING), other) == ""


def test_after_a_change_nothing_is_told():
    failed = Story().fails("node app.js", MISSING)
    assert said(failed, "node app.js")
    for story in (
        Story().fails("node app.js", MISSING).edits("lib/a.js"),
        Story().fails("node app.js", MISSING).edits("lib/a.js", "f()", "console.log(1)\nf()"),
        Story().fails("node app.js", MISSING).edits("README.md"),
        Story().fails("node app.js", MISSING).passes("node seed.js"),
        Story().fails("node app.js", MISSING).passes("npm install left-pad"),
        Story().fails("node app.js", MISSING).passes("git checkout -- lib/a.js"),
        Story().fails("node app.js", MISSING).passes("node app.js"),
        Story().fails("node app.js", MISSING).passes("git commit -am wip"),
        Story().fails("node app.js", MISSING).passes("git remote add origin git@example.com:a/b.git"),
        Story().fails("node app.js", MISSING).calls("mcp__postgres__execute_sql"),
        Story().fails("node app.js", MISSING).calls("Agent"),
        Story().fails("node app.js", MISSING).asks("I repaired it, try again"),
        Story().fails("node app.js", MISSING).waits(5 * 3600),
        Story().fails("npm ci", "npm error code ECONNRESET"),
    ):
        assert said(story, "node app.js") == said(story, "npm ci") == ""
    failed.session = changed(failed.session)
    assert said(failed, "node app.js") == ""


@pytest.mark.parametrize(
    "between",
    [
        "ruff check --fix .",
        "npx eslint --fix src",
        "npm run lint -- --fix",
        "cargo clippy --fix",
        "npx vitest run -u",
        "bundle exec rubocop -A",
        "pre-commit run -a",
        "npm audit fix",
        "git commit -m wip",
        "git pull --rebase",
        "make gen",
        "grep -rl foo src | xargs sed -i s/foo/bar/",
        "find . -name '*.snap' -delete",
        "sed s/a/b/ x.py > y.py",
        "cat x.py | tee y.py",
        "python -c 'import os; os.remove(\"x\")'",
        "python3 <<'EOF'\nimport shutil\nshutil.copy('a', 'b')\nEOF",
        "cat $(./build.sh)",
        "sleep 60",
    ],
)
def test_after_a_command_that_may_have_changed_something_nothing_is_told_even_if_it_failed(between):
    for story in (
        Story().fails("pytest", pytest_failed()).passes(between),
        Story().fails("pytest", pytest_failed()).fails(between, MISSING),
        Story().fails("pytest", pytest_failed()).passes(between, backgroundTaskId="b1"),
    ):
        assert said(story, "pytest") == ""


def test_after_a_server_was_started_in_the_background_nothing_is_told():
    story = Story().fails("curl -sf localhost:8000/health", "curl: (7) Failed to connect to localhost port 8000")
    story.passes("uvicorn app.main:app", backgroundTaskId="b1")
    assert said(story, "curl -sf localhost:8000/health") == ""


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("pre-commit run --all-files", "black...Failed\n- files were modified by this hook"),
        ("npx eslint --fix src", "error 'x' is not defined"),
        ("make lint", "Found 5 errors (4 fixed, 1 remaining)."),
        ("make lint", "reformatted app/main.py\n1 file reformatted."),
        ("npx jest", " > 1 snapshot written.\n1 failed"),
    ],
)
def test_a_command_that_may_have_repaired_what_made_it_fail_is_not_told(command, printed):
    assert said(Story().fails(command, printed), command) == ""
    assert said(Story().fails("pytest", pytest_failed()).fails(command, printed), "pytest") == ""


@pytest.mark.parametrize("printed", ["1 file would be reformatted", "5 errors, 4 fixable with --fix", "0 fixed"])
def test_a_check_that_only_says_what_could_be_repaired_is_told(printed):
    assert said(Story().fails("make lint", printed), "make lint")


@pytest.mark.parametrize(
    "between",
    ["cd web && git status", "grep -rn foo src 2>/dev/null | head -5", "ruff check . 2>&1", "node -v"],
)
def test_commands_that_surely_read_or_check_change_nothing(between):
    assert said(Story().fails("pytest", pytest_failed()).passes(between), "pytest")
    assert said(Story().fails("pytest", pytest_failed()).fails(between, MISSING), "pytest")


def test_looking_around_changes_nothing():
    story = Story().fails("pytest", pytest_failed()).passes("cat src/a.py").passes("git log")
    story = story.passes("git remote -v").calls("mcp__github__get_issue")
    assert said(story, "pytest")


def test_what_fails_on_purpose_and_what_was_interrupted_is_not_told():
    story = Story().fails("grep -r x src").fails("npm test", "[Request interrupted by user]", is_interrupt=True)
    assert said(story, "grep -r x src") == said(story, "npm test") == ""
