"""Classifies a shell command, apart from its result: equal to another, only reading, or a change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from repertoire.domain.text import clean_line
from repertoire.traces.expressions import expression

SHOWN, _PARTS, _TARGETS = 160, 12, 12

# Commands that only read: their exit status is an answer, and a failure is no problem.
_READS = frozenset(
    """grep egrep fgrep rg ag ack diff cmp comm test [ [[ which whereis type command hash pgrep ls ll dir tree cat bat
    head tail less more stat file find fd locate wc sort uniq cut tr awk gawk jq yq xxd od strings nm readelf
    objdump ldd otool ps top lsof netstat ss env printenv id whoami uname hostname df du free man help history
    basename dirname realpath readlink md5sum sha256sum xargs column nl tac seq expr let dig nslookup host
    ping""".split()
)
_TRIVIAL = frozenset(
    """cd pushd popd echo printf export source . set unset true false : sleep wait mkdir touch alias clear date pwd
    exit return trap ulimit umask time local declare shopt read tee""".split()
)
_READING_VERBS = frozenset(
    """ls list ll show view info why log logs status diff blame grep get describe inspect ps images freeze outdated
    audit version help doctor env history search explain cat head whoami tree top events branch remote rev-parse
    ls-files ls-remote shortlog reflog""".split()
)
_CHANGING = frozenset(
    """rm mv cp ln chmod chown patch kill pkill killall systemctl service brew apt apt-get dnf yum apk pacman corepack
    nvm fnm pyenv rbenv rustup sdk asdf volta createdb dropdb initdb rsync unzip tar virtualenv export source .
    mkdir touch ulimit sysctl unset""".split()
)
_CHANGING_VERBS = frozenset(
    """install i add remove rm uninstall upgrade update up down restart start stop ci migrate makemigrations prune
    clean init reset set apply delete link unlink rebuild dedupe sync lock use config create clear cache seed
    generate codegen tidy get patch scale rollout pull checkout restore stash revert cherry-pick merge rebase
    submodule switch cp mv volume network compile relock venv fix autoremove unset enable disable purge flush""".split()
)
_MANAGERS = frozenset(
    """npm pnpm yarn bun pip pip3 uv poetry pipenv pdm conda mamba cargo go gem bundle composer mvn gradle gradlew
    dotnet nuget mix docker podman docker-compose kubectl helm git make gmake just task rake invoke inv
    terraform tofu rails manage.py artisan alembic flask prisma sequelize knex npx nx turbo lerna swift flutter
    dart sbt lein stack cabal hatch tox nox pre-commit vercel netlify wrangler firebase gcloud aws az heroku fly
    flyctl ansible-playbook vagrant minikube kind skaffold systemctl service brew deno ng vue-cli-service next
    cmake meson bazel pod fastlane xcodebuild""".split()
)
_INSTALLS = frozenset(
    "install i add get update upgrade ci require migrate".split()
)  # subcommands whose target is a package: installing one package is not installing all
_OTHER_CHECKS = "lint type tsc mypy ruff format vet clippy e2e playwright cypress integration git".split()
_PACKAGED = _INSTALLS | {"uninstall", "remove", "rm"}  # subcommands whose arguments are all names of packages
_VALUED = frozenset("-f -C -n --prefix --file --namespace --project --cwd --workspace --filter --context --dir".split())
HOOKED = ("git commit", "git push")  # commands that run the project's checks as hooks
_NESTED = frozenset("run compose exec pip volume network config mod stash rollout cache tool".split())
_INTERPRETERS = frozenset("python python3 python2 py node nodejs ruby perl php bash sh zsh deno ts-node tsx".split())
_SNIPPET = frozenset("-c -e -p --eval --print -".split())
_ALIASES = {
    "gradlew": ("gradle",),
    "mvnw": ("mvn",),
    "pip3": ("pip",),
    "docker-compose": ("docker", "compose"),
}
_WRAPPERS = frozenset("sudo env time timeout gtimeout nice nohup npx bunx pnpx exec stdbuf cross-env xvfb-run".split())
_RUN_BY = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("npm", "exec"),
    ("yarn", "exec"),
}
_RUNNERS = frozenset("npm pnpm yarn bun make gmake just task tox nox gradle gradlew mvn rake invoke inv poe".split())
_FILTERS = frozenset("grep egrep fgrep rg head tail tee sort uniq cut tr awk sed less cat wc jq".split())

_RUNS = "-delete -exec -execdir -ok -okdir -fprint -fprintf -x -X --exec --exec-batch"
_WRITING: Mapping[str, str] = {  # options by which a command writes a file that else only reads
    "find": _RUNS,
    "fd": _RUNS,
    "sort": "-o",
    "tree": "-o",
    "awk": "-i",
    "gawk": "-i",
    "yq": "-i --inplace",
}
_MENDING: Mapping[str, str] = {  # short options by which a check repairs what it finds
    **dict.fromkeys("vitest jest playwright npm pnpm yarn bun".split(), "-u"),
    "rubocop": "-a -A -x",
    "ktlint": "-F",
}
_HOOKS_MEND = frozenset("pre-commit prek lefthook lint-staged".split())
_MORE_THAN_READS = frozenset("xargs tee sleep wait".split())  # `sleep`: what is waited for may change something

_PLAIN = expression(r"[A-Za-z][\w:-]*")
_SETTING = expression(r"(?:^|[\s;&|(])([A-Z_][A-Z0-9_]*=[^\s;&|]*)")
_WRITES = expression(r"(?:^|[^0-9&>])>{1,2}[ ]*[\w./~$\"'{-]")
_TO_NOWHERE = expression(r"[0-9&]?>{1,2}[ ]*(?:/dev/null|&[0-9-])")
_PROGRAM_WRITES = expression(r"""write_text|\.write\(|writeFile|open\([^)]{0,200}['"][wa]|File\.write|json\.dump\(""")
_VERSION = expression(r"(?:[@=<>~!^]|\[|:\d).*$")
_MENDS = expression(
    r"""--(?:fix|write|update|auto-?correct|auto-?fix|apply|accept|in-?place|snapshot-update|install-types)[\w=-]*
    |(?:[\w-]+[:_-])?fix(?:[:_-][\w-]+)?"""
)
_SUBSTITUTED = expression(r"[$<>]\(|`")  # what runs in there is not parsed
_LOGIN = expression(r"://[^\s/@:]*:[^\s/@]+@")
_DIGITS = expression(r"\d+")


class RanPart(Protocol):
    """A simple command as the shell parser returns it."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return its words, without assignments and redirections."""

    @property
    def sure(self) -> bool:
        """Tell whether it succeeded if the whole command line did."""

    @property
    def piped(self) -> bool:
        """Tell whether it is part of a pipeline."""


@dataclass(frozen=True)
class Shell:
    """Functions about shell commands from other packages: parse, tell checks, tell undo commands."""

    commands: Callable[[str], Sequence[RanPart]]
    is_check: Callable[[Sequence[str]], bool]
    undoes: Callable[[Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Part:
    """A simple command that does work, unlike `cd` or `ls`."""

    family: str  # program and subcommand, such as `npm run build` or `pytest`
    targets: frozenset[str]  # the files or packages it works on; empty for all
    check: bool
    runner: bool  # it runs a script that the project defines
    sure: bool


@dataclass(frozen=True, slots=True)
class Invocation:
    """A classified shell command; equal keys mean the same command, whatever filters or timeouts surround it."""

    key: str
    line: str  # the text to show
    folder: str  # where it ran, as far as known
    outside: bool = False  # outside of the session's project
    parts: tuple[Part, ...] = ()
    changes: bool = False
    undoes: bool = False  # it undoes changes or puts them aside
    aside: bool = False
    settings: bool = False  # it sets environment variables
    filtered: bool = False  # its exit status comes from a filter, such as grep
    reads: bool = False  # it surely changes nothing: it only reads and checks
    mends: bool = False  # it may itself repair what it finds, even where it fails

    @property
    def blamed(self) -> Part | None:
        """Return the part to which a failure is attributed: the last check, else the last part."""
        return next((part for part in reversed(self.parts) if part.check), self.parts[-1] if self.parts else None)


def invocation_of(text: str, shell: Shell) -> Invocation:
    """Classify a command; one that cannot be parsed is identified by its text alone."""
    text = _LOGIN.sub("://", text)  # here, because what is cut or split later no longer looks like a login
    ran = [each for each in shell.commands(text) if each.words][: 4 * _PARTS]
    named = [(each, words) for each in ran if (words := _unwrapped(each.words))]
    working = [(each, words) for each, words in named if _works(words)]
    parts = tuple(_part(each, words, shell) for each, words in working[:_PARTS])
    told = " && ".join(" ".join(words) for _, words in working) or " ".join(text.split())
    settings = " ".join(sorted(set(_SETTING.findall(text))))
    folder = next((each.words[1].rstrip("/") for each in ran if each.words[0] == "cd" and len(each.words) > 1), "")
    aside = any(_puts_aside(each.words) for each in ran)
    mends = any(_mends(words) for _, words in named)
    plain = not (mends or _SUBSTITUTED.search(text) or _WRITES.search(_TO_NOWHERE.sub(" ", text)))
    return Invocation(
        key=digest(f"{folder}\n{settings}\n{told}"),
        line=clean_line(text, SHOWN),
        folder=folder,
        parts=parts,
        changes=any(_changes(words) for _, words in named) or _writes(text, ran),
        undoes=aside or any(shell.undoes(each.words) for each in ran),
        aside=aside,
        settings=bool(settings),
        filtered=bool(ran) and ran[-1].piped and _name(ran[-1].words[0]) in _FILTERS,
        reads=plain and bool(named) and all(_only_reads(each, words, shell) for each, words in named),
        mends=mends,
    )


def same_work(problem: Part, here: Part) -> bool:
    """Tell whether two commands do the same work on overlapping targets."""
    if problem.family != here.family and not _is_its_runner(problem, here):
        return False
    if problem.targets and here.targets:
        return _overlap(problem.targets, here.targets)
    return problem.targets == here.targets or problem.family.split()[-1] not in _INSTALLS


def _is_its_runner(problem: Part, here: Part) -> bool:
    """Tell whether one of two checks runs tests directly, and the other through the project's test script."""
    return problem.check and here.check and problem.runner != here.runner and _tests(problem) and _tests(here)


def digest(text: str) -> str:
    """Return a short digest of a text, equal in every process."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _tests(part: Part) -> bool:
    """Tell whether a check runs tests that the project's test script also runs: no linter, no browser tests."""
    return not any(word in part.family for word in _OTHER_CHECKS)


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    return any(a.startswith(b) or b.startswith(a) for a in one for b in other)


def _unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    rest = list(words)
    for _ in range(6):
        if not rest:
            break
        name = _name(rest[0])
        if name in _WRAPPERS:
            rest = _past(rest[1:], duration=name.endswith("timeout"))
        elif tuple(rest[:2]) in _RUN_BY:
            rest = _past(rest[2:])
        elif name in _INTERPRETERS and rest[1:2] == ["-m"] and len(rest) > 2:
            rest = rest[2:]
        else:
            return _plainly(name, rest[1:])
    return tuple(rest)


def _plainly(name: str, rest: Sequence[str]) -> tuple[str, ...]:
    """Return the usual form of a command: `npm run test` becomes `npm test`."""
    if name in ("npm", "pnpm", "yarn", "bun") and rest[:1] in (["run"], ["run-script"]):
        rest = rest[1:]
    return (*_ALIASES.get(name, (name,)), *rest)


def _past(words: list[str], *, duration: bool = False) -> list[str]:
    while words and (words[0].startswith("-") or "=" in words[0]):
        words = words[1:]
    return words[1:] if duration else words


def _works(words: Sequence[str]) -> bool:
    name, rest = words[0], words[1:]
    if name in _READS or name in _TRIVIAL or _only_tells(rest):
        return False
    if name in _INTERPRETERS:
        return bool(rest) and not _SNIPPET & set(rest[:2])
    if name == "sed":
        return any(word.startswith(("-i", "--in-place")) for word in rest)
    verb = _first_plain(rest)
    if (name, verb) in (("go", "get"), ("git", "remote")):
        return any(word in _CHANGING_VERBS or word.startswith("set-") for word in rest)
    return name not in _MANAGERS or verb not in _READING_VERBS


def _only_tells(rest: Sequence[str]) -> bool:
    return bool(rest) and set(rest) <= {"--version", "-v", "-V", "--help", "-h"}


def _only_reads(ran: RanPart, words: Sequence[str], shell: Shell) -> bool:
    """Tell whether a command surely changes nothing; a program's text or another command may do anything."""
    if _works(words):
        return shell.is_check(ran.words) and _family(words)[0] not in HOOKED
    name = _name(words[0])
    if name in _MORE_THAN_READS or (name in _INTERPRETERS and not _only_tells(words[1:])):
        return False
    writing = _WRITING.get(name, "").split()
    return not (_changes(words) or any(word in writing for word in words))


def _mends(words: Sequence[str]) -> bool:
    name, rest = _name(words[0]), words[1:]
    if name in _READS or name in _TRIVIAL:
        return False
    if name in _HOOKS_MEND or _family(words)[0] == "git commit":
        return True
    short = _MENDING.get(name, "").split()
    return any(word in short or _MENDS.fullmatch(word) for word in rest)


def _first_plain(words: Sequence[str]) -> str:
    return next((word for word in words if _PLAIN.fullmatch(word)), "")


def _part(ran: RanPart, words: Sequence[str], shell: Shell) -> Part:
    family, used = _family(words)
    check = shell.is_check(ran.words) or family in HOOKED
    targets = frozenset() if family in HOOKED else _targets(words[used:], every=family.split()[-1] in _PACKAGED)
    return Part(family, targets, check, words[0] in _RUNNERS, ran.sure)


def _targets(words: Sequence[str], *, every: bool) -> frozenset[str]:
    """Return the files or packages that arguments name; words after an option must be files, unless `every`."""
    named = [
        _target(word)
        for before, word in pairwise(("", *words))
        if not word.startswith("-")
        and word not in (".", "./...")
        and (every or not before.startswith("-") or before == "--" or "/" in word or "." in word)
    ]
    return frozenset([target for target in named if target][:_TARGETS])


def _family(words: Sequence[str]) -> tuple[str, int]:
    """Return the family of a command (program and subcommand), and the number of words it takes."""
    name, kept, used = words[0], [words[0]], 1
    if name in _INTERPRETERS:
        at = next((at for at, word in enumerate(words[1:], 1) if not word.startswith("-")), 0)
        script = _name(words[at]) if at else ""
        inner, taken = _family((script, *words[at + 1 :])) if script and script not in _INTERPRETERS else (name, 1)
        return inner, at + taken
    deep = 1 if name in _MANAGERS else 0
    while deep and used < len(words):
        word = words[used]
        used += 1
        if word.startswith("-") or words[used - 2] in _VALUED:
            continue
        if not _PLAIN.fullmatch(word) and word not in _NESTED:
            return " ".join(kept), used - 1
        kept.append(word)
        deep = deep if word in _NESTED and len(kept) < 3 else deep - 1
    return " ".join(kept)[:80], used


def _target(word: str) -> str:
    """Return the file or package in a word, without version, line number or test name."""
    bare = word[:120].partition("::")[0].removeprefix("./").rstrip("/")
    named = _VERSION.sub("", bare[1:]) if bare.startswith("@") else _VERSION.sub("", bare)
    return named[:60] if not _DIGITS.fullmatch(named) else ""


def _changes(words: Sequence[str]) -> bool:
    name, rest = words[0], words[1:]
    if name in _CHANGING:
        return True
    if name in ("sed", "perl"):
        return any(word.startswith(("-i", "--in-place", "-pi")) for word in rest)
    plain = [word for word in rest if not word.startswith("-")][:3]
    if name == "git":
        return bool(plain) and plain[0] in _CHANGING_VERBS - {"get", "init", "config"}
    return _works(words) and any(word.rpartition(":")[2] in _CHANGING_VERBS for word in plain[:2])


def _puts_aside(words: Sequence[str]) -> bool:
    return tuple(words[:2]) == ("git", "stash") and (len(words) == 2 or words[2].startswith(("-", "push", "save")))


def _writes(text: str, ran: Sequence[RanPart]) -> bool:
    """Tell whether a command writes text to a file, by redirecting output or by an inline program."""
    names = {_name(each.words[0]) for each in ran}
    if names & {"cat", "echo", "printf", "tee"} and _WRITES.search(_TO_NOWHERE.sub(" ", text.split("\n", 1)[0])):
        return True
    return bool(names & _INTERPRETERS) and _PROGRAM_WRITES.search(text) is not None


def _name(word: str) -> str:
    return word.replace("\\", "/").rsplit("/", 1)[-1]
