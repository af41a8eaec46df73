"""Tracks taint in a script: variables that hold a secret which is sent, or downloaded or decoded data that is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from repertoire import linear
from repertoire.domain.trust import CRITICAL
from repertoire.trust import commands, exfiltration
from repertoire.trust.check import CheckMatch, Match, MatchFinder
from repertoire.trust.scanned_text import SCRIPT, ScannedText

SECRET, FETCHED, DECODED = "secret", "fetched", "decoded"

_LONGEST_PROGRAM = 1_500  # lines; a script made to be slow must not stop an ingest
_MOST_NAMES = 40  # tainted names that are followed
_GOES_ON = ("\\", "(", "{", ",")  # ends of a line that continues on the next
_REACH = 6  # lines that a call may span
_SOURCES: dict[str, tuple[MatchFinder, ...]] = {
    SECRET: (
        re.compile(rf"(?ix) {exfiltration.STORES} | {exfiltration.OF_HOME} | {exfiltration.WHOLE_ENVIRONMENT}"),
        linear.compile(
            r"""(?i) \bgh\s+auth\s+token\b | \bfind-(?:generic|internet)-password\b[^\n]*-\w*w
               | \b(?:pbpaste|pyperclip\.paste|Get-Clipboard|wl-paste|clipboard\.read(?:Sync|Text)?\()|\bxclip\b[^\n]*-o\b
               | \.claude[/\\]projects\b | \bos\.environ\.items\(\) | \bfor\s+\w+(?:\s*,\s*\w+)?\s+in\s+os\.environ\b
               | (?:~|HOME|home(?:dir)?\(\)|expanduser)[^\n]{0,60}(?:\*\*|rglob|-name)[^\n]{0,20}\.env\b | \bbrowser_cookie3\.\w+\(""",
            verbose=True,
        ),
    ),
    FETCHED: (
        linear.compile(
            r"""(?i) \b(?:requests|httpx|session)\.(?:get|post)\( | \burlopen\( | \bfetch\(\s*["'`]?http | \baxios(?:\.get)?\( | \bDownloadString\( | \bInvoke-(?:WebRequest|RestMethod)\b | \b(?:iwr|irm)\s
               | (?:\$\(|`)\s*(?:curl|wget)\b""",
            verbose=True,
        ),
    ),
    DECODED: (
        linear.compile(
            r"(?i)\b(?:b(?:64|32|85|16)decode|a85decode|unhexlify|fromhex|marshal\.loads|codecs\.decode|atob|FromBase64String|fromCharCode)\b|Buffer\.from\([^\n]*[\"'](?:base64|hex)[\"']"
        ),
    ),
}
# lower-case needles, one of which a source line must hold; they save most matching
_HINTS = {
    SECRET: (
        *(
            ".ssh",
            "credentials",
            ".netrc",
            ".npmrc",
            "os.environ",
            "process.env",
            "printenv",
            "env |",
            "(env",
            "auth token",
            "find-generic",
        ),
        *(
            "pbpaste",
            "clipboard",
            "xclip",
            "wl-paste",
            ".claude",
            ".kube",
            "mcp.json",
            "login data",
            "wallet.dat",
            "cookie",
            ".env",
            "find-internet",
        ),
    ),
    FETCHED: (
        "requests.",
        "httpx.",
        "session.",
        "urlopen",
        "fetch(",
        "axios",
        "downloadstring",
        "invoke-",
        "iwr ",
        "irm ",
        "curl",
        "wget",
    ),
    DECODED: ("decode", "unhexlify", "fromhex", "marshal", "atob", "frombase64", "fromcharcode", "buffer.from("),
}
_SENDS = linear.compile(
    rf"(?i){exfiltration.SINK}|\bhttps?[\"']?\)?\.(?:get|request|post)\(|\b(?:session|client)\.(?:post|put)\(|\bget(?:hostbyname|addrinfo)\(|\bdns\.\w*(?:resolve|lookup)\w*\("
    r"|\bResolve-DnsName\b|\.send(?:all|mail)?\(|\bstor(?:binary|lines)\(|\.Upload(?:String|Data|File)\("
)
_SENDS_HINTS = (
    "curl",
    "wget",
    "requests.",
    "httpx",
    "fetch(",
    "axios",
    "urlopen",
    "http",
    "socket",
    "nc ",
    "dig ",
    "dns.",
    "scp ",
    "rsync",
    "invoke-",
    ".upload",
    "smtp",
)
# the text directly before a name that is run; it is matched backwards from each name, which is faster
_RUNS = linear.compile(
    r"""(?i) (?:(?:^|[^.\w])(?:exec|eval|compile)\([^\n]{0,40}|\bnew\s+Function\([^\n]{0,60}|(?:^|[^.\w])Function\([^\n]{0,40}
        |\bvm\.run\w*\([^\n]{0,20}|\b(?:os\.system|os\.popen|execSync|exec)\(\s*|\b(?:iex|Invoke-Expression)\s+["'(]*
        |\b(?:eval|(?:ba|z|da)?sh\s+-\w*c|python3?\s+-c|node\s+-e)\s+["']?) \$?\{?$""",
    verbose=True,
)
_NEAR = 200  # characters before a name that are matched
_RUNS_HINTS = (
    "exec",
    "eval",
    "function(",
    "vm.run",
    "system(",
    "popen(",
    "iex",
    "invoke-expression",
    " -c",
    "node -e",
    "shell=true",
)
_CALLS = re.compile(
    r"""(?x) \b(?:run|call|Popen|check_output|check_call|getoutput)\(\s*(?=(?P<bare>\w+)?)(?:f?["']\{?)?(?=(?P<name>\w+))"""
)
_WITH_A_SHELL = re.compile(r"shell\s*=\s*True")
_WORD, _OWN_WORD = re.compile(r"\w+"), re.compile(r"(?<![\w.])\w+")
_PUTS = re.compile(
    r"""(?x) \s*(?:(?:export|local|readonly|const|let|var|my|declare|set)\s+)*\$?(?P<name>[A-Za-z_]\w{0,40})(?:\[[^\]\n]{0,60}\]|\.(?:append|update|extend|push)\()?\s*(?:[:+]?=(?![=>])|(?<=\())
       | \s*(?:async\s+)?(?:with\s[^\n]{1,200}\sas\s+(?P<opened>\w{1,40}) | for\s+(?:const\s+|let\s+|await\s+)*[(\[]?(?P<each>\w{1,40})(?:\s*,\s*(?P<other>\w{1,40}))?[)\]]?\s+(?:in|of)\s)"""
)
_METHOD = re.compile(r"\s*(\w{1,40})\.(?:append|update|extend|push|set)\(")
_ADDRESS = re.compile(r"(?i)https?://([\w.-]+)")
# hosts that issue secrets, to which secrets may be sent, and the local machine
_OWNERS = re.compile(
    r"(?i)(?:^|\.)(?:api\.github\.com|github\.com|anthropic\.com|claude\.ai|openai\.com|amazonaws\.com|googleapis\.com|google\.com|azure\.com|microsoft(?:online)?\.com"
    r"|gitlab\.com|registry\.npmjs\.org|docker\.(?:io|com)|huggingface\.co|cloudflare\.com|localhost|local|internal)$|^(?:localhost|127\.|10\.|192\.168\.|0\.0\.0\.0)"
)
_BARE_SENDERS = re.compile(
    r"(?i)\b(?:nc|ncat|netcat|dig|nslookup|scp|rsync)\b|gethostbyname|getaddrinfo|rsync://|Resolve-DnsName"
)
_AGAIN = re.compile(r"(?m)^[^\S\n]*(?:while\s+(?:True|1|:|true)|for\s*\(;;\)|setInterval\()")
_NO_CODE = re.compile(r"\s*(?:#(?!!)|//|\*|/\*)")


def tainted_lines(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield matches for lines of a script that send or run a variable which other lines tainted."""
    if document.kind != SCRIPT or len(document.lines) > _LONGEST_PROGRAM:
        return
    low = document.lower
    sends = any(hint in low for hint in _SENDS_HINTS)
    runs = any(hint in low for hint in _RUNS_HINTS)
    program = _Program(document)
    for kind in _SOURCES:
        if sends if kind == SECRET else runs:
            yield from _follow(program, kind)


class _Program:
    """A script's lines, its calls over several lines, and the hosts that it names."""

    def __init__(self, document: ScannedText) -> None:
        self.document = document
        self.lines = document.lines

    def call(self, at: int) -> str:
        """Return the call that begins on a line as one text, up to `_REACH` lines."""
        text = self.lines[at]
        for line in self.lines[at + 1 : at + _REACH]:
            if text.count("(") <= text.count(")") and not text.rstrip().endswith(("\\", ",", "|")):
                break
            text += "\n" + line
        return text

    def leaves(self, call: str) -> bool:
        """Tell whether a call sends data to a host that is neither local nor an issuer of secrets."""
        if _ADDRESS.search(call):
            return _is_to_strangers(call)
        return self._names_strangers if self._has_addresses else _BARE_SENDERS.search(call) is not None

    @cached_property
    def _has_addresses(self) -> bool:
        return _ADDRESS.search(self.document.text) is not None

    @cached_property
    def _names_strangers(self) -> bool:
        return _is_to_strangers(self.document.text)


def _is_to_strangers(text: str) -> bool:
    return any(not _OWNERS.search(host) for host in _ADDRESS.findall(text))


def _follow(program: _Program, kind: str) -> Iterator[CheckMatch]:
    """Yield a match for the first line that sends or runs data of this kind of source."""
    sources = _source_lines(program.document, kind)
    names: dict[str, int] = {}
    for at in range(min(sources, default=len(program.lines)), len(program.lines)):
        text = program.lines[at]
        if at not in sources and not _tainted_name(
            names, program.call(at) if text.rstrip().endswith(_GOES_ON) else text
        ):
            continue
        found = _leak_match(program, at, names) if kind == SECRET else _running_match(program, at, kind, names)
        if found is not None:
            yield found
            return
        put = _PUTS.match(text) or _METHOD.match(text)
        if put is None or len(names) >= _MOST_NAMES or (at not in sources and not _tainted_name(names, text)):
            continue
        for name in filter(None, put.groups()):
            names.setdefault(name, program.document.numbers[at])


def _source_lines(document: ScannedText, kind: str) -> set[int]:
    """Return the indices of the lines that read a source of this kind."""
    hinted = {index for hint in _HINTS[kind] if hint in document.lower for index in document.numbers_of(hint)}
    return {
        index for index in hinted if not _NO_CODE.match(document.lines[index]) and _source(kind, document.lines[index])
    }


def _source(kind: str, text: str) -> Match | None:
    """Return the first match of a source of this kind in a text; None without one."""
    return next((found for pattern in _SOURCES[kind] for found in pattern.finditer(text)), None)


def _tainted_name(names: dict[str, int], text: str) -> str:
    """Return the first of these names that a text holds as a word, not as an attribute; empty without one."""
    if not any(name in text for name in names):
        return ""
    words = set(_OWN_WORD.findall(text))
    return next((name for name in names if name in words), "")


def _leak_match(program: _Program, at: int, names: dict[str, int]) -> CheckMatch | None:
    """Return the match of a line that sends a tainted variable or a secret that it reads; None for other lines."""
    text = program.lines[at]
    sent = _SENDS.search(text)
    if sent is None or _NO_CODE.match(text):
        return None
    call = program.call(at)
    name = _tainted_name(names, call[sent.start() :]) or _tainted_name(names, call)
    piped = None if program.document.is_program else _source(SECRET, text[: sent.start()])
    between = text[piped.end() - 1 : sent.start()] if piped else ""  # the match may include the pipe itself
    here = _source(SECRET, call[sent.end() :]) or "|" in between
    if not (name or here) or not program.leaves(call):
        return None
    reason = f"sends away what line {names[name]} read" if name else "reads what is secret and sends it away"
    return CheckMatch(exfiltration.SENDS, CRITICAL, program.document.line(at), reason)


def _running_match(program: _Program, at: int, kind: str, names: dict[str, int]) -> CheckMatch | None:
    """Return the match of a line that runs a variable tainted on an earlier line; None for other lines."""
    text = program.lines[at]
    earlier = {name: since for name, since in names.items() if name in text and since != program.document.numbers[at]}
    ran = _run_names(text, set(earlier)) if earlier and not _NO_CODE.match(text) else set()
    name = next((name for name in earlier if name in ran), "")
    if not name:
        return None
    fetched = commands.REMOTE if _AGAIN.search(program.document.text) and "shell" in text else commands.DOWNLOAD
    rule = commands.OBFUSCATION if kind == DECODED else fetched
    did = "decoded" if kind == DECODED else "fetched"
    return CheckMatch(rule, CRITICAL, program.document.line(at), f"runs what line {earlier[name]} {did}")


def _run_names(text: str, names: set[str]) -> set[str]:
    """Return those of these names whose contents a line runs."""
    spelt = {name.lower() for name in names}
    said = {
        word.group().lower()
        for word in _WORD.finditer(text)
        if word.group().lower() in spelt and _RUNS.search(text[max(0, word.start() - _NEAR) : word.start()])
    }
    ran = {name for name in names if name.lower() in said}
    shells = [match.start() for match in _WITH_A_SHELL.finditer(text)]
    for call in _CALLS.finditer(text) if shells else ():
        ran |= {call["bare"] or "", call["name"]} & names if call.end("name") <= shells[-1] else set()
    return ran
