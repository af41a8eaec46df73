"""Drafts a trace from a solved problem (failure, attempts, solution, environment) for a person to edit."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.domain.text import clean_line
from repertoire.traces.hunks import Hunk
from repertoire.traces.problem import Mark, Problem, SessionTrace

TITLE, TEXT = 120, 4_000
_TAGS, _EXCERPT = 8, 800
_GENERAL = frozenset("run test exec build install check start main".split())

_SPOKEN = {
    name: language
    for language, names in {
        "python": "py pip pytest uv poetry mypy ruff tox alembic",
        "javascript": "js mjs cjs npm pnpm yarn bun jest vitest webpack vite next",
        "typescript": "ts tsc",
        "go": "go",
        "rust": "cargo rustc",
        "java": "mvn gradle java",
        "ruby": "rb bundle rspec rails rake gem",
        "php": "php composer phpunit artisan",
        "csharp": "dotnet",
        "shell": "sh",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True)
class Draft:
    """A draft of a trace. It contains text from the screen: redact it before it is shown or stored."""

    title: str
    context: str
    solution: str
    languages: tuple[str, ...]
    tags: tuple[str, ...]


def draft_of(session: SessionTrace, problem: Problem) -> Draft:
    """Return the draft for a solved problem, every part of it capped."""
    main = problem.mark
    return Draft(
        title=_title(problem, main),
        context=_context(problem),
        solution=_solution(problem),
        languages=_languages(session, problem),
        tags=_tags(_languages(session, problem), problem, main),
    )


def _title(problem: Problem, main: Mark | None) -> str:
    return clean_line(main.headline if main else f"{problem.part.family} fails", TITLE)


def _context(problem: Problem) -> str:
    parts = [f"`{problem.commands[0]}` failed:" if problem.commands else "A command failed:", _quoted(problem.excerpt)]
    if problem.commands[1:]:
        parts += ["Also run:", *(f"- `{line}`" for line in problem.commands[1:])]
    if problem.attempts:
        parts += ["Tried before:", *(f"- {line}" for line in problem.attempts)]
    if problem.looks:
        parts += ["Looked up:", *(f"- {line}" for line in problem.looks)]
    return "\n".join(parts)[:TEXT]


def _solution(problem: Problem) -> str:
    last = problem.stuck + problem.moved + problem.varied
    final = [hunk for hunk in problem.hunks if hunk.round == last]
    before = [hunk for hunk in problem.hunks if hunk.round != last]
    parts = [_shown(hunk) for hunk in final]
    if problem.pending.commands:
        parts += ["Commands:", *(f"- `{line}`" for line in problem.pending.commands)]
    if before:
        parts += ["Changed before, and left so:", *(_shown(hunk) for hunk in before)]
    parts.append(f"Then `{problem.passed}` passed.")
    return "\n".join(parts)[:TEXT]


def _shown(hunk: Hunk) -> str:
    lines = [f"- {line}" for line in hunk.old.splitlines()] + [f"+ {line}" for line in hunk.new.splitlines()]
    return f"{hunk.file}\n" + _quoted("\n".join(lines))


def _quoted(text: str) -> str:
    return "\n".join(f"    {clean_line(line, 200)}" for line in text[-_EXCERPT:].splitlines() if line.strip())


def _languages(session: SessionTrace, problem: Problem) -> tuple[str, ...]:
    """Return the languages of the edited files, or of the failing program if no file was edited."""
    program = problem.part.family.split()[0].rpartition(".")[2]
    return session.languages or ((_SPOKEN[program],) if program in _SPOKEN else ())


def _tags(languages: tuple[str, ...], problem: Problem, main: Mark | None) -> tuple[str, ...]:
    program = [word for word in problem.part.family.lower().split() if word not in _GENERAL]
    kind = [main.exception.lower()] if main and main.exception else []
    return tuple(dict.fromkeys(word[:40] for word in (*languages, *program, *kind) if word))[:_TAGS]
