"""Replaces the parts of a line that differ between machines by marks: paths, hosts, names, numbers, times, secrets."""

from __future__ import annotations

from collections.abc import Callable

from repertoire import linear
from repertoire.traces.expressions import expression

LONGEST = 1_000  # characters of a line that are read
ANY = "<*>"

MARK = linear.compile(r"<(?:secret|url|time|id|mail|host|path|name|address|version|number)>")
_RUN = linear.compile(
    r"(?:<(?:secret|url|time|id|mail|host|path|name|address|version|number)>(?:[ ,;:/|.()\[\]{}@#+-]*))+"
)
_ESCAPE = linear.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_ODD_QUOTES = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u00b4", "'"), **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d", '"')}
)

_HOST_ENDS = "com|net|org|io|dev|edu|gov|info|biz|cloud|app|local|localdomain|internal|lan|arpa"
_COUNTRIES = "ar|at|au|be|br|ca|ch|cl|cn|cz|de|dk|es|eu|fi|fr|gr|hk|hu|id|ie|il|in|ir|it|jp|kr|mx|my|nl|no|nz|om|pe|ph|pl|pt|ro|ru|se|sg|th|tr|tw|ua|uk|us|vn|za"
_FILE_ENDS = (
    "py|pyi|pyc|ipynb|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|java|kt|kts|scala|groovy|gradle|rb|erb|rake|php|go|rs"
    "|c|cc|cpp|cxx|h|hh|hpp|hxx|o|so|dll|dylib|exe|lib|cs|fs|swift|m|mm|dart|ex|exs|erl|lua|pl|pm|sql|sh|bash|zsh|ps1"
    "|bat|json|jsonl|ya?ml|toml|xml|html?|css|scss|less|lock|log|txt|md|csv|ini|cfg|conf|properties|jar|war|class|whl"
    "|tar|gz|tgz|zip|db|sqlite3?|pem|crt|key|pid|sock|tmp|bak|proto|tf|cmake|mk"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:[ ]?[AaPp][Mm]\b)?(?:[ ]?(?:Z\b|(?:UTC|GMT|[A-Z]{2,3}T)\b|[+-]\d{2}:?\d{2}\b))?"
_SECRETIVE = r"passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
_PERSONAL = r"user(?:[_ -]?(?:name|id))?|logname|login|account|owner|r?host(?:name)?|ruser|server|database|db(?:name)?"


def _kept(mark: str) -> Callable[[linear.LinearMatch], str]:
    def replace(match: linear.LinearMatch) -> str:
        groups = match.groupdict()
        return (groups.get("before") or "") + mark + (groups.get("after") or "")

    return replace


def _named(match: linear.LinearMatch) -> str:
    """Mask a person's name; `for user bob` and `for invalid user bob` are left to the rule for users."""
    word = str(match["value"])
    return str(match.group()) if word.lower() in _NO_NAMES else str(match["before"]) + "<name>"


def _hash(match: linear.LinearMatch) -> str:
    return str(match.group()) if str(match.group()).isdigit() else "<id>"


def _opaque(match: linear.LinearMatch) -> str:
    """Mask a long sequence of letters and digits, as in keys, tokens and hashes."""
    token = str(match.group())
    return "<id>" if any(sum(map(str.isdigit, run)) > 1 for run in _ROW.findall(token)) else token


_ROW = linear.compile(r"[A-Za-z0-9]{16,}")
_NO_NAMES = frozenset(
    """a an and are as at be by cannot could did does failed for from has have in invalid is it its must name not of on
    or request should that the this to unknown was were with without""".split()
)

# Applied in this order, so that a path within a URL is not masked as a path, nor a time as a host's port.
_MASKS: tuple[tuple[linear.LinearPattern, str | Callable[[linear.LinearMatch], str]], ...] = (
    (expression(r"\[(?:secret|email)\]"), "<secret>"),
    (
        expression(
            rf"""(?i)(?P<before>(?:^|[^a-z0-9])[a-z0-9_.-]{{0,40}}(?:{_SECRETIVE})[a-z0-9_]{{0,20}}["'`]?[ ]?(?:=|:=|=>|:)
            [ ]?)(?:"[^"]*"|'[^']*'|[^\s"'`,;&)]+)"""
        ),
        _kept("<secret>"),
    ),
    (expression(rf"(?i)(?P<before>--[a-z-]{{0,30}}(?:{_SECRETIVE})[ ])[^ ]+"), _kept("<secret>")),
    (expression(r"(?i)(?P<before>\b(?:bearer|basic)[ ])[a-z0-9._~+/=-]{12,}"), _kept("<secret>")),
    (
        expression(r"(?P<before>\b(?:satisfies[ ]the[ ]requirement|Unable[ ]to[ ]locate[ ]package)[ ])\w[^ (]*"),
        _kept("<name>"),
    ),
    (expression(r"""\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s"'`<>|]*"""), "<url>"),
    (
        expression(
            rf"""(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?[ ]+)?
            (?:\b{_MONTH}[ ]+\d{{1,2}}|\b\d{{1,2}}[ -]{_MONTH})(?:,?[ -]+\d{{4}})?(?:[ :,T]+{_CLOCK})?(?:[ ]\d{{4}}\b)?
            |\b\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T :_-]+{_CLOCK})?
            |\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}(?:[ :,T]+{_CLOCK})?"""
        ),
        "<time>",
    ),
    (expression(r"\{?\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b\}?"), "<id>"),
    (expression(r"\b(?:sha(?:1|256|512)[:-])[A-Za-z0-9+/=_-]{16,}"), "<id>"),
    (expression(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}\b"), "<mail>"),
    (expression(r"(?P<before>^|[^\w.-])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?:/\d{1,2})?\b"), _kept("<host>")),
    (expression(r"\[(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}\](?::\d{1,5})?"), "<host>"),
    (expression(r"\b(?:[0-9a-fA-F]{1,4}:){5,7}[0-9a-fA-F]{1,4}\b"), "<host>"),
    (
        expression(
            r"""(?P<before>^|[^\w/\\<])(?:[A-Za-z]:[\\/]|\\\\[\w.-]+\\)(?:[\w.@+~$%-]+(?:[ ][\w.@+~$%-]+)?[\\/])*[\w.@+~$%-]*
            (?:\(\d+(?:,\d+)?\)|(?::\d+){0,2})"""
        ),
        _kept("<path>"),
    ),
    (
        expression(
            r"""(?P<before>^|[\s"'`(=:,\[{|>])(?:(?:file:)?(?:~|\.{1,2})?/)(?:[\w.@+~$%*=\[\]-]+/)*[\w.@+~$%*=-]+/?
            (?:\(\d+(?:,\d+)?\)|(?::\d+){0,2})"""
        ),
        _kept("<path>"),
    ),
    (
        expression(
            rf"""(?P<before>^|[\s"'`(=:,\[{{|>@])(?:[\w.@+~-]+[/\\])*[\w.@+~-]+\.(?:{_FILE_ENDS})(?:\(\d+(?:,\d+)?\)|(?::\d+){{1,2}}|\b)
            (?P<after>$|[^.\w(])"""
        ),
        _kept("<path>"),
    ),
    (
        expression(
            rf"""(?i)\b(?:(?:[a-z0-9][a-z0-9-]*\.)+(?:{_HOST_ENDS})|(?:[a-z0-9][a-z0-9-]*\.){{2,}}(?:{_COUNTRIES}))(?::\d{{1,5}})?\b(?P<after>$|[^.\w(])"""
            rf"""|\b(?:localhost|[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+):\d{{2,5}}\b"""
        ),
        _kept("<host>"),
    ),
    (expression(r"\blocalhost\b"), "<host>"),
    (expression(r"""(?P<before>^|[\s"'`(=:,\[{|>])(?:[\w.@+~-]+/){2,}[\w.@+~-]+"""), _kept("<path>")),
    (expression(rf"(?P<before>^|[^\w:])<?{_CLOCK}"), _kept("<time>")),
    (
        expression(r"(?P<before>^|[^\w<])<?\d+(?:\.\d+)?[ ]?(?:[num]?s|secs?|seconds?|minutes?|hours?|days?)\b"),
        _kept("<time>"),
    ),
    (
        expression(rf"""(?i)(?P<before>\b(?:{_PERSONAL})(?:=|[ ]=[ ])["'`]?)[\w.@$\\-]+"""),
        _kept("<name>"),
    ),
    (
        expression(
            r"""(?P<before>^|[^\w'"`<])(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`'\n]{0,200}['`]|``[^`'\n]{0,200}'')"""
        ),
        _kept("<name>"),
    ),
    (
        expression(
            r"""(?i)(?P<before>\b(?:(?:password|login|session)[ ]for[ ]+(?:(?:invalid|unknown)[ ]+)?(?:user[ ]+)?
            |(?:user|username|role|account|host|hostname)[ ]+))(?P<value>[\w$.-]+)"""
        ),
        _named,
    ),
    (expression(r"(?i)(?P<before>^|[^\w<])(?:0x[0-9a-f]+|@[0-9a-f]{5,16})\b"), _kept("<address>")),
    (expression(r"\b(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{16}|[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{64})\b"), _hash),
    (expression(r"(?P<before>^|[^\w<])[0-9a-fA-F]*(?:[0-9][a-fA-F]|[a-fA-F][0-9])[0-9a-fA-F]{4,}\b"), _kept("<id>")),
    (expression(r"[A-Za-z0-9+/_=.-]{16,}"), _opaque),
    (expression(r"(?P<before>^|[^\w<.-])-?[vV]?\d+(?:\.\d+){1,4}(?:[-+~][\w.+~-]+)?"), _kept("<version>")),
    (expression(r"\b(?:[A-Za-z][A-Za-z]*[_~-])+[A-Za-z0-9_~-]*\d[\w~-]*"), "<id>"),
    (expression(r"\b\d+(?:[_.-]+\d+)+\b"), "<id>"),
    (expression(r"(?P<before>^|[^\w<])[-+]?\d+(?:[,']\d{3})*(?:[.,]\d+)?%?"), _kept("<number>")),
)
_CODE = linear.compile(r"\b(?:E|W|F|R|C|TS|CS|VB|FS|BC|MSB|NU|NETSDK|LNK|DL|SC|RUF|PLR|PLS-|ORA-|CVE-)\d{3,5}\b")
_SIZE = linear.compile(
    r"(?i)(?:<version>|<number>)[ ]?(?:[kmgt]i?b|bytes?|b)\b(?:[ ]?\((?:<version>|<number>)[ ]?[kmgt]i?b\))?"
)
_INNER = linear.compile(r"(?P<before>[A-Za-z_$])\d+")


def plain(line: str) -> str:
    """Return a line without colour codes, with one kind of quotes and single spaces."""
    shown = _ESCAPE.sub("", line[:LONGEST]) if "\x1b" in line else line[:LONGEST]
    return " ".join(shown.translate(_ODD_QUOTES).split())


def mask(line: str) -> str:
    """Return a line with a mark for each part that differs between machines; the function is idempotent."""
    text = plain(line)
    for pattern, new in _MASKS:
        text = pattern.sub(new, text)
    return _SIZE.sub("<number>", text)


def generalise(masked: str) -> str:
    """Return the form of a masked line for comparison: one kind of mark, runs of marks merged, no digits in words."""
    text = _RUN.sub(ANY + " ", masked)
    return " ".join(_INNER.sub(lambda match: match["before"] + "0", text).split()).lower()
