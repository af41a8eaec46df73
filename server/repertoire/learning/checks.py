"""Recognises commands that check code (tests, type checkers, linters) by program names and arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_ALWAYS = frozenset(
    """pytest py.test unittest nose2 trial behave robot tox nox mypy dmypy pyright basedpyright flake8 pylint pyflakes
    pycodestyle pydocstyle pydoclint bandit vulture lint-imports jest vitest mocha ava jasmine karma eslint tsc vue-tsc
    svelte-check stylelint oxlint xo standard jshint tslint cucumber cucumber-js rspec minitest rubocop standardrb reek
    phpunit pest phpstan psalm phpcs ctest bats shellcheck hadolint yamllint actionlint markdownlint markdownlint-cli2
    staticcheck gotestsum ginkgo ktlint detekt swiftlint hlint elm-test tflint ansible-lint cfn-lint prove busted
    luacheck clang-tidy cppcheck""".split()
)
_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    name: frozenset(subcommands.split())
    for names, subcommands in {
        "go": "test vet",
        "cargo": "test t check clippy nextest",
        "dotnet swift zig dbt hatch stack cabal": "test",
        "mix": "test credo dialyzer",
        "sbt lein meson forge hardhat truffle anchor": "test check",
        "bazel bazelisk buck2 pants deno": "test lint check",
        "flutter dart": "test analyze",
        "ng vue-cli-service next react-scripts astro craco": "test lint check",
        "ruff ty biome trunk": "check lint ci",
        "playwright": "test",
        "cypress golangci-lint pre-commit prek lefthook": "run",
        "terraform tofu": "validate",
        "helm buf sqlfluff": "lint",
        "artisan manage.py setup.py": "test check",
        "srb": "tc",
        "node tsx": "--test",
    }.items()
    for name in names.split()
}
_PACKAGERS = frozenset("npm pnpm yarn bun composer".split())
_RUNNERS = _PACKAGERS | frozenset(
    """make gmake just task invoke inv rake mvn mvnw gradle gradlew turbo nx lerna moon poe mise rails
    xcodebuild""".split()
)
_SCRIPTED = frozenset("hatch pdm poetry pipenv pixi rye".split())  # managers whose `run` runs project scripts too
_TARGET = re.compile(
    r"""(?:[\w.:-]*:)?(?:run[-_])?
    (?:t|tests?|testall|unit|e2e|spec|lint|linters?|checks?|type-?checks?|types|clippy|vet|verify|validate|ci)
    (?:[:\-_.](?!(?:watch|data|setup|env|db|fix|deps|ui|debug|update|install|init|prepare|build|list|clean)\b).+)?
    | [\w:]+Test | testOnly\b.*""",
    re.VERBOSE,
)
_NOT_RUN = frozenset("install add remove i ci init create publish update upgrade uninstall why info view".split())
_SCRIPT = re.compile(
    r"""(?:(?:run|all|unit)[-_]?)*(?:tests?|checks?|lint|specs?)(?:[-_]all)?(?:\.(?:sh|bash|bat|cmd|ps1))?
    | (?:run|all)[-_]?(?:all[-_]?)?(?:tests?|checks?|lint)\.\w+""",
    re.VERBOSE,
)
_TELLS_ONLY = frozenset(
    """--version --help -h --collect-only --co --fixtures --markers --init --watch --watchAll --watch-all --dry-run
    --list --list-tests --listTests --showConfig --show-config --print-config --no-run --exit-zero --setup-plan
    --cache-show --show-files --show-settings --issues-exit-code=0 -DskipTests -DskipTests=true
    -Dmaven.test.skip=true""".split()
)
_TELLS_ONLY_OF: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "pytest": "-V",
        "mypy": "-V",
        "ctest": "-N",
        "tsc": "-w -v",
        "vue-tsc": "-w",
        "eslint": "-v",
        "vitest": "-w -v watch dev list init",
        "tox": "-l -a --listenvs --listenvs-all",
        "nox": "-l --list-sessions",
        "make": "-n --just-print -q --question",
        "go": "-list -c",
    }.items()
}

# Programs that run the command behind them, each with its options that take a value.
_WRAPPERS: Mapping[str, str] = {
    **dict.fromkeys("nohup setsid command exec chronic unbuffer caffeinate cross-env".split(), ""),
    **dict.fromkeys(("timeout", "gtimeout"), "-k -s --signal --kill-after"),
    "env": "-u -C --unset --chdir",
    "time": "-f -o",
    "nice": "-n",
    "ionice": "-c -n",
    "sudo": "-u -g",
    "stdbuf": "-o -e -i",
    "xvfb-run": "-s -n",
    "dotenv": "-e -f -c",
    "npx": "-p --package -w --workspace",
    "bunx": "-p --package",
    "uvx": "--from --with --python -p",
}
_PYTHON_RUN = (
    "-p --python --extra --group --with --package --directory --project --env-file --only-group --manifest-path"
)
_CONTAINER = "-e -u -w -f -p -v --env --user --workdir --file --name --entrypoint --profile --network --volume"
_RUN_BY: Mapping[str, tuple[str, str]] = {  # by program: subcommands that run a command, options that take a value
    **dict.fromkeys("uv poetry pdm pipenv rye pixi pipx hatch".split(), ("run", _PYTHON_RUN)),
    **dict.fromkeys("conda mamba micromamba".split(), ("run", "-n -p --name --prefix")),
    **dict.fromkeys("docker podman docker-compose".split(), ("exec run", _CONTAINER)),
    "bundle": ("exec", ""),
    "mise": ("exec x", ""),
    "npm": ("exec x", "-p --package -w --workspace --prefix"),
    "pnpm": ("exec dlx", "--filter -F -C --dir --prefix"),
    "yarn": ("exec dlx", "--cwd"),
    "bun": ("x", "--cwd"),
    "coverage": ("run", "--source --rcfile --data-file --omit --include"),
}
_CONTAINERS = frozenset("docker podman docker-compose".split())
_RUNNER_VALUES = "-x -C -f -F -w -p -pl --filter --prefix --cwd --dir --exclude-task --projects --directory"
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|py")
_INTERPRETERS = frozenset("bash sh zsh dash php ruby perl pwsh node".split())
_AFTER_NAME = re.compile(r"(?<=.)@[\w.^~-]*$|\.(?:exe|cmd|bat)$")
_DEEP = 6  # nested wrappers at most


def is_check(words: Sequence[str], *, depth: int = 0) -> bool:
    """Tell whether a simple shell command is a check, such as a test run or a linter."""
    words = _unwrapped(words)
    if not words:
        return False
    name, arguments = _name(words[0]), words[1:]
    if any(word in _TELLS_ONLY or word in _TELLS_ONLY_OF.get(name, ()) for word in arguments):
        return False
    if name in _ALWAYS:
        return True
    if name in _SUBCOMMANDS and _subcommand(arguments) & _SUBCOMMANDS[name]:
        return True
    if name in _RUNNERS:
        return _runs_a_check(name, arguments, depth)
    return "/" in words[0] and _SCRIPT.fullmatch(name) is not None  # a bare `test` is the shell builtin


def _subcommand(arguments: Sequence[str]) -> set[str]:
    options = {word for word in arguments if word.startswith("-")}
    first = next((word for word in arguments if not word.startswith(("-", "+"))), "")
    return {first, *options}


def _runs_a_check(name: str, arguments: Sequence[str], depth: int) -> bool:
    own = _past_options(arguments, _RUNNER_VALUES)
    if name in _PACKAGERS and own and own[0] in _NOT_RUN:
        return False
    targets, place = [], 0
    while place < len(arguments) and arguments[place] != "--":
        if arguments[place] in _RUNNER_VALUES.split():
            place += 1
        elif not arguments[place].startswith("-"):
            targets.append(arguments[place])
        place += 1
    if any(_TARGET.fullmatch(target) for target in targets):
        return True
    return name in _PACKAGERS and depth < _DEEP and is_check(own, depth=depth + 1)


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """Return a command without what runs it: wrappers, environment managers, interpreters, containers."""
    for _ in range(_DEEP):
        inner = _inner(words) if words else None
        if inner is None:
            break
        words = inner
    return words


def _inner(words: Sequence[str]) -> Sequence[str] | None:
    name, rest = _name(words[0]), words[1:]
    if name == "command" and rest and rest[0] in ("-v", "-V"):  # tells where a program is, and runs nothing
        return None
    if name in _WRAPPERS:
        rest = _past_options(rest, _WRAPPERS[name])
        while rest and _ASSIGNED.match(rest[0]):
            rest = rest[1:]
        return rest[1:] if name.endswith("timeout") else rest  # without timeout's duration
    if name in _RUN_BY:
        return _run_by(name, rest)
    if _PYTHON.fullmatch(name):
        rest = _past_options(rest, "-W -X", until="-m")
        return rest[1:] if rest and rest[0] == "-m" else _script(rest)
    if name in _INTERPRETERS and "--test" not in rest and "-c" not in rest:
        return _script(_past_options(rest, ""))
    return None


def _run_by(name: str, rest: Sequence[str]) -> Sequence[str] | None:
    subcommands, values = _RUN_BY[name]
    rest = _past_options(rest, values)
    if name in _CONTAINERS and rest and rest[0] == "compose":
        rest = _past_options(rest[1:], values)
    if not rest or rest[0] not in subcommands.split():
        return None
    rest = _past_options(rest[1:], values, until="-m" if name == "coverage" else "")
    if name == "coverage":
        return ("python", *rest)
    if name in _CONTAINERS:
        return _past_options(rest[1:], "")
    return ("just", *rest) if name in _SCRIPTED and rest and _TARGET.fullmatch(rest[0]) else rest


def _script(rest: Sequence[str]) -> Sequence[str] | None:
    return (f"./{rest[0]}", *rest[1:]) if rest else None


def _past_options(words: Sequence[str], values: str, *, until: str = "") -> Sequence[str]:
    """Return the words after the leading options; those in `values` take the next word as their value."""
    place, with_value = 0, values.split()
    while place < len(words) and words[place].startswith("-") and words[place] != until:
        if words[place] == "--":
            return words[place + 1 :]
        place += 2 if words[place] in with_value else 1
    return words[place:]


def _name(word: str) -> str:
    """Return a program's name without its folder, version and Windows suffix."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1]
    return _AFTER_NAME.sub("", name)
