"""Sessions in which nothing was hard-won: everyday work, luck, and what was given up."""

from __future__ import annotations

from traces.hard_stories import MODULE, three_attempts_without_end
from traces.story import PASSED, Story, pytest_failed


def tdd() -> Story:
    story = Story().asks("add a total").writes("tests/test_pay.py", "def test_total(): assert total() == 3")
    return (
        story.fails("pytest", pytest_failed(error="ImportError: cannot import name 'total'"))
        .edits("src/pay.py")
        .passes("pytest", PASSED)
    )


def tdd_in_small_steps() -> Story:
    story = Story().writes("tests/test_pay.py", "def test_total(): assert total() == 3")
    for error in ("ImportError: cannot import name 'total'", "TypeError: total() takes 0 arguments", "assert 2 == 3"):
        story.fails("pytest", pytest_failed(error=error)).edits("src/pay.py")
    return story.passes("pytest", PASSED)


def first_attempt() -> Story:
    return Story().fails("npm run build", MODULE).edits("package.json").passes("npm run build")


def flaky() -> Story:
    story = Story().fails("pytest", pytest_failed()).fails("pytest", pytest_failed())
    return story.fails("pytest -x", pytest_failed()).passes("pytest", PASSED)


def flag_corrected() -> Story:
    story = Story().fails("pytest --parallell 4", "error: unrecognized arguments: --parallell")
    story.fails("pytest --parallel 4", "error: unrecognized arguments: --parallel").fails(
        "pytest -j 4", "error: unrecognized arguments: -j"
    )
    return story.passes("pytest -n 4", PASSED)


def flags_of_a_tool() -> Story:
    story = Story()
    for flag in ("--foo", "--bar", "--baz", "--qux", "--quux"):
        story.fails(f"terraform apply {flag}", f"Error: unknown flag: {flag}")
    return story.passes("terraform apply -auto-approve")


def failing_on_purpose() -> Story:
    story = Story()
    for number in range(5):
        story.fails("grep -rn legacy src/").fails("diff a.txt b.txt", "1c1\n< a\n---\n> b").fails("[ -f .env ]")
        story.fails("git diff --exit-code", "diff --git a/x b/x", code=1).edits(f"src/{number}.py")
    return story.passes("grep -rn legacy src/", "src/a.py:1: legacy").passes("diff a.txt b.txt").passes("[ -f .env ]")


def filter_found_nothing() -> Story:
    story = Story()
    for _ in range(4):
        story.fails("npm run build 2>&1 | grep -i error").edits("src/a.ts")
    return story.passes("npm run build 2>&1 | grep -i built", "built in 3s")


def given_up() -> Story:
    story = Story()
    for _ in range(5):
        story.fails("pytest", pytest_failed()).edits("src/pay.py")
    return story.fails("pytest", pytest_failed())


def given_up_by_skipping() -> Story:
    story = three_attempts_without_end()
    story.edits("tests/test_pay.py", "def test_total():", "@pytest.mark.skip\ndef test_total():")
    return story.passes("pytest -q", "4 passed, 1 skipped in 0.2s")


def given_up_by_putting_back() -> Story:
    return three_attempts_without_end().passes("git checkout .").passes("pytest -q", PASSED)


def interrupted() -> Story:
    story = Story()
    for _ in range(4):
        story.fails("npm test", "[Request interrupted by user for tool use]", is_interrupt=True).edits("src/a.js")
    return story.passes("npm test", "4 passing")


def denied() -> Story:
    story, said = Story(), "The user doesn't want to proceed with this tool use. The tool use was rejected."
    for _ in range(4):
        story.hook("PostToolUseFailure", "Bash", {"command": "git push"}, error=said).edits("src/a.js")
    return story.passes("git push")


def network() -> Story:
    story, error = Story(), "npm error code ECONNRESET\nnpm error network aborted"
    for number in range(4):
        story.fails("npm install", error).passes(f"npm cache clean --force {number}")
    return story.passes("npm install")


def mended_one_type_after_the_other() -> Story:
    story = Story()
    for count in range(5, 0, -1):
        lines = "".join(f"src/{n}.ts(3,1): error TS2322: Type 'A' is no 'B'.\n" for n in range(count))
        story.fails("npx tsc --noEmit", f"{lines}TraceAnswer {count} errors in {count} files.").edits(f"src/{count}.ts")
    return story.passes("npx tsc --noEmit")


def mended_one_test_after_the_other() -> Story:
    story = Story()
    for count in range(4, 0, -1):
        story.fails("pytest", pytest_failed(f"tests/test_{count}.py::test_it", failed=count)).edits(f"src/{count}.py")
    return story.passes("pytest", PASSED)


def prints_for_debugging() -> Story:
    story = Story()
    for number in range(4):
        story.fails("pytest", pytest_failed()).edits("src/pay.py", "x = 1", f"x = 1\nprint({number}, x)")
    return story.fails("pytest", pytest_failed()).edits("src/pay.py", "x = 1", "x = 2").passes("pytest", PASSED)


def looked_up_before() -> Story:
    story = Story().searches("pydantic v2 settings").fetches("https://docs.example.org/settings").edits("src/conf.py")
    return story.fails("pytest", pytest_failed()).edits("src/conf.py").passes("pytest", PASSED)


def another_check_passes() -> Story:
    return three_attempts_without_end().edits("src/x.py").passes("ruff check .", "All checks passed!")


def another_folder_passes() -> Story:
    story = Story()
    for _ in range(3):
        story.fails("cd web && npm test", "TypeError: t is not a function").edits("web/a.js")
    return story.passes("cd api && npm test", "3 passing")


def left_running() -> Story:
    story = Story()
    for _ in range(3):
        story.fails("npm run dev", MODULE).edits("a.js")
    return story.hook(
        "PostToolUse", "Bash", {"command": "npm run dev", "run_in_background": True}, tool_response={"stdout": ""}
    )


def hook_of_commits() -> Story:
    story = Story()
    for error in ("ruff: F401 unused import", "mypy: error: Missing return", "typos: teh"):
        story.fails("git commit -m done", error).edits("src/a.py")
    return story.passes("git commit -m done")


def waiting_for_a_server() -> Story:
    story = Story()
    for _ in range(4):
        story.fails("sleep 2; curl -sf localhost:3000/health", "curl: (7) Failed to connect to localhost port 3000")
    return story.passes("sleep 5; curl -sf localhost:3000/health", "ok")


def snippets() -> Story:
    story = Story()
    for number in range(4):
        story.fails(f"python -c 'import a{number}'", f"ModuleNotFoundError: No module named 'a{number}'").edits("a.py")
    return story.passes("python -c 'import a'")


def given_up_by_removing_the_test_from_its_file() -> Story:
    story = three_attempts_without_end()
    story.edits("tests/test_pay.py", "def test_total():\n    assert total() == 3\n\n", "\n")
    return story.passes("pytest -q", PASSED)


def given_up_by_silencing() -> Story:
    story = Story()
    error = "src/a.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file"
    for number in range(3):
        story.fails("mypy src", error).edits("src/a.py", f"x: A{number} = f()", f"x: A{number + 1} = f()")
    return story.fails("mypy src", error).edits("src/a.py", "x = f()", "x = f()  # type: ignore").passes("mypy src")


def page_of_a_manual() -> Story:
    story = Story().fails("npx tsc --noEmit", "a.ts(3,1): error TS2345: Argument of type 'A' is not assignable")
    return story.fetches("https://docs.example.org/zod").edits("a.ts").passes("npx tsc --noEmit")


def given_up_by_stashing() -> Story:
    return three_attempts_without_end().passes("git stash").passes("pytest -q", PASSED)


def given_up_by_deleting_the_test() -> Story:
    return three_attempts_without_end().passes("rm tests/test_pay.py").passes("pytest -q", PASSED)


def given_up_by_leaving_the_test_out() -> Story:
    story = three_attempts_without_end().edits("src/x.py")
    return story.passes("pytest -q --deselect tests/test_pay.py::test_total", "4 passed, 1 deselected")


def warned_about_other_things() -> Story:
    story, warned = Story(), "src/x.py:3: DeprecationWarning: datetime.utcnow() is deprecated\n"
    for number, error in enumerate(("KeyError: 'a'", "TypeError: no", "ValueError: bad")):
        story.fails("pytest", warned + pytest_failed(f"tests/test_{number}.py::test_it", error)).edits(
            f"src/{number}.py"
        )
    return story.passes("pytest", warned + PASSED)


def compiled_until_it_did() -> Story:
    story = Story()
    for name in ("parse", "render", "store", "send", "close"):
        story.fails("go build ./...", f"./main.go:12:2: undefined: {name}").edits(f"pkg/{name}.go")
    return story.passes("go build ./...")


def edited_and_put_back_without_a_run() -> Story:
    story = Story().fails("pytest", pytest_failed())
    for number in range(3):
        story.edits("src/a.py", "x = 1", f"x = {number + 2}").edits("src/a.py", f"x = {number + 2}", "x = 1")
        story.fails("pytest", pytest_failed())
    return story.edits("src/a.py", "x = 1", "x = 9").passes("pytest", PASSED)


def started_the_service() -> Story:
    story = Story().fails("pytest", "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379")
    return story.passes("docker compose up -d redis").passes("pytest", PASSED)


def set_a_variable() -> Story:
    story = Story().fails("npm run build", "Error: DATABASE_URL is not set")
    return story.passes("export DATABASE_URL=x").passes("npm run build")


def flag_looked_up() -> Story:
    story = (
        Story().fails("kubectl apply --dry", "error: unknown flag: --dry").fetches("https://docs.example.org/kubectl")
    )
    return story.passes("kubectl apply --dry-run=client -f x.yaml")


def query_refined() -> Story:
    story = Story()
    for number in range(7):
        story.fails(f"psql -c 'select a{number} from t'", f'ERROR:  column "a{number}" does not exist')
    return story.passes("psql -c 'select b from t'", "1 row")


def browser_tests_left_for_the_others() -> Story:
    story = Story()
    for number in range(3):
        story.fails("npm run test:e2e", "1) Login\n  TimeoutError: waiting for selector").edits(f"e2e/{number}.ts")
    return story.asks("leave that").edits("src/a.ts").passes("npm test", "Tests: 5 passed")


QUIET = [
    given_up_by_removing_the_test_from_its_file, given_up_by_silencing, page_of_a_manual, query_refined,
    browser_tests_left_for_the_others, started_the_service, set_a_variable, flag_looked_up, tdd,
    tdd_in_small_steps, first_attempt, flaky, flag_corrected, flags_of_a_tool, failing_on_purpose,
    filter_found_nothing, given_up, given_up_by_skipping, given_up_by_putting_back, interrupted, denied,
    network, mended_one_type_after_the_other, mended_one_test_after_the_other, prints_for_debugging,
    looked_up_before, another_check_passes, another_folder_passes, left_running, hook_of_commits,
    waiting_for_a_server, snippets, given_up_by_stashing, given_up_by_deleting_the_test,
    given_up_by_leaving_the_test_out, warned_about_other_things, compiled_until_it_did,
    edited_and_put_back_without_a_run,
]  # fmt: skip
