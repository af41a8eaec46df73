"""Computes the signature of a printed error: keys and words that are the same on every machine.

Secrets: give text that trust's redaction has been over. What it leaves is masked again here (values of keys and tokens,
whatever stands in quotes or holds a long row of letters and digits), so that template and keys hold none; `names` and
`message` are what was printed, for searching here and never for handing on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repertoire import linear
from repertoire.traces.frames import is_frame
from repertoire.traces.headlines import CAUSE, HINTED, RAISED, Headline, deeper, headline_of, is_empty_talk, unwrapped
from repertoire.traces.masking import LONGEST, MARK, generalise, mask, plain

HEAD, TAIL = (
    8_000,
    12_000,
)  # characters read: an error is printed at the end of an output, the first of several at the beginning
MOST = 8  # the most signatures of one output
_NAMES, _NAME, _TEMPLATE = 8, 80, 400


@dataclass(frozen=True, slots=True)
class Signature:
    """The parts of an error that are the same on every machine.

    Three keys, each wider than the one before: `exact` is the same error about the same names, `key` the same error,
    and `coarse` holds those that differ in what is no word.
    """

    exception: str  # the class without its package, or the code of a compiler, database or tool; may be empty
    template: str  # the message, with a mark for each part that differs between machines
    key: str
    exact: str
    coarse: str
    names: tuple[str, ...]  # quoted names, which distinguish `numpy` from `torch` among equal keys
    message: str

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words to search for the error with: exception, names, then the message."""
        said = _WORD.findall(MARK.sub(" ", self.template))
        named = [word for name in self.names for word in _WORD.findall(name)]
        kind = [word for word in _WORD.findall(self.exception) if word]
        return tuple(dict.fromkeys(word for word in (*kind, *named, *said) if word.lower() not in _STOP))

    @property
    def places(self) -> tuple[str, ...]:
        """Return what the message names without quotes: the last part of each path, and the command of a shell."""
        command = _OF_A_COMMAND.match(self.message) or _NOT_FOUND.match(self.message)
        named = [str(command["value"]).rpartition("/")[2]] if command else []
        return (*named, *(str(found["last"]).rstrip(".") for found in _PLACE.finditer(self.message)))

    @property
    def nameless(self) -> bool:
        """Whether nothing is left of the error without its names: they alone tell what is missing, or what failed."""
        left = _LETTERS.findall(MARK.sub(" ", self.template).lower())
        if not self.exception.islower():  # else it is a program
            left += [part.lower() for part in _PARTS.findall(self.exception)]
        return MARK.search(self.template) is not None and all(word in _GENERIC or word in _STOP for word in left)


_WORD = linear.compile(r"[\pL\pN_][\pL\pN_+#-]*")
_PLACE = linear.compile(r"""(?:^|[\s'"`(=:,])(?:[\w.@~+-]{0,80}[/\\])+(?P<last>[\w.@~+-]{1,80})""")
_PARTS = linear.compile(r"[A-Z]*[a-z]+")
_LETTERS = linear.compile(r"[\pL]{3,}")
_STOP = frozenset(
    """a an the and or of to in on at for from by with as is are was were be been it its this that these those you your
    i we they he she has have had do does did but if then than so such there here into out up over under""".split()
)
# An error of these words alone says that a file, module, command, key or name is missing, or that a command or request
# failed, in the words of runtimes, compilers and shells; which one it is, its names and numbers alone say.
_GENERIC = frozenset(
    """attribute axios cannot class code command complete corresponding could declarations def defined did directory
    enoent errno error exception execution exist exists exit exited fail failed file find found http import ioerror key
    load locate lookup make missing module name named needed no non not object open oserror package process property
    reference request require requirement resolve response returned rule satisfies solve stat status stop subprocess
    successfully such symbol target task that type unable undefined unknown unresolved variable version zero""".split()
)
_GENERAL = frozenset("error exception fatal failure warning fatalerror bash zsh sh dash fish ksh cmd err e".split())
_QUOTED = linear.compile(r"""(?:^|[^\w'"`])(?:'([^'\n]{0,200})'|"([^"\n]{0,200})"|`([^`'\n]{0,200})['`])""")
_QUOTES = linear.compile("['\"`]")
_NO_NAME = linear.compile(r"(?i)[/\\]|://|\d{4,}|^[0-9a-f]{12,}$|\s.*\s.*\s|@|[<>]")
_PREFIX = linear.compile(
    r"""^(?:[\w.-]{1,60} +\| |#\d+ +[\d.]+ |\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+(?:Z| ?[+-]\d\d:?\d\d)?\]?:? +"""
    r"""|\[?\d\d:\d\d:\d\d[.,\d]*\]? +|[>│║┃] *|\[\d+/\d+\] +|\* )+"""
)
_PREFIXED = frozenset("#[0123456789>│║┃*")  # with what else than a service's name a prefix begins
_NO_DIGITS = str.maketrans("", "", "0123456789")
_TRACEBACK, _RULE = "Traceback (most recent call last)", 20  # a notebook draws a line of so many dashes instead
_ANY_CLASS = linear.compile(r"^(?P<kind>[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)(?:: (?P<message>.*))?$")
_OF_A_COMMAND = linear.compile(
    r"^(?P<value>[\w./+-]{1,80}): +"
    r"(?P<after>(?:command )?not found|No such file or directory|Permission denied|Is a directory)$"
)
_NOT_FOUND = linear.compile(r"^command not found: (?P<value>.*)$")
# What a tool adds to one error by where it was run: where it looked for a repository, and what an index has.
_ASIDE = linear.compile(r" \((?:or any (?:of the )?parent [^)]*\)(?:: \.git)?|from versions: [^)]*\)?)")
_PACKAGE = linear.compile(r"\b(?:satisfies the requirement|Unable to locate package) (?P<name>[\w.+-]+)")
_SHELLED = linear.compile(r"\bsh -\w*c (?P<command>[\w.@+-]+(?: [\w.@+:-]+)?)")  # the first words of a quoted command
_STATUS = linear.compile(
    r"(?i)\b(?:exit(?:ed)?|status|code|http(?:/[\d.]+)?|returned)\b"
    r"[ :=]*(?:(?:with|code|status|error)[ :=]*)*(?P<number>\d{1,3})\b"
)
_TOOL = linear.compile(r"^(?:npm (?:ERR!|error)|yarn error|remote:|E|>) +")


def signatures_in(text: str, *, failed: bool = False) -> tuple[Signature, ...]:
    """Return the signatures of the different errors in an output, the main one (the cause) first, at most MOST.

    `failed`: the text is known to be an error; if no rule matches, its first informative line is taken.
    """
    lines = _lines(text)
    frames = [is_frame(line) for line in lines]
    ranked = sorted(_found(lines, frames), key=lambda found: found[:2])
    if any(headline.weight > HINTED for _, _, headline in ranked):
        ranked = [found for found in ranked if found[2].weight > HINTED]
    made: dict[str, Signature] = {}
    seen: set[tuple[str, str]] = set()
    for _, _, headline in ranked:
        like = (headline.kind, headline.message.translate(_NO_DIGITS))  # a thousand similar lines are masked once
        if like in seen:
            continue
        seen.add(like)
        signature = _made(headline)
        if signature is not None:
            made.setdefault(signature.key, signature)
        if len(made) == MOST or len(seen) == 4 * MOST:
            break
    if not made and failed:
        said = next(
            (line for line, frame in zip(lines, frames, strict=True) if not frame and _LETTERS.search(line)), ""
        )
        signature = _made(Headline("", said.strip(), 0))
        return (signature,) if signature else ()
    return tuple(made.values())


def template_of(line: str) -> str:
    """Return the template of any line of a log, also of one without an error; measurements alone ask for it."""
    return generalise(mask(line))


def _lines(text: str) -> list[str]:
    cut = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    return [line[:LONGEST].rstrip() for line in cut.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _found(lines: Sequence[str], frames: Sequence[bool]) -> Iterator[tuple[int, int, Headline]]:
    """Yield each headline with its sort key: certainty, then position, last first where the cause is printed last."""
    traceback, last_first = False, any(map(_begins_traceback, lines))
    for at, line in enumerate(lines):
        if frames[at] or not line.strip():
            continue
        if _begins_traceback(line):
            traceback = True
            continue
        headline = _read(lines, frames, at, traceback=traceback)
        if traceback and not line.startswith((" ", "\t")):
            traceback = False
        if headline is None:
            continue
        backwards = headline.weight == CAUSE or (last_first and headline.weight == RAISED)
        yield -headline.weight, -at if backwards else at, headline


def _begins_traceback(line: str) -> bool:
    return _TRACEBACK in line or (len(line) >= _RULE and not line.strip("-"))


def _read(lines: Sequence[str], frames: Sequence[bool], at: int, *, traceback: bool) -> Headline | None:
    line = plain(lines[at])
    if (line[:1] in _PREFIXED or "|" in line) and (prefix := _PREFIX.match(line)):
        line = line[prefix.end() :]
    headline = headline_of(line)
    stacked = at + 1 < len(lines) and frames[at + 1]
    unindented = traceback and not lines[at].startswith((" ", "\t"))
    if (headline is None or headline.weight < RAISED) and (unindented or stacked) and (known := _ANY_CLASS.match(line)):
        headline = Headline(str(known["kind"]), str(known["message"] or ""), RAISED)
    if headline is None:
        return None
    for inner in deeper(headline):
        headline = Headline(inner.kind, inner.message, max(headline.weight, inner.weight))
    if headline.message:
        return unwrapped(headline)
    follows = (plain(lines[place]) for place in range(at + 1, min(at + 6, len(lines))) if not frames[place])
    telling = (_TOOL.sub("", text) for text in follows if not is_empty_talk(text))
    said = next((text for text in telling if _LETTERS.search(text)), "")
    return Headline(headline.kind, "" if _is_a_class(headline.kind) else said, headline.weight)


def _is_a_class(kind: str) -> bool:
    return kind.endswith(("Error", "Exception", "Interrupt", "Exit", "Iteration")) and kind.lower() not in _GENERAL


def _made(headline: Headline) -> Signature | None:
    exception = _short(headline.kind)
    message = plain(headline.message)[:LONGEST]
    template = mask(_ASIDE.sub("", _command_out(message)))
    if not exception and not _LETTERS.search(MARK.sub("", template)):  # the whole message is in quotes
        template = mask(_QUOTES.sub(" ", message))
    template = template[:_TEMPLATE]
    compared = generalise(template)
    if not exception and not _LETTERS.search(MARK.sub("", template)):
        return None
    words = sorted({word for word in _LETTERS.findall(compared) if word not in _STOP})
    kind, names = exception.lower(), _names(message)
    return Signature(
        exception=exception,
        template=template,
        key=_digest(f"{kind}\n{compared}"),
        exact=_digest("\n".join((kind, compared, *names, *_told_apart(message)))),
        coarse=_digest(f"{kind}\n{' '.join(words)}"),
        names=names,
        message=message,
    )


def _short(kind: str) -> str:
    """Return a class without its package; empty for a general word such as `Error`."""
    last = kind.replace("\\", ".").replace("::", ".").replace("/", ".").rsplit(".", 1)[-1].strip()
    return "" if last.lower().replace(" ", "") in _GENERAL else last[:80]


def _command_out(message: str) -> str:
    """Return a shell's message about a command in one form, because each shell has its own order of words."""
    if found := _OF_A_COMMAND.match(message):
        return f"'{found['value']}': {str(found['after']).removeprefix('command ')}"
    return _NOT_FOUND.sub("'command': not found", message)


def _names(message: str) -> tuple[str, ...]:
    quoted = (next(filter(None, groups), "").strip() for groups in _QUOTED.findall(message))
    told = (*(str(found["name"]) for found in _PACKAGE.finditer(message)), *quoted)
    return tuple(dict.fromkeys(name for name in told if 0 < len(name) <= _NAME and not _NO_NAME.search(name)))[:_NAMES]


def _told_apart(message: str) -> Iterator[str]:
    """Yield what else tells one error from another: the command that it ran, its status, and that there is nothing."""
    yield from (str(found["command"]) for found in _SHELLED.finditer(message))
    yield from (str(found["number"]) for found in _STATUS.finditer(message))
    if "(from versions: none)" in message:  # another cause than that the index has other versions
        yield "none"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
