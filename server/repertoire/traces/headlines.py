"""Finds the lines of a command's output that name an error, with the kind and the message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repertoire import linear
from repertoire.traces.expressions import any_of, expression


@dataclass(frozen=True, slots=True)
class Headline:
    """A line that names an error: its kind in the tool's words, its message, and how certain the match is."""

    kind: str  # an exception's class, a compiler's code, a tool's name, or empty
    message: str
    weight: int


# how certain it is that a line is the error itself; the highest is taken
CAUSE, RAISED, NAMED, TOLD, LOGGED, HINTED = 90, 80, 70, 60, 50, 20


_CLASS = (
    r"(?:[\w$]+(?:\.|::|\\|/))*[A-Z_a-z][\w$]*(?:Error|Exception|Warning|Fault|Failure|Interrupt|Exit|Violation|Timeout|NotFound"
    r"|Panic|Abort|Refused|Denied|Throwable|Invalid|Errno)(?:s|\d+)?"
)
_PREFIX = (
    r"""(?:Exception[ ]in[ ]thread[ ]"[^"]*"[ ]|Uncaught[ ](?:\(in[ ]promise\)[ ]|exception[ ])?|Unhandled[ ][A-Za-z ]{0,40}[:.][ ]"""
    r"""|(?:PHP[ ])?(?:Fatal[ ]error|Warning|Notice|Deprecated):[ ]+(?:Uncaught[ ])?|E[ ]+|\[?(?:error|ERROR)\]?:?[ ]+|error:[ ]+Uncaught[ ]"""
    r"""|nested[ ]exception[ ]is[ ]|System\.AggregateException:[ ].*[(]|panic:[ ]|-+>[ ]|[^ ]+:\d+(?::\d+)?:[ ]|\d+\)[ ])*"""
)
_WHERE = r"(?:(?:[A-Za-z]:(?:[^:()'\"]|\(x86\))*?|[^:()'\"]*?)(?:\(\d+(?:,[ ]?\d+)?\)|:\d+(?::\d+)?)[: -]+)"
_CODE = r"(?:[A-Z]{1,8}-?\d{3,6}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|E(?:[A-QS-Z][A-Z]{3,}|R[A-QS-Z][A-Z]{2,}))"

# What compilers, shells and databases print for `error` and `fatal` where the machine speaks another language.
_ELSEWHERE = (
    r"(?:(?:schwerwiegender[ ])?fehler|schwerwiegend|erreur(?:[ ]fatale)?|erro(?:[ ]fatal)?|errore(?:[ ](?:fatale|irreversibile))?"
    r"|(?:критическая|фатальная|неисправимая)?[ ]?ошибка|(?:致命)?(?:错误|錯誤)|(?:致命的な?)?エラー|(?:치명적인?[ ])?오류)"
)

_PATTERNS: tuple[tuple[int, linear.LinearPattern], ...] = (
    (CAUSE, expression(r"^(?:Caused[ ]by|\.\.\.[ ]caused[ ]by):[ ](?P<kind>[\w$.]+)(?::[ ](?P<message>.*))?$")),
    (
        RAISED,
        expression(
            rf"^{_PREFIX}(?P<kind>{_CLASS})(?:[ ]?[\[(](?P<code>[A-Z][A-Z0-9_]+|\d+)[\])])?:[ ]*(?P<message>.*)$"
        ),
    ),
    (RAISED, expression(rf"^{_PREFIX}(?P<kind>(?:[\w$]+\.)*[A-Z][\w$]*(?:Error|Exception|Interrupt|Exit))$")),
    (RAISED, expression(r"""^Exception[ ]in[ ]thread[ ]"[^"]*"[ ](?P<kind>[\w$.]+)(?::[ ](?P<message>.*))?$""")),
    (RAISED, expression(r"^thread[ ]'[^']*'[ ](?:\(\d+\)[ ])?panicked[ ]at[ ](?:'(?P<message>.*)',[ ][^ ]+|[^ ]+:)$")),
    (RAISED, expression(r"^(?P<kind>panic|fatal[ ]error):[ ](?:runtime[ ]error:[ ])?(?P<message>.+)$")),
    (RAISED, expression(r"^[^ ]+:\d+:in[ ].+:[ ](?P<message>.*)[ ]\((?P<kind>[A-Z][\w:]+)\)$")),
    (
        NAMED,
        expression(
            rf"^{_WHERE}?(?:\d+>)?{_WHERE}?(?:fatal[ ])?(?:[Ee]rror|[Ww]arning|ERROR)[ ]?[\[(]?(?P<kind>{_CODE})[\])]?(?:[ ]\(\w+\))?[: ][ ]*(?P<message>.+)$"
        ),
    ),
    (NAMED, expression(rf"(?i)^Error:?[ ]?\(\d+,[ ]?\d+\)[: ]+(?P<kind>{_CODE}):[ ]*(?P<message>.+)$")),
    (
        NAMED,
        expression(
            r"^(?P<kind>SQLSTATE\[\w+\]|(?:SQL[ ]Error|ERROR)[ ]\[?\d+\]?(?:,[ ]|[ ])?(?:SQLState:[ ]\w+|\(\w+\)|\[\w+\])?|ORA-\d+|PLS-\d+|Msg[ ]\d+|SP2-\d+)(?:[ ]at[ ]line[ ]\d+)?[:, ]+(?P<message>.+)$"
        ),
    ),
    (NAMED, expression(r"^(?:npm[ ](?:ERR!|error)|yarn[ ]error)[ ]code[ ](?P<kind>[A-Z0-9_]+)(?P<message>)$")),
    (NAMED, expression(rf"^(?P<kind>{_CODE}):[ ]+(?P<message>.+)$")),
    (NAMED, expression(rf"^{_WHERE}[ ]*(?:fatal[ ])?(?:error|Error|ERROR)[: ]+(?P<message>.+)$")),
    (
        TOLD,
        expression(
            r"(?i)^(?:X[ ])?[\[(]?(?:(?:PHP[ ]+)?(?:fatal[ ]|parse[ ]|recoverable[ ])?error|fatal|err!|failure|e)[\])]?(?:[ ]in[ ][^:]+)?:[ ]+(?P<message>.+)$"
        ),
    ),
    (NAMED, expression(rf"(?i)^{_WHERE}[ ]*{_ELSEWHERE}[ ]?[:\x{{ff1a}}][ ]*(?P<message>.+)$")),
    (TOLD, expression(rf"(?i)^{_ELSEWHERE}[ ]?[:\x{{ff1a}}][ ]*(?P<message>.+)$")),
    (TOLD, expression(r"^[*][ ]What[ ]went[ ]wrong:$(?P<message>)")),
    (
        TOLD,
        expression(
            r"^(?:/[^ :]*/)?(?P<kind>bash|zsh|sh|dash|fish|ksh|cmd|docker|make|git|curl|ssh|ld|mvn|tar|cp|mv|rm|ls|cat|sudo|pip|cargo|go|gcc|clang|python\d?|node|psql|mysql)(?:\[\d+\]|\.exe)?:[ ](?:-c:[ ])?(?:line[ ])?(?:\d+:[ ])?(?P<message>.+)$"
        ),
    ),
    (
        TOLD,
        expression(
            r"^(?:npm[ ](?:ERR!|error)|yarn[ ]error|remote:|!|E:|FAILED:|FAIL|\[!\]|error|[\x{2716}\x{d7}\x{2718}])[ ]+(?P<message>.+)$"
        ),
    ),
    (
        LOGGED,
        expression(
            r"(?i)^.*?\b(?:level=)?(?:error|fatal|critical|severe|panic|err|emerg)\b[\])\"]?[ :|-]+(?:.{0,60}[ ]-[ ])?(?P<message>.+)$"
        ),
    ),
    (
        HINTED,
        expression(
            r"""(?i)(?P<message>^.*(?:\berror|fail(?:s|ed|ure)?\b|cannot|can't|could[ ]not|couldn't|unable[ ]to|not[ ](?:found|exist|supported|allowed|permitted|defined|assignable|recogni[sz]ed|valid|a[ ]function|callable|installed|resolved?)
        |no[ ]such|denied|refused|invalid|illegal|undefined|unexpected|unknown|missing|unsupported|deprecated|obsolete|timed[ ]out|timeout|conflict|mismatch|incompatible|abort(?:ed)?|killed|exceeded|out[ ]of[ ]memory
        |segmentation[ ]fault|core[ ]dumped|exception|traceback|rejected|unrecogni[sz]ed|unresolved|ambiguous|does[ ]not|doesn't|is[ ]not|must[ ](?:be|not|have)|already[ ](?:exists|in[ ]use)|overflow|forbidden|unauthori[sz]ed|possibly).*$)"""
        ),
    ),
)
_ANY_BUT_HINTS = any_of(pattern for weight, pattern in _PATTERNS if weight > HINTED)
_HINT = next(pattern for weight, pattern in _PATTERNS if weight == HINTED)
_EMPTY_TALK = expression(
    r"""(?i)^(?:npm[ ](?:ERR!|error)[ ](?:A[ ]complete[ ]log|errno|path|syscall|command[ ]|cwd|argv|node|npm|$).*|.*\b(?:0|no)[ ]errors?\b.*|error:[ ]could[ ]not[ ]compile.*
    |error:[ ]aborting[ ]due[ ]to.*|.*Process[ ]completed[ ]with[ ]exit[ ]code.*|make(?:\[\d+\])?:[ ][*]{3}.*|For[ ]more[ ]information.*|.*exited[ ]with[ ](?:code|status)[ ]\d+.*
    |\d+[ ]errors?[ ]generated\.?|.*note:[ ].*|Found[ ]\d+[ ]errors?.*|error[ ]Command[ ]failed.*|\[notice\].*|note:.*|Running[ ]exception[ ]handlers|gyp[ ]ERR!.*(?:node|cwd|System).*
    |ERROR:[ ]Running[ ].*|ELIFECYCLE.*|npm[ ](?:ERR!|error)[ ]code[ ](?:ELIFECYCLE|1).*|error:[ ]failed[ ]to[ ]push[ ]some[ ]refs.*
    |error:[ ](?:subprocess-exited-with-error|metadata-generation-failed)|.*[ ]did[ ]not[ ]run[ ]successfully\.?|.*Encountered[ ]error[ ]while[ ]generating[ ]package[ ]metadata.*)$"""
)
# It tells which command of an image failed, and not of what: so it counts where no other line tells more.
_OF_AN_IMAGE = expression(r"^.*\bprocess[ ].*did[ ]not[ ]complete[ ]successfully.*$")

# What drivers, clients and daemons put before an error that others print without it; `kind` is the driver's exception.
_WRAPPER = expression(
    r"""^(?:\((?P<kind>(?:\w+\.)+\w+)\)|connection[ ](?:to[ ]server[ ].{1,120}?[ ])?failed:|(?:FATAL|ERROR|PANIC):
    |(?P<daemon>(?:Error[ ])?response[ ]from[ ]daemon:(?:[ ]Conflict\.)?)|failed[ ]to[ ]solve:)[ ](?P<message>.+)$"""
)
_NESTED = 4  # wrappers of one message


def is_empty_talk(line: str) -> bool:
    """Tell whether a line only says that something failed, or where more is to be found."""
    return _EMPTY_TALK.match(line) is not None


def headline_of(line: str) -> Headline | None:
    """Return the error that a line names, or None."""
    if not _ANY_BUT_HINTS.match(line):
        hinted = _HINT.match(line)
        return None if hinted is None or is_empty_talk(line) else Headline("", str(hinted["message"]).strip(), HINTED)
    if is_empty_talk(line):
        return None
    for weight, pattern in _PATTERNS:
        if found := pattern.match(line):
            groups = found.groupdict()
            kind = groups.get("code") or groups.get("kind") or ""
            sure = HINTED if _OF_AN_IMAGE.match(line) else weight
            return Headline(kind.strip(), (groups.get("message") or "").strip(), sure)
    return None


def deeper(headline: Headline) -> Iterator[Headline]:
    """Yield the headlines nested in a message, the outermost first, as in `Error: TypeError: no`."""
    for _ in range(3):
        inner = headline_of(headline.message) if headline.message else None
        if inner is None or inner.weight < NAMED or not inner.kind:
            return
        yield inner
        headline = inner


def unwrapped(headline: Headline) -> Headline:
    """Return a headline without what drivers, clients and daemons put before the message of another program."""
    for _ in range(_NESTED):
        found = _WRAPPER.match(headline.message)
        if found is None:
            break
        kind = str(found["kind"] or ("" if found["daemon"] else headline.kind))
        headline = Headline(kind, str(found["message"]), headline.weight)
    return headline
