"""Folds what hooks tell of a session: which commands fail, what is tried then, and which pass in the end.

A problem is a command that failed; it is solved when the same work passes after something was changed. An attempt is
what was changed between two failures, if it is something new: prints for debugging, documents and a second run are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from repertoire.domain.text import clean_line, content_words
from repertoire.traces import hunks as edits
from repertoire.traces.expressions import expression
from repertoire.traces.hunks import Change, Hunk
from repertoire.traces.invocations import Invocation, Part, Shell, digest, invocation_of, same_work
from repertoire.traces.known_failures import remember, settle
from repertoire.traces.problem import OPEN, SOLVED, Mark, Pending, Problem, Round, SessionTrace
from repertoire.traces.readings import (
    is_network,
    is_usage,
    marks_in,
    round_of,
    sums_up_failure,
    told_failure,
    versions_in,
)
from repertoire.traces.steps import COMMAND, CUT, EDIT, FAILED, LOOK, Step, step_of

PROBLEMS, CHANGES = 4, 40
_MARKS, _COMMANDS, _LOOKS, _ATTEMPTS, _LINES, _HUNKS, _TRIED, _VERSIONS = 4, 4, 6, 10, 6, 8, 60, 24
_EXCERPT, _LINE, _NAMED = 1_200, 200, 2
_FORGOTTEN = 4 * 3600.0  # seconds: what was left so long ago was given up
_REMOVES = frozenset(("uninstall", "remove", "rm", "un", "r"))
_LESS = expression(
    r"--(?:ignore|deselect|exclude|skip|no-verify|grep-invert|testPathIgnore)|-k[ ]['\"]?not[ ]|[ ]-n[ ]*$"
)
_LANGUAGES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "ts": "typescript", "tsx": "typescript", "go": "go", "rs": "rust", "java": "java", "kt": "kotlin", "rb": "ruby",
    "php": "php", "cs": "csharp", "swift": "swift", "scala": "scala", "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp",
    "ex": "elixir", "sh": "shell", "sql": "sql", "tf": "terraform", "vue": "vue", "svelte": "svelte", "dart": "dart",
}  # fmt: skip


def fold(session: SessionTrace, told: Mapping[str, Any], shell: Shell) -> SessionTrace:
    """Return what a session is after one more hook; whatever a payload holds, it only adds or changes nothing."""
    step = step_of(told)
    take = _TAKES.get(step.kind) if step is not None else None
    return take(session, step, shell) if take is not None and step is not None else session


def _command(session: SessionTrace, step: Step, shell: Shell) -> SessionTrace:
    if step.end == CUT:
        return session
    here = invocation_of(step.command, shell)
    session = _with_versions(session, step.printed)
    if step.end == FAILED:
        if not here.parts or (here.filtered and not told_failure(step.printed)):
            return session
        return _failed(_acted(session, here) if len(here.parts) > 1 else session, step, here)
    if any(_failed_all_the_same(part, step.printed) for part in here.parts):
        return _failed(session, step, here)
    return _passed(_acted(session, here), step, here)


def _failed_all_the_same(part: Part, printed: str) -> bool:
    """Tell whether a command failed though the whole succeeded: `pytest | tail`."""
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
    known = _continued(begun, here, this) if found else replace(begun, last=this)
    known = _described(known, step, here, marks)
    others = [each for each in session.problems if each is not found and step.at - each.seen < _FORGOTTEN]
    headline = marks[0].message if marks else ""
    if not is_network(step.printed):
        session = replace(session, failed=remember(session.failed, here, headline, step.at))
    return replace(session, problems=_fewest([*others, known]), written_tests=False)


def _same_problem(problems: Iterable[Problem], part: Part, here: Invocation, this: Round) -> Problem | None:
    alike = [each for each in problems if same_work(each.part, part) and _same_folder(each.folder, here.folder)]
    still = [each for each in alike if each.state == OPEN]
    closed = [each for each in alike if each.state == SOLVED and not each.offered]
    again = [each for each in closed if each.keys & this.keys or _was_passed_by(each, here)]
    return next(reversed([*again, *still]), None)


def _was_passed_by(problem: Problem, here: Invocation) -> bool:
    """Tell whether a command fails that had failed before: what passed between was another way to call it."""
    return here.key in problem.invocations and here.line != problem.passed


def _same_folder(one: str, other: str) -> bool:
    return not one or not other or one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _continued(problem: Problem, here: Invocation, this: Round) -> Problem:
    """Return a problem after one more failure: an attempt at it failed, if something new was tried."""
    tried = problem.pending.digests - problem.tried
    varied, stuck = _is_varied(problem, here), _same_error(problem.last, this)
    eased, same_test = _fewer(problem.last, this), bool(problem.last.tests & this.tests)
    problem = replace(problem, state=OPEN, solved=0.0, passed="")
    if not tried and not varied:
        return replace(problem, last=_merged(problem.last, this))
    lines = problem.pending.lines or (f"ran {here.line}",)
    return replace(
        problem,
        attempts=(*problem.attempts, clean_line("; ".join(lines), _LINE))[-_ATTEMPTS:],
        tried=frozenset(sorted(problem.tried | tried)[-_TRIED:]),
        pending=Pending(),
        last=this,
        stuck=problem.stuck + bool(tried and stuck),
        moved=problem.moved + bool(tried and not stuck),
        held=problem.held + bool(tried and not stuck and not eased and same_test),
        eased=problem.eased + bool(tried and not stuck and eased),
        varied=problem.varied + (not tried),
        setup=problem.setup + problem.pending.setup,
    )


def _is_varied(problem: Problem, here: Invocation) -> bool:
    """Tell whether the command itself is another attempt; which tests a check is given is not, a variable it is."""
    return here.key not in problem.invocations and (here.settings or not problem.part.check)


def _same_error(before: Round, now: Round) -> bool:
    if _fewer(before, now) or _elsewhere(before, now):
        return False
    if before.firsts & now.exacts or now.firsts & before.exacts or not (before.keys or now.keys):
        return True
    return bool(before.keys & now.keys and before.tests & now.tests)


def _fewer(before: Round, now: Round) -> bool:
    return before.count > now.count > 0


def _elsewhere(before: Round, now: Round) -> bool:
    if before.tests and now.tests:
        return not before.tests & now.tests
    return bool(before.places and now.places and not before.places & now.places)


def _merged(before: Round, now: Round) -> Round:
    """Return one failure that was looked at twice."""
    return Round(
        frozenset(sorted(before.firsts | now.firsts)[:12]),
        frozenset(sorted(before.exacts | now.exacts)[:12]),
        frozenset(sorted(before.keys | now.keys)[:12]),
        frozenset(sorted(before.tests | now.tests)[:24]),
        frozenset(sorted(before.places | now.places)[:24]),
        now.count,
    )


def _described(problem: Problem, step: Step, here: Invocation, marks: tuple[Mark, ...]) -> Problem:
    known = {mark.key: mark for mark in (*problem.marks, *marks)}
    counts = dict(problem.blamed)
    if marks:
        counts[marks[0].key] = counts.get(marks[0].key, 0) + 1
    blamed = sorted(counts.items(), key=lambda pair: -pair[1])[:_MARKS]
    kept = [known[key] for key, _ in blamed if key in known]
    return replace(
        problem,
        seen=step.at,
        marks=tuple(kept),
        blamed=tuple(blamed),
        commands=_with(problem.commands, here.line, _COMMANDS),
        invocations=frozenset(sorted(problem.invocations | {here.key})[-_TRIED:]),
        excerpt=problem.excerpt or step.printed[-_EXCERPT:].strip(),
        network=problem.network and is_network(step.printed),
        usage=problem.usage and is_usage(step.printed),
    )


def _passed(session: SessionTrace, step: Step, here: Invocation) -> SessionTrace:
    problems = []
    for each in session.problems:
        part = _solver(each, here, step.printed)
        after = _solved(each, step, here, part) if each.state == OPEN and part is not None else each
        if after is not None:
            problems.append(after)
    return replace(
        session,
        problems=tuple(problems),
        failed=settle(session.failed, here),
        written_tests=session.written_tests and not any(part.check for part in here.parts),
    )


def _solver(problem: Problem, here: Invocation, printed: str) -> Part | None:
    """Return the part of a command by whose success a problem is solved."""
    if not _same_folder(problem.folder, here.folder):
        return None
    for part in here.parts:
        told = part.sure or not part.check or bool(printed.strip())
        if told and same_work(problem.part, part) and not (part.check and _LESS.search(here.line)):
            return part
    return None


def _solved(problem: Problem, step: Step, here: Invocation, part: Part) -> Problem | None:
    """Return a problem whose check passes: solved, or None where nothing was changed, so that it is flaky."""
    narrower = bool(part.targets) and not problem.part.targets
    if narrower and problem.last.tests and not any(target in problem.excerpt for target in part.targets):
        return problem
    if not (problem.pending.touched or problem.pending.digests - problem.tried or _is_varied(problem, here)):
        return problem if narrower or problem.pending.aside else None
    return replace(problem, state=SOLVED, solved=step.at, passed=here.line)


def _acted(session: SessionTrace, here: Invocation) -> SessionTrace:
    """Take a command that changes something as a part of the attempts at what is open."""
    if here.changes or here.undoes:
        take = _acted_on
    elif any(not part.check for part in here.parts):
        take = _touched
    else:
        return session
    problems = tuple(
        each if each.state != OPEN or _is_own(each, here) else take(each, here) for each in session.problems
    )
    return replace(session, problems=problems, failed=())


def _touched(problem: Problem, here: Invocation) -> Problem:
    """Take a command that may have changed something: no attempt by itself, but what passes then is not flaky."""
    pending = problem.pending
    commands = _with(pending.commands, here.line, _COMMANDS)
    return replace(problem, pending=replace(pending, touched=True, commands=commands))


def _is_own(problem: Problem, here: Invocation) -> bool:
    return len(here.parts) == 1 and same_work(problem.part, here.parts[0])


def _acted_on(problem: Problem, here: Invocation) -> Problem:
    pending = problem.pending
    reverted = bool(problem.attempts) and (here.undoes or _takes_back(here, problem))
    return replace(
        problem,
        reversals=problem.reversals + reverted,
        hunks=() if here.undoes else problem.hunks,
        pending=replace(
            pending,
            lines=_with(pending.lines, f"ran {here.line}", _LINES),
            digests=frozenset() if here.undoes else _more(pending.digests, here.key),
            commands=pending.commands if here.undoes else _with(pending.commands, here.line, _COMMANDS),
            setup=pending.setup or not here.undoes,
            skipped=pending.skipped or (" rm " in f" {here.line}" and any(map(edits.is_test, here.line.split()))),
            aside=here.aside,
        ),
    )


def _takes_back(here: Invocation, problem: Problem) -> bool:
    """Tell whether a command removes a package that an earlier attempt had brought."""
    brought = " ".join(problem.attempts)
    removing = [part for part in here.parts if _REMOVES & set(part.family.split())]
    return any(f" {target}" in brought for part in removing for target in part.targets)


def _edited(session: SessionTrace, step: Step, _: Shell) -> SessionTrace:
    session = replace(session, languages=_with(session.languages, _language(step.file), _COMMANDS))
    for old, new in step.hunks:
        if old != new and not edits.tries_nothing(step.file, old, new):
            session = _hunk(session, step, old, new)
    failed = session.failed if edits.is_document(step.file) else ()
    return replace(session, written_tests=session.written_tests or edits.is_test(step.file), failed=failed)


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
        else _edited_for(each, change, (old, new), (reversed_ + thrown, rewritten), back=back)
        for each in session.problems
    )
    return replace(session, problems=problems, changes=(*session.changes, change)[-CHANGES:])


def _edited_for(
    problem: Problem, change: Change, sides: tuple[str, str], earlier: tuple[list[Change], list[Change]], *, back: bool
) -> Problem:
    reversed_, rewritten = (any(each.time >= problem.time for each in changes) for changes in earlier)
    number = problem.stuck + problem.moved + problem.varied
    hunk, pending = edits.shown(change.file, *sides, number), problem.pending
    done, undone = (digest(change.file + a + b) for a, b in _both_ways(change))
    digests = pending.digests - {undone} if back else _more(pending.digests, done)
    turned = f"{'put back' if back else 'edited'} {_brief(hunk)}"
    return replace(
        problem,
        reversals=problem.reversals + reversed_,
        reworks=problem.reworks + (rewritten and not reversed_),
        hunks=_net(problem.hunks, hunk),
        pending=replace(
            pending,
            lines=_with(pending.lines, turned, _LINES),
            digests=digests,
            skipped=pending.skipped or edits.skips_tests(*sides),
            edited=True,
            setup=pending.setup or edits.configures(change.file),
        ),
    )


def _both_ways(change: Change) -> tuple[tuple[str, str], tuple[str, str]]:
    return (change.before, change.after), (change.after, change.before)


def _net(kept: tuple[Hunk, ...], hunk: Hunk) -> tuple[Hunk, ...]:
    """Return the parts that still stand after one more: what it puts back or writes over is gone."""
    if any((each.file, each.old, each.new) == (hunk.file, hunk.new, hunk.old) for each in kept):
        return tuple(each for each in kept if (each.file, each.old, each.new) != (hunk.file, hunk.new, hunk.old))
    over = [
        each for each in kept if each.file == hunk.file and each.new and (each.new in hunk.old or hunk.old == each.new)
    ]
    first = replace(hunk, old=over[0].old) if over else hunk
    return (*(each for each in kept if each not in over), first)[-_HUNKS:]


def _brief(hunk: Hunk) -> str:
    old, new = clean_line(hunk.old, 60), clean_line(hunk.new, 80)
    return (
        f"{hunk.file}: {old} → {new}" if old and new else f"{hunk.file}: {'added ' + new if new else 'removed ' + old}"
    )


def _looked(session: SessionTrace, step: Step, _: Shell) -> SessionTrace:
    query = clean_line(step.query, 120)
    problems = tuple(
        replace(each, looks=_with(each.looks, query, _LOOKS), sought=each.sought or _asks_for(query, each))
        if each.state == OPEN
        else each
        for each in session.problems
    )
    return replace(session, problems=problems)


def _asks_for(query: str, problem: Problem) -> bool:
    """Tell whether a search names an error by two of its words, and not only a subject."""
    said = " ".join(f"{mark.exception} {mark.message}" for mark in problem.marks)
    return len(set(content_words(query)) & set(content_words(said))) >= _NAMED


def _with_versions(session: SessionTrace, printed: str) -> SessionTrace:
    found = versions_in(printed)
    if not found:
        return session
    return replace(session, versions=tuple({**dict(session.versions), **found}.items())[-_VERSIONS:])


def _language(file: str) -> str:
    return _LANGUAGES.get(file.rsplit(".", 1)[-1].lower(), "")


def _with(kept: tuple[str, ...], more: str, most: int) -> tuple[str, ...]:
    return (*kept, more)[-most:] if more and more not in kept else kept


def _more(digests: frozenset[str], one: str) -> frozenset[str]:
    return digests | {one} if len(digests) < _TRIED else digests


def _fewest(problems: list[Problem]) -> tuple[Problem, ...]:
    """Return the problems that are kept: what was offered goes first, then what failed longest ago."""
    excess = sorted(problems, key=lambda each: (not each.offered, each.seen))[: max(0, len(problems) - PROBLEMS)]
    return tuple(each for each in problems if each not in excess)


_TAKES: Mapping[str, Callable[[SessionTrace, Step, Shell], SessionTrace]] = {
    COMMAND: _command,
    EDIT: _edited,
    LOOK: _looked,
}
