"""Follows what a program puts under a name: secrets that leave the machine, code from elsewhere that is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repertoire.domain.trust import CRITICAL
from repertoire.trust import commands, data
from repertoire.trust.check import Found
from repertoire.trust.document import LONGEST, SCRIPT, Document

SECRET, FETCHED, DECODED = "secret", "fetched", "decoded"

_LONGEST_PROGRAM = 1_500  # lines: a program made to be slow must not stop an ingest
_MOST_NAMES = 40
_GOES_ON = ("\\", "(", "{", ",")
_REACH = 6  # lines that a call may be written over
_SOURCES = {
    SECRET: re.compile(
        rf"""(?ix) {data.STORES} | {data.OF_HOME} | {data.WHOLE_ENVIRONMENT} | \bgh\s+auth\s+token\b | \bfind-(?:generic|internet)-password\b[^\n]*-\w*w
           | \b(?:pbpaste|pyperclip\.paste|Get-Clipboard|wl-paste|clipboard\.read(?:Sync|Text)?\()|\bxclip\b[^\n]*-o\b
           | \.claude[/\\]projects\b | \bos\.environ\.items\(\) | \bfor\s+\w+(?:\s*,\s*\w+)?\s+in\s+os\.environ\b
           | (?:~|HOME|home(?:dir)?\(\)|expanduser)[^\n]{{0,60}}(?:\*\*|rglob|-name)[^\n]{{0,20}}\.env\b | \bbrowser_cookie3\.\w+\("""
    ),
    FETCHED: re.compile(
        r"""(?ix) \b(?:requests|httpx|session)\.(?:get|post)\( | \burlopen\( | \bfetch\(\s*["'`]?http | \baxios(?:\.get)?\( | \bDownloadString\( | \bInvoke-(?:WebRequest|RestMethod)\b | \b(?:iwr|irm)\s
           | (?:\$\(|`)\s*(?:curl|wget)\b"""
    ),
    DECODED: re.compile(
        r"(?i)\b(?:b(?:64|32|85|16)decode|a85decode|unhexlify|fromhex|marshal\.loads|codecs\.decode|atob|FromBase64String|fromCharCode)\b|Buffer\.from\([^\n]{0,400}[\"'](?:base64|hex)[\"']"
    ),
}
# Where none of these words stands, nothing needs to be followed.
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
_SENDS = re.compile(
    rf"(?i){data.SINK}|\bhttps?[\"']?\)?\.(?:get|request|post)\(|\b(?:session|client)\.(?:post|put)\(|\bget(?:hostbyname|addrinfo)\(|\bdns\.\w*(?:resolve|lookup)\w*\("
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
_RUNS = r"(?:(?<![.\w])(?:exec|eval|compile)\([^\n]{0,40}|\bnew\s+Function\([^\n]{0,60}|(?<![.\w])Function\([^\n]{0,40}|\bvm\.run\w*\([^\n]{0,20}|\b(?:os\.system|os\.popen|execSync|exec)\(\s*|\b(?:iex|Invoke-Expression)\s+[\"'(]*|\b(?:eval|(?:ba|z|da)?sh\s+-\w*c|python3?\s+-c|node\s+-e)\s+[\"']?)"
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
_WITH_A_SHELL = (
    r"\b(?:run|call|Popen|check_output|check_call|getoutput)\(\s*(?:f?[\"']\{{?)?{name}\b[^\n]*shell\s*=\s*True"
)
_PUTS = re.compile(
    r"""(?x) \s*(?:(?:export|local|readonly|const|let|var|my|declare|set)\s+)*\$?(?P<name>[A-Za-z_]\w{0,40})(?:\[[^\]\n]{0,60}\]|\.(?:append|update|extend|push)\()?\s*(?:[:+]?=(?![=>])|(?<=\())
       | \s*(?:async\s+)?(?:with\s[^\n]{1,200}\sas\s+(?P<opened>\w{1,40}) | for\s+(?:const\s+|let\s+|await\s+)*[(\[]?(?P<each>\w{1,40})(?:\s*,\s*(?P<other>\w{1,40}))?[)\]]?\s+(?:in|of)\s)"""
)
_METHOD = re.compile(r"\s*(\w{1,40})\.(?:append|update|extend|push|set)\(")
_ADDRESS = re.compile(r"(?i)https?://([\w.-]+)")
# To whom a secret belongs may be sent it: that is what it is for.
_OWNERS = re.compile(
    r"(?i)(?:^|\.)(?:api\.github\.com|github\.com|anthropic\.com|claude\.ai|openai\.com|amazonaws\.com|googleapis\.com|google\.com|azure\.com|microsoft(?:online)?\.com"
    r"|gitlab\.com|registry\.npmjs\.org|docker\.(?:io|com)|huggingface\.co|cloudflare\.com|localhost|local|internal)$|^(?:localhost|127\.|10\.|192\.168\.|0\.0\.0\.0)"
)
_AGAIN = re.compile(r"(?m)^\s*(?:while\s+(?:True|1|:|true)|for\s*\(;;\)|setInterval\()")
_NO_CODE = re.compile(r"\s*(?:#(?!!)|//|\*|/\*)")


def flows(document: Document) -> Iterator[Found]:
    """Yield the lines of a program that send away, or run, what other lines put under a name."""
    if document.kind != SCRIPT or len(document.lines) > _LONGEST_PROGRAM:
        return
    low = document.lower
    sends = any(hint in low for hint in _SENDS_HINTS)
    runs = any(hint in low for hint in _RUNS_HINTS)
    for kind in _SOURCES:
        if sends if kind == SECRET else runs:
            yield from _follow(document, kind)


def _follow(document: Document, kind: str) -> Iterator[Found]:
    """Yield the first line that sends or runs what a source of this kind gave."""
    sources = _where(document, kind)
    names: dict[str, int] = {}
    held: re.Pattern[str] | None = None
    for at in range(min(sources, default=len(document.lines)), len(document.lines)):
        text = document.lines[at][:LONGEST]
        if at not in sources and (
            held is None or not held.search(_call(document, at) if text.rstrip().endswith(_GOES_ON) else text)
        ):
            continue
        found = _sent(document, at, names) if kind == SECRET else _run(document, at, kind, names)
        if found is not None:
            yield found
            return
        put = _PUTS.match(text) or _METHOD.match(text)
        if put is None or len(names) >= _MOST_NAMES or (at not in sources and not (held and held.search(text))):
            continue
        for name in filter(None, put.groups()):
            names.setdefault(name, at + 1)
        held = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})\b") if names else None


def _where(document: Document, kind: str) -> set[int]:
    """Return the indices of the lines where something of this kind comes from."""
    pattern = _SOURCES[kind]
    hinted = {index for hint in _HINTS[kind] if hint in document.lower for index in document.numbers_of(hint)}
    return {
        index
        for index in hinted
        if not _NO_CODE.match(document.lines[index]) and pattern.search(document.lines[index][:LONGEST])
    }


def _held(names: dict[str, int], text: str) -> str:
    return next((name for name in names if name in text and re.search(rf"(?<![\w.]){re.escape(name)}\b", text)), "")


def _sent(document: Document, at: int, names: dict[str, int]) -> Found | None:
    """Return the flag of a line that sends away what is under one of these names, or what it reads itself."""
    text = document.lines[at][:LONGEST]
    sent = _SENDS.search(text)
    if sent is None or _NO_CODE.match(text):
        return None
    call = _call(document, at)
    name = _held(names, call[sent.start() :]) or _held(names, call)
    piped = None if document.is_program else _SOURCES[SECRET].search(text[: sent.start()])
    here = _SOURCES[SECRET].search(call[sent.end() :]) or (piped and "|" in text[piped.end() : sent.start()])
    if not (name or here) or not _leaves(document, call):
        return None
    reason = f"sends away what line {names[name]} read" if name else "reads what is secret and sends it away"
    return Found(data.SENDS, CRITICAL, document.line(at), reason)


def _run(document: Document, at: int, kind: str, names: dict[str, int]) -> Found | None:
    """Return the flag of a line that runs what is under one of these names."""
    text = document.lines[at][:LONGEST]
    for name, since in names.items():
        if name not in text or since == at + 1 or _NO_CODE.match(text):
            continue
        word = re.escape(name)
        if re.search(rf"(?i){_RUNS}\$?\{{?\b{word}\b", text) or re.search(_WITH_A_SHELL.format(name=word), text):
            fetched = commands.REMOTE if _AGAIN.search(document.text) and "shell" in text else commands.DOWNLOAD
            rule = commands.OBFUSCATION if kind == DECODED else fetched
            did = "decoded" if kind == DECODED else "fetched"
            return Found(rule, CRITICAL, document.line(at), f"runs what line {since} {did}")
    return None


def _call(document: Document, at: int) -> str:
    """Return a call that is written over several lines as one text."""
    text = document.lines[at][:LONGEST]
    for index in range(at + 1, min(at + _REACH, len(document.lines))):
        if text.count("(") <= text.count(")") and not text.rstrip().endswith(("\\", ",", "|")):
            break
        text += "\n" + document.lines[index][:LONGEST]
    return text


def _leaves(document: Document, call: str) -> bool:
    """Tell a call to a stranger from one to this machine or to those whose secret it is."""
    hosts = _ADDRESS.findall(call) or _ADDRESS.findall(document.text)
    if not hosts:
        return (
            re.search(
                r"(?i)\b(?:nc|ncat|netcat|dig|nslookup|scp|rsync)\b|gethostbyname|getaddrinfo|rsync://|Resolve-DnsName",
                call,
            )
            is not None
        )
    return any(not _OWNERS.search(host) for host in hosts)
