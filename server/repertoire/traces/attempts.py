"""Folds the hook payloads of a session into problems: commands that fail, the attempts at them, their solutions.

A problem is a command that failed; it is solved when the same work passes after something was changed. An attempt is
what was changed between two failures, if it is something new: prints for debugging, documents and a second run are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from repertoire.domain.text import clean_line
from repertoire.traces import hunks as edits
from repertoire.traces import progress
from repertoire.traces.invocations import Invocation, Part, Shell, invocation_of, same_work
from repertoire.traces.known_failures import after_command, changed, has_mended, remember, settle
from repertoire.traces.problem import OPEN, SOLVED, Problem, Round, SessionTrace
from repertoire.traces.readings import is_network, marks_in, round_of, sums_up_failure, told_failure
from repertoire.traces.steps import CALL, COMMAND, CUT, EDIT, FAILED, LOOK, PROMPT, Step, step_of

PROBLEMS, CHANGES = 4, 40
_LANGUAGES_KEPT = 4
_FORGOTTEN = 4 * 3600.0  # seconds after which an open problem counts as given up
_LANGUAGES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "ts": "typescript", "tsx": "typescript", "go": "go", "rs": "rust", "java": "java", "kt": "kotlin", "rb": "ruby",
    "php": "php", "cs": "csharp", "swift": "swift", "scala": "scala", "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp",
    "ex": "elixir", "sh": "shell", "sql": "sql", "tf": "terraform", "vue": "vue", "svelte": "svelte", "dart": "dart",
}  # fmt: skip


def fold(session: SessionTrace, told: Mapping[str, Any], shell: Shell) -> SessionTrace:
    """Return the session after one more hook; an unexpected payload changes nothing."""
    step = step_of(told)
    take = _TAKES.get(step.kind) if step is not None else None
    return take(session, step, shell) if take is not None and step is not None else session


def _command(session: SessionTrace, step: Step, shell: Shell) -> SessionTrace:
    here = invocation_of(step.command, shell)
    here = replace(here, folder=step.place or here.folder, outside=step.outside)
    known = after_command(session.failed, here, step.printed, ended=step.end != CUT)
    session = replace(session, failed=known)
    if step.end == CUT:
        return session
    session = _without_old(session, step.at)
    if step.end == FAILED:
        if not here.parts or (here.filtered and not told_failure(step.printed)):
            return session
        return _failed(_acted(session, here) if len(here.parts) > 1 else session, step, here)
    if any(_failed_all_the_same(part, step.printed) for part in here.parts):
        return _failed(session, step, here)
    return _passed(_acted(session, here), step, here)


def _failed_all_the_same(part: Part, printed: str) -> bool:
    """Tell whether a command failed although the pipeline succeeded, as in `pytest | tail`."""
    if part.sure:
        return part.check and sums_up_failure(printed)
    return told_failure(printed)


def _failed(session: SessionTrace, step: Step, here: Invocation) -> SessionTrace:
    part = here.blamed
    if part is None:
        return session
    marks = marks_in(step.printed)
    this = round_of(step.printed, marks)
    session = replace(session, failures=session.failures + 1)
    found = _same_problem(session.problems, part, here, this)
    begun = found or Problem(
        part, here.folder, step.at, session.failures, session.written_tests and part.check, network=True, usage=True
    )
    known = progress.continued(begun, here, this) if found else replace(begun, last=this)
    known = progress.described(known, step, here, marks)
    others = [each for each in session.problems if each is not found]
    headline = marks[0].headline if marks else ""
    if not (is_network(step.printed) or has_mended(here, step.printed)):
        session = replace(session, failed=remember(session.failed, here, headline, step.at))
    return replace(session, problems=_fewest([*others, known]), written_tests=False)


def _same_problem(problems: Iterable[Problem], part: Part, here: Invocation, this: Round) -> Problem | None:
    alike = [each for each in problems if same_work(each.part, part) and progress.same_folder(each.folder, here.folder)]
    still = [each for each in alike if each.state == OPEN]
    closed = [each for each in alike if each.state == SOLVED and not each.offered]
    again = [each for each in closed if each.keys & this.keys or progress.was_passed_by(each, here)]
    return next(reversed([*again, *still]), None)


def _passed(session: SessionTrace, step: Step, here: Invocation) -> SessionTrace:
    problems = []
    for each in session.problems:
        part = progress.solver(each, here, step.printed)
        after = progress.solved(each, step, here, part) if each.state == OPEN and part is not None else each
        if after is not None:
            problems.append(after)
    return replace(
        session,
        problems=tuple(problems),
        failed=settle(session.failed, here),
        written_tests=session.written_tests and not any(part.check for part in here.parts),
    )


def _acted(session: SessionTrace, here: Invocation) -> SessionTrace:
    """Count a command that changes something as part of the attempt at each open problem."""
    if here.changes or here.undoes:
        take = progress.acted_on
    elif any(not part.check for part in here.parts):
        take = progress.touched
    else:
        return session
    problems = tuple(
        take(each, here)
        if each.state == OPEN and not progress.is_own(each, here) and not progress.is_elsewhere(each, here)
        else each
        for each in session.problems
    )
    return replace(session, problems=problems)


def _edited(session: SessionTrace, step: Step, _: Shell) -> SessionTrace:
    session = replace(session, languages=progress.appended(session.languages, _language(step.file), _LANGUAGES_KEPT))
    for old, new in step.hunks:
        if old != new and not edits.tries_nothing(step.file, old, new):
            session = _hunk(session, step, old, new)
    return replace(session, written_tests=session.written_tests or edits.is_test(step.file), failed=())


def _hunk(session: SessionTrace, step: Step, old: str, new: str) -> SessionTrace:
    change = edits.change_of(step.file, old, new, session.failures)
    earlier = [each for each in session.changes if each.time < session.failures]
    reversed_ = [each for each in earlier if edits.reverses(change, each)]
    gone = [(each, edits.gone(step.file, old, new, each, whole=step.whole)) for each in earlier]
    thrown = [each for each, lines in gone if lines >= (1 if step.whole else edits.APPROACH)]
    rewritten = [each for each, lines in gone if lines]
    back = any(edits.reverses(change, each) for each in session.changes)
    problems = tuple(
        each
        if each.state != OPEN
        else progress.edited(each, change, (old, new), (reversed_ + thrown, rewritten), back=back, whole=step.whole)
        for each in session.problems
    )
    return replace(session, problems=problems, changes=(*session.changes, change)[-CHANGES:])


def _looked(session: SessionTrace, step: Step, _: Shell) -> SessionTrace:
    query = clean_line(step.query, 120)
    problems = tuple(progress.looked(each, query) if each.state == OPEN else each for each in session.problems)
    return replace(session, problems=problems)


def _without_old(session: SessionTrace, at: float) -> SessionTrace:
    if all(at - each.seen < _FORGOTTEN for each in session.problems):
        return session
    return replace(session, problems=tuple(each for each in session.problems if at - each.seen < _FORGOTTEN))


def _language(file: str) -> str:
    return _LANGUAGES.get(file.rsplit(".", 1)[-1].lower(), "")


def _fewest(problems: list[Problem]) -> tuple[Problem, ...]:
    """Return the problems to keep: offered ones are dropped first, then those that failed longest ago."""
    excess = sorted(problems, key=lambda each: (not each.offered, each.seen))[: max(0, len(problems) - PROBLEMS)]
    return tuple(each for each in problems if each not in excess)


_TAKES: Mapping[str, Callable[[SessionTrace, Step, Shell], SessionTrace]] = {
    COMMAND: _command,
    EDIT: _edited,
    LOOK: _looked,
    CALL: lambda session, *_: changed(session),
    PROMPT: lambda session, *_: changed(session),  # before it a person may have changed anything
}
