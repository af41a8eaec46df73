"""Reads a command's output: its errors, and failures that the exit status hides."""

from __future__ import annotations

from repertoire.domain.text import clean_line
from repertoire.traces.expressions import expression
from repertoire.traces.invocations import digest
from repertoire.traces.problem import Mark, Round
from repertoire.traces.signature import signatures_in

_MARKS, _TESTS, _READ = 4, 12, 8_000

_COUNT = expression(
    r"""(?i)\b(?P<a>\d+)[ ](?:tests?[ ]|previous[ ])?(?:failed|failing|failures?|errors?|problems?|issues)\b
    |(?:failed|failures?|errors?)[:=][ ]*(?P<b>\d+)"""
)
_TEST = expression(
    r"""(?m)^(?:FAILED|ERROR)[ ](?P<a>[\w./\\-]+::[^\s]+)|^[ ]*---[ ]FAIL:[ ](?P<b>\S+)
    |^[ ]*[\x{25cf}\x{2715}\x{d7}\x{2717}][ ](?P<c>[^\n(]{3,120})
    |^test[ ](?P<d>[\w:]+)[ ]\.\.\.[ ]FAILED|^(?:FAIL|ERROR):[ ](?P<e>\w+[ ]\([\w.]+\))
    |^not[ ]ok[ ]\d+[ ]-?[ ]*(?P<f>[^\n]{3,120})|^[ ]*\d+\)[ ](?P<g>[A-Z][^\n]{3,120})
    |^[ ]*FAIL[ ]+(?P<h>[\w./-]+)|^rspec[ ](?P<i>\S+)|^[ ]*Failed[ ](?P<j>\w+\.[\w.]+)
    |^(?P<k>\w+[ ]>[ ][^\n>]{1,80})[ ]FAILED$"""
)
_PLACE = expression(r"(?m)^[ ]*(?:-->[ ])?(?P<file>[\w./\\@-]+\.[A-Za-z]\w{0,5})[:(]\d+")
_TOLD_FAILURE = expression(
    r"""(?m)\b[1-9]\d*[ ](?:tests?[ ])?(?:failed|failing|failures?)\b|^FAILED?\b|^[ ]*---[ ]FAIL|^E[ ]{2,}\S
    |\berror(?:\[|:|[ ]TS)
    |^Traceback[ ]|^not[ ]ok\b|npm[ ]ERR!|npm[ ]error[ ]code|\bBUILD[ ]FAILED\b|^ERROR[ ]in[ ]|^fatal:|^panic:
    |command[ ]not[ ]found|(?:^|[ ])[A-Za-z]*Error:[ ]|\b[1-9]\d*[ ](?:errors?|problems?)\b"""
)
_SUMMARY = expression(
    r"\b[1-9]\d*[ ](?:tests?[ ])?(?:failed|failing)\b|(?m)^FAILED[ ](?:\(|[\w./-]+::)|test[ ]result:[ ]FAILED"
)
_NETWORK = expression(
    r"""(?i)ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ESOCKETTIMEDOUT|socket[ ]hang[ ]up|(?:temporary
    |transient)[ ]failure[ ](?:in|resolving)
    |could[ ]not[ ]resolve[ ]host|(?:connection|read|connect|request|i/o|handshake)[ ]*(?:has[ ])?timed?[ ]?out
    |connection[ ]reset[ ]by[ ]peer
    |\b(?:502[ ]bad[ ]gateway|503[ ]service|504[ ]gateway|429[ ]too[ ]many)|network[ ](?:is[ ]unreachable|error
    |timeout)|TLS[ ]handshake[ ]timeout
    |remote[ ]end[ ]hung[ ]up|early[ ]EOF|RPC[ ]failed|no[ ]such[ ]host|name[ ]or[ ]service[ ]not[ ]known
    |unable[ ]to[ ]access[ ]'https?|ReadTimeout|status[ ](?:code[ ])?50[234]"""
)
_USAGE = expression(
    r"""(?im)^usage:|unrecogni[sz]ed[ ](?:arguments?|option|command)|(?:unknown|invalid|illegal|unexpected
    |bad)[ ](?:option|argument|flag|switch|command|shorthand)
    |no[ ]such[ ](?:option|command)|(?:flag|option)[ ].{0,60}(?:not[ ]defined|requires)|got[ ]unexpected[ ]extra
    |missing[ ](?:required[ ])?(?:script|argument|operand)
    |command[ ]not[ ]found|is[ ]not[ ]an?[ ]\S*[ ]*command|cannot[ ]access|can't[ ]open[ ]file|no[ ]tests?[ ](?:ran
    |found)|file[ ]or[ ]directory[ ]not[ ]found"""
)


def marks_in(printed: str) -> tuple[Mark, ...]:
    """Return the errors that a failed command printed, the main one first."""
    found = signatures_in(printed, failed=True)
    errors = [one for one in found if not one.exception.endswith("Warning")] or found
    return tuple(
        Mark(one.key, one.exact, one.exception, clean_line(one.template, 240), clean_line(one.message, 240))
        for one in errors[:_MARKS]
    )


def round_of(printed: str, marks: tuple[Mark, ...]) -> Round:
    """Return a failed run of a check in the form that is compared with the next failure."""
    counts = [int(number) for found in _COUNT.findall(printed[-_READ:]) for number in found if number][:20]
    places = [match["file"] for match in _PLACE.finditer(printed[:_READ])]
    named = (next(filter(None, found), "") for found in _TEST.findall(printed))
    tests = dict.fromkeys(digest(name.strip()) for name in named)
    return Round(
        frozenset(mark.exact for mark in marks[:1]),
        frozenset(mark.exact for mark in marks),
        frozenset(mark.key for mark in marks),
        frozenset(list(tests)[:_TESTS]),
        frozenset(digest(place) for place in list(dict.fromkeys(places))[:_TESTS]),
        min(max(counts, default=len(places) or -1), 1_000_000),
    )


def told_failure(printed: str) -> bool:
    """Tell whether output reports a failure that the exit status does not show."""
    return _TOLD_FAILURE.search(printed[-_READ:]) is not None


def sums_up_failure(printed: str) -> bool:
    """Tell whether a test run's printed summary reports failures, even if its exit status was 0."""
    return _SUMMARY.search(printed[-_READ:]) is not None


def is_network(printed: str) -> bool:
    """Tell whether output reports a network error, which may disappear by itself."""
    return _NETWORK.search(printed[-_READ:]) is not None


def is_usage(printed: str) -> bool:
    """Tell whether output reports wrong arguments of the command."""
    return _USAGE.search(printed[-_READ:]) is not None
