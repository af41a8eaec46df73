"""Sessions in which a problem was hard to solve, and was solved."""

from __future__ import annotations

from traces.story import PASSED, Story, pytest_failed

MODULE = "Error [ERR_REQUIRE_ESM]: require() of ES Module /srv/shop/node_modules/chalk/index.js not supported."
LINK = "/usr/bin/ld: cannot find -lssl: No such file or directory\ncollect2: error: ld returned 1 exit status\n"
RESOLVE = (
    "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n"
    'npm error peer react@"^17" from old-grid@2.1.0\n'
)


def three_attempts() -> Story:
    story = Story().asks("the total is wrong")
    for name in ("a", "b", "c"):
        story.fails("pytest -q", pytest_failed()).edits(f"src/pay_{name}.py")
    return story.passes("pytest -q", PASSED)


def attempts_with_installs() -> Story:
    story = Story().fails("npm install", RESOLVE).passes("npm install react@17").fails("npm install", RESOLVE)
    return story.passes("rm -rf node_modules").fails("npm install", RESOLVE).edits("package.json").passes("npm install")


def approach_reversed() -> Story:
    story = (
        Story().fails("node cli.js", MODULE).edits("cli.js", "const chalk = require('chalk')", "const { chalk } = 1")
    )
    story.fails("node cli.js", MODULE).edits("cli.js", "const { chalk } = 1", "const chalk = require('chalk')")
    return story.edits("package.json", '"main": "cli.js"', '"type": "module"').passes("node cli.js")


def put_back_by_git() -> Story:
    story = Story().fails("make build", LINK).edits("Makefile").fails("make build", LINK)
    return story.passes("git checkout -- Makefile").passes("apt-get install -y libssl-dev").passes("make build")


def looked_up() -> Story:
    story = Story().fails(
        "docker build -t shop .", 'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete'
    )
    story.searches("docker npm ci failed to solve").fetches("https://docs.example.org/npm-ci")
    return story.edits("Dockerfile", "FROM node:18-alpine", "FROM node:18").passes("docker build -t shop .")


def errors_that_hide_each_other() -> Story:
    story = Story()
    for error in (MODULE, "TypeError: loader is not a function", "SyntaxError: Unexpected token 'export'", LINK):
        story.fails("npm run build", error).edits("webpack.config.js")
    return story.passes("npm run build")


def long_and_rewritten() -> Story:
    story = Story().fails("cargo build", "error[E0502]: cannot borrow `x` as mutable")
    story.waits(400).edits("src/lib.rs", "let x = y;", "let mut x = y.clone();")
    story.fails("cargo build", "error[E0382]: use of moved value: `x`")
    story.waits(400).edits("src/lib.rs", "let mut x = y.clone();", "let x = Rc::clone(&y);").edits("src/main.rs")
    return story.passes("cargo build")


def hidden_status() -> Story:
    story = Story()
    for _ in range(3):
        story.passes(
            "npx jest 2>&1 | tail -30", "● cart adds\n\n  TypeError: t is not a function\n\nTests: 1 failed, 3 passed"
        )
        story.edits("src/cart.js")
    return story.passes("npx jest 2>&1 | tail -30", "Tests: 4 passed, 4 total")


def a_variable_was_missing() -> Story:
    error = "Error: error:0308010C:digital envelope routines::unsupported"
    story = Story().fails("npm run build", error).edits("webpack.config.js").fails("npm run build", error)
    story.passes("npm install webpack@5").fails("npm run build", error)
    return story.passes("NODE_OPTIONS=--openssl-legacy-provider npm run build")


def seen_by_a_wider_check() -> Story:
    story = Story()
    for _ in range(3):
        story.fails("pytest tests/test_pay.py -q", pytest_failed()).edits("src/pay.py")
    return story.passes("cd /srv/shop && pytest -q", PASSED)


def seen_by_the_projects_own_name() -> Story:
    story = Story()
    for _ in range(3):
        story.fails("npx vitest run src/cart.test.ts", "FAIL src/cart.test.ts > adds\nTypeError: t is undefined").edits(
            "a.ts"
        )
    return story.passes("npm test", "Tests 3 passed")


def another_error_in_the_same_test() -> Story:
    story, call = Story(), "get(url)"
    for error in ("TimeoutError: no answer", "RuntimeError: Event loop is closed", "TypeError: not awaitable"):
        name = error.partition(":")[0]
        story.fails("pytest tests/test_pay.py", pytest_failed(error=error)).edits("src/pay.py", call, f"{name}({call})")
        call = f"{name}({call})"
    return story.passes("pytest", PASSED)


def put_aside_to_compare() -> Story:
    story = three_attempts_without_end().passes("git stash").passes("pytest -q", PASSED).passes("git stash pop")
    return story.fails("pytest -q", pytest_failed()).edits("src/pay.py").passes("pytest -q", PASSED)


def warned_all_the_while() -> Story:
    story, warned = Story(), "src/x.py:3: DeprecationWarning: datetime.utcnow() is deprecated\n"
    for number in range(3):
        story.fails("pytest", warned + pytest_failed()).edits(f"src/{number}.py")
    return story.passes("pytest", warned + PASSED)


def begun_again() -> Story:
    story = Story().fails("pytest", pytest_failed()).edits("src/a.py", "def f(): pass", "def f(): return old_way()")
    story.fails("pytest", pytest_failed()).writes("src/a.py", "def f():\n    return another_way()\n")
    return story.passes("pytest", PASSED)


def package_taken_back() -> Story:
    story = Story().fails("node app.js", MODULE).passes("npm install left-pad").fails("node app.js", MODULE)
    return story.passes("npm uninstall -D left-pad").passes("npm install right-pad").passes("node app.js")


def one_search() -> Story:
    story = Story().fails("alembic upgrade head", 'sqlalchemy.exc.ProgrammingError: type "state" already exists')
    return story.searches("alembic enum already exists").edits("migrations/1.py").passes("alembic upgrade head")


def mended_in_the_database() -> Story:
    story, error = Story(), "django.db.utils.ProgrammingError: permission denied to create extension"
    for number in range(2):
        story.fails("python manage.py migrate", error).edits(f"app/migrations/000{number}.py")
    return (
        story.fails("python manage.py migrate", error)
        .passes("psql -c 'create extension x'")
        .passes("python manage.py migrate")
    )


def three_attempts_without_end() -> Story:
    story = Story()
    for name in ("a", "b", "c"):
        story.fails("pytest -q", pytest_failed()).edits(f"src/pay_{name}.py")
    return story.fails("pytest -q", pytest_failed())


HARD = [
    begun_again, package_taken_back, one_search, mended_in_the_database,
    three_attempts, attempts_with_installs, approach_reversed, put_back_by_git, looked_up, errors_that_hide_each_other,
    long_and_rewritten, hidden_status, a_variable_was_missing, seen_by_a_wider_check,
    seen_by_the_projects_own_name, another_error_in_the_same_test, put_aside_to_compare, warned_all_the_while,
]  # fmt: skip
