"""Updates a problem by one step of the session: another attempt, a change to be checked, or a solution."""

from __future__ import annotations

from dataclasses import replace

from repertoire.domain.text import clean_line, content_words
from repertoire.traces import hunks as edits
from repertoire.traces.expressions import expression
from repertoire.traces.hunks import Change, Hunk
from repertoire.traces.invocations import Invocation, Part, digest, same_work
from repertoire.traces.problem import OPEN, SOLVED, Mark, Pending, Problem, Round
from repertoire.traces.readings import is_network, is_usage
from repertoire.traces.rounds import fewer, merged, same_error
from repertoire.traces.steps import Step

_MARKS, _COMMANDS, _LOOKS, _ATTEMPTS, _LINES, _HUNKS, _TRIED = 4, 4, 6, 10, 6, 8, 60
_EXCERPT, _LINE, _NAMED = 1_200, 200, 2
_REMOVES = frozenset(("uninstall", "remove", "rm", "un", "r"))
_LESS = expression(
    r"--(?:ignore|deselect|exclude|skip|no-verify|grep-invert|testPathIgnore)|-k[ ]['\"]?not[ ]|[ ]-n[ ]*$"
)


def was_passed_by(problem: Problem, here: Invocation) -> bool:
    """Tell whether a solved problem's command fails again, so that it had passed by other arguments only."""
    return here.key in problem.invocations and here.line != problem.passed


def same_folder(one: str, other: str) -> bool:
    """Tell whether two commands ran in the same folder, or one within the other's, as far as known."""
    if not one or not other or one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}"):
        return True
    return one.startswith("/") and (one.startswith(f"{other}/") or other.startswith(f"{one}/"))


def is_elsewhere(problem: Problem, here: Invocation) -> bool:
    """Tell whether a command ran outside of the session's project, and not where the problem is."""
    return here.outside and not same_folder(problem.folder, here.folder)


def continued(problem: Problem, here: Invocation, this: Round) -> Problem:
    """Return a problem after another failure, which counts as a failed attempt if something new was tried."""
    tried = problem.pending.digests - problem.tried
    varied, stuck = _is_varied(problem, here), same_error(problem.last, this)
    eased, same_test = fewer(problem.last, this), bool(problem.last.tests & this.tests)
    problem = replace(problem, state=OPEN, solved=0.0, passed="")
    if not tried and not varied:
        return replace(problem, last=merged(problem.last, this))
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
    """Tell whether the changed command is an attempt: other variables or options are, other chosen tests are not."""
    return here.key not in problem.invocations and (here.settings or not problem.part.check)


def described(problem: Problem, step: Step, here: Invocation, marks: tuple[Mark, ...]) -> Problem:
    """Return a problem with the output of its failure added."""
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
        commands=appended(problem.commands, here.line, _COMMANDS),
        invocations=frozenset(sorted(problem.invocations | {here.key})[-_TRIED:]),
        excerpt=problem.excerpt or step.printed[-_EXCERPT:].strip(),
        network=problem.network and is_network(step.printed),
        usage=problem.usage and is_usage(step.printed),
    )


def solver(problem: Problem, here: Invocation, printed: str) -> Part | None:
    """Return the part of a passing command that solves a problem, or None."""
    if not same_folder(problem.folder, here.folder):
        return None
    for part in here.parts:
        told = part.sure or not part.check or bool(printed.strip())
        if told and same_work(problem.part, part) and not (part.check and _LESS.search(here.line)):
            return part
    return None


def solved(problem: Problem, step: Step, here: Invocation, part: Part) -> Problem | None:
    """Return a problem after its check passed: solved, or None if nothing was changed, since the check is flaky."""
    narrower = bool(part.targets) and not problem.part.targets
    if narrower and problem.last.tests and not any(target in problem.excerpt for target in part.targets):
        return problem
    if not (problem.pending.touched or problem.pending.digests - problem.tried or _is_varied(problem, here)):
        return problem if narrower or problem.pending.aside else None
    return replace(problem, state=SOLVED, solved=step.at, passed=here.line)


def is_own(problem: Problem, here: Invocation) -> bool:
    """Tell whether a command is the failing one of a problem."""
    return len(here.parts) == 1 and same_work(problem.part, here.parts[0])


def touched(problem: Problem, here: Invocation) -> Problem:
    """Note a command that may have changed something: no attempt, but a pass afterwards is not flaky."""
    pending = problem.pending
    commands = appended(pending.commands, here.line, _COMMANDS)
    return replace(problem, pending=replace(pending, touched=True, commands=commands))


def acted_on(problem: Problem, here: Invocation) -> Problem:
    """Return a problem after a command that changes something."""
    pending = problem.pending
    reverted = bool(problem.attempts) and (here.undoes or _takes_back(here, problem))
    return replace(
        problem,
        reversals=problem.reversals + reverted,
        hunks=() if here.undoes else problem.hunks,
        pending=replace(
            pending,
            lines=appended(pending.lines, f"ran {here.line}", _LINES),
            digests=frozenset() if here.undoes else _more(pending.digests, here.key),
            commands=pending.commands if here.undoes else appended(pending.commands, here.line, _COMMANDS),
            setup=pending.setup or not here.undoes,
            skipped=pending.skipped or (" rm " in f" {here.line}" and any(map(edits.is_test, here.line.split()))),
            aside=here.aside,
        ),
    )


def _takes_back(here: Invocation, problem: Problem) -> bool:
    """Tell whether a command removes a package that an earlier attempt installed."""
    brought = " ".join(problem.attempts)
    removing = [part for part in here.parts if _REMOVES & set(part.family.split())]
    return any(f" {target}" in brought for part in removing for target in part.targets)


def edited(
    problem: Problem,
    change: Change,
    sides: tuple[str, str],
    earlier: tuple[list[Change], list[Change]],
    *,
    back: bool,
    whole: bool,
) -> Problem:
    """Return a problem after an edit of a file, or of the whole of it; it may undo or rewrite earlier ones."""
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
        hunks=_net(_standing(problem.hunks, hunk, sides[1]) if whole else problem.hunks, hunk),
        pending=replace(
            pending,
            lines=appended(pending.lines, turned, _LINES),
            digests=digests,
            skipped=pending.skipped or edits.skips_tests(*sides),
            edited=True,
            setup=pending.setup or edits.configures(change.file),
        ),
    )


def _both_ways(change: Change) -> tuple[tuple[str, str], tuple[str, str]]:
    return (change.before, change.after), (change.after, change.before)


def _standing(kept: tuple[Hunk, ...], written: Hunk, content: str) -> tuple[Hunk, ...]:
    """Return the edits of which something still stands after a whole file was written, with only what does."""
    standing = []
    for each in kept:
        if each.file == written.file and each.new:
            lines = [line for line in each.new.splitlines() if line.removesuffix("…") in content]
            if lines and "\n".join(lines) not in written.new:
                standing.append(replace(each, new="\n".join(lines)))
        elif each.file != written.file or each.old not in content:
            standing.append(each)
    return tuple(standing)


def _net(kept: tuple[Hunk, ...], hunk: Hunk) -> tuple[Hunk, ...]:
    """Return the edits that are still effective after another one, without those it undoes or rewrites."""
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


def _asks_for(query: str, problem: Problem) -> bool:
    """Tell whether a search contains at least two words of the error, and not only a topic."""
    said = " ".join(f"{mark.exception} {mark.message}" for mark in problem.marks)
    return len(set(content_words(query)) & set(content_words(said))) >= _NAMED


def appended(kept: tuple[str, ...], more: str, most: int) -> tuple[str, ...]:
    """Return the last `most` texts after adding one that is new."""
    return (*kept, more)[-most:] if more and more not in kept else kept


def _more(digests: frozenset[str], one: str) -> frozenset[str]:
    return digests | {one} if len(digests) < _TRIED else digests


def looked(problem: Problem, query: str) -> Problem:
    """Return a problem after a look-up."""
    return replace(
        problem, looks=appended(problem.looks, query, _LOOKS), sought=problem.sought or _asks_for(query, problem)
    )
