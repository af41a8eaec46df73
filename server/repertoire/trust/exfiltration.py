"""Checks for exfiltration: reading credentials or the environment, and sending them to an address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from repertoire import linear
from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust import places
from repertoire.trust.benign_context import is_bare_order
from repertoire.trust.check import GRAVE, NOTABLE, SERIOUS, Check, CheckMatch, Match
from repertoire.trust.prose import compile_prose
from repertoire.trust.scanned_text import CODE, COMMENT, PROSE, RUN, SHELL, Line, ScannedText

READS, SENDS = "credential-read", "exfiltration"

STORES, OF_HOME, SINK = places.STORES, places.OF_HOME, places.SINK
_LEAD = r"(?:^|[\s;&|(`])"
_NEEDLES = (
    "/.",
    ".ssh",
    ".aws",
    "credentials",
    "/shadow",
    "login data",
    "key4.db",
    "wallet.dat",
    "keychain",
    "cookies.sqlite",
)
_VERB = (
    r"(?:\b(?:cat|less|more|head|tail|cp|tar|zip|base64|xxd|strings|sed|awk|sqlite3|jq|openssl|gpg|rsync|scp|type|Get-Content|gc|copy|tee|curl|nc)\b"
    r"|\b(?:open|read_text|readFile(?:Sync)?|read_bytes|createReadStream|Path|load|copyfile|copy2|expanduser|File\.read)\s*\(|\bfor\s+[\w\x{80}-\x{10ffff}]+\s+in\b|<\s*)"
)
_OWN = re.compile(r"(?i)localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal")
_KEPT = rf"[`\"']?{places.HOME}{STORES}|[`\"']?(?:~/)?\.env\b"
_THINGS = (
    r"(?:\B\.env\b|\b(?:environment\s+variables|env\s+vars|ssh\s+(?:private\s+)?keys?|private\s+keys?|credentials?(?:\s+files?)?|passwords|access\s+tokens|session\s+tokens"
    r"|auth\s+tokens|all\s+(?:\w+\s+)?(?:secrets|tokens|keys)|api\s+keys\s+(?:you|that|found|from)|conversation(?:\s+history)?|chat\s+(?:history|transcript)|system\s+prompt|contents?\s+of\s+\S*(?:\.ssh|\.aws|\.env|credentials)\S*"
    r"|(?:user|customer)(?:'s)?\s+(?:\w+\s+){0,3}?(?:source\s+code|files|data|documents|e-?mails|messages)|browser\s+cookies|keychain|(?:result|output)s?\s+of\s+`?(?:env|printenv)\b`?))"
)


@dataclass(frozen=True)
class _Either:
    """Several expressions as one pattern."""

    patterns: tuple[linear.LinearPattern, ...]

    def finditer(self, text: str, /) -> Iterator[Match]:
        """Yield the matches of all expressions, by their start."""
        yield from sorted(
            (match for pattern in self.patterns for match in pattern.finditer(text)), key=lambda match: match.start()
        )


def _order_severities(_: Match, line: Line) -> Mapping[str, str]:
    if _OWN.search(line.text):
        return {}
    return {PROSE: CRITICAL, COMMENT: CRITICAL, RUN: HIGH}


def _bare_order_severities(match: Match, line: Line) -> Mapping[str, str]:
    """Return severities of an order without an address: it counts only in a comment or as a sentence of its own."""
    start = min(match.start() + len(match.group()) - len(match.group().lstrip()), len(line.text))
    first = _FIRST_ORDER.search(line.text, start)
    bare = first is not None and is_bare_order(line.text, first.start(), len(line.text))
    return _order_severities(match, line) if bare or line.place == COMMENT else {}


_FIRST_ORDER = re.compile(
    r"(?i)\b(?:read|open|take|collect|gather|extract|send|upload|forward|exfiltrate|leak|post|run|cat|get|include|add|pass)\b"
)
_SECRET_INSIDE = linear.compile(rf"(?i){places.FILES}|{places.ALL_ENV}|{places.DOT_FOLDER}|\$\((?:env|printenv)\b")


def _sending_severities(match: Match, line: Line) -> Mapping[str, str]:
    """Return severities of a sending command: it counts only if it sends secrets off this machine."""
    if _OWN.search(line.text) or not _SECRET_INSIDE.search(match.group()):
        return {}
    return GRAVE


def _reading_severities(match: Match, _: Line) -> Mapping[str, str]:
    """Return severities of an order to read; low for cluster and registry files, which are read for honest reasons."""
    usual = ".kube" in match.group() or ".docker" in match.group()
    return {PROSE: LOW, COMMENT: MEDIUM} if usual else {PROSE: HIGH, COMMENT: CRITICAL}


def _keychain_severities(match: Match, _: Line) -> Mapping[str, str]:
    """Return severities of a keychain query: it counts if it reads all entries, or passes a password on."""
    asked = match["after_asked"]
    if asked is None:
        return SERIOUS
    all_of_it = _SHOWS.search(asked) and not _ONE_SERVICE.search(asked.partition("|")[0])
    return SERIOUS if all_of_it or _PASSED_ON.search(asked) else {}


_SHOWS = linear.compile(r"(?i)-\w*[gw]")
_ONE_SERVICE = re.compile(r"(?i)-s\s")
_PASSED_ON = linear.compile(r"(?i)-\w*w\b.*(?:>|\|\s*(?:curl|nc|base64|tee))|(?:Claude|Chrome|Safe\sStorage).*-\w*w\b")
_HOST = r"[\w.\x{80}-\x{10ffff}-]+"
_HELD = r"(?:\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\w*|\$\((?:env|printenv|cat)|@[~/.\w]*\.env\b|os\.environ|encoded\b|/etc/passwd)"
_COLLECTOR = r"(?:webhook\.site|requestbin|ngrok(?:-free)?\.\w+|burpcollaborator|oast\.\w+|pipedream\.net|\b(?:evil|exfil\w*|attacker|steal\w*)[\w-]*\.)"
_NOT_NULL = r"$|[^d]|d(?:$|[^e]|e(?:$|[^v]|v(?:$|[^/]|/(?:$|[^n]))))"
_INTO = r"\|\s*(?:[^\n|]{0,80}\|\s*)?(?:curl|wget|nc|ncat|netcat|ssh)\b[^\n]*"
_SENDING = (
    # the text beside a secret must not match the pipe that follows it
    rf"""(?i) (?: (?:{STORES}|(?P<before>^|[^\w.]){places.DOT_ENV}|{places.OTHER_FILES}) [^\n]{{0,200}} | \.ssh | {places.KEY}) {_INTO}""",
    rf"""(?i) (?:^|[\s;&|(`$])
      (?: (?:printenv\s*[^\w\s|] | env\s*[>)`] | {places.PYTHON_ENV}\s*[,)}}\]] | {places.ENV_ITSELF}) [^\n]{{0,200}} | (?:print)?env\s*) {_INTO}""",
    rf"""(?i) \b(?:curl|wget)\b [^\n|]{{0,300}} (?:@["']?|=@|--post-file[= ]["']?|-T\s*|--upload-file\s+) [\w./~${{}}\\\x{{80}}-\x{{10ffff}}-]* {places.files("after")}""",
    rf"""(?i) \b(?:tar|zip|cat)\b[^\n|]{{0,80}} {places.DOT_FOLDER} [^\n|]{{0,80}} \|\s*(?:[^\n|]{{0,80}}\|\s*)?(?:curl|wget|nc|ncat|ssh)\b[^\n]*""",
    rf"""(?i) {SINK} [^\n]{{0,300}} (?:\$\(|`) [^\n)`]{{1,200}}""",
    rf"""(?i) {SINK} [^\n]{{0,200}} (?:\bprintenv(?P<after_name>\s*[^\w\s]|\s*$) | {places.PYTHON_ENV}(?P<after>\s*[,)}}\]]|\s*$) | {places.ENV_ITSELF})""",
    rf"""(?i) {SINK} [^\n]{{0,200}} (?:open|readFile(?:Sync)?|read_text|expanduser)\( [^\n]{{0,60}} {places.files("after")}""",
    rf"""(?i) \b(?:scp|rsync)\b [^\n]{{0,80}} (?:{places.files()}[^\n]{{0,60}}\s | \.ssh\s) {_HOST}@{_HOST}:""",
)


CHECKS = (
    Check(
        READS,
        "reads where credentials are kept",
        _NEEDLES,
        linear.compile(
            rf"(?i){_VERB}[^\n;|]{{0,80}}?{places.HOME}{places.stores('after')}|home(?:dir)?\(\)[^\n]{{0,40}}{STORES}[^\n]{{0,30}}\.(?:read_text|read_bytes|open)\("
        ),
        {RUN: HIGH, SHELL: MEDIUM, PROSE: LOW, CODE: LOW, COMMENT: HIGH},
    ),
    Check(
        READS,
        "reads a file of the home where tokens are kept",
        ("/.", ".npmrc"),
        linear.compile(rf"(?i){_VERB}[^\n;|]{{0,80}}?{OF_HOME}"),
        {RUN: HIGH, SHELL: LOW, COMMENT: HIGH},
    ),
    Check(
        READS,
        "takes a token out of a tool that keeps it",
        ("gh auth token", "get aws_secret"),
        re.compile(
            r"(?i)\bgh\s+auth\s+token\b[^\n;]{0,40}?(?:(?<!2)>(?!\s*/dev/null|&)|\|\s*(?:curl|nc|tee|base64|xxd))|\baws\s+configure\s+get\s+aws_secret_access_key\b[^\n;]{0,40}(?:>|\|)"
        ),
        {RUN: HIGH, SHELL: LOW, COMMENT: HIGH},
    ),
    Check(
        READS,
        "tells the model to read where credentials are kept",
        _NEEDLES,
        compile_prose(
            rf"(?i)\b(?:read|open|cat|collect|include|attach|fetch|grab|extract|print|load|harvest|gather|dump)\s+(?:(?:the|all|every|any|my|their|contents?|files?|(?:private\s+|ssh\s+)?keys?|of|in|at|from|(?:user|developer)'?s?)\s+){{0,5}}[`\"']?(?:{places.HOME}{places.stores('after')}|{OF_HOME})"
        ),
        {PROSE: HIGH, COMMENT: CRITICAL},
        _reading_severities,
        orders=True,
    ),
    Check(
        READS,
        "takes passwords out of the system's keychain or memory",
        ("keychain", "find-generic", "mimikatz", "reg save", "secret-tool"),
        linear.compile(
            r"(?i)\bsecurity\s+(?:dump-keychain|find-(?:generic|internet)-password\b(?P<after_asked>[^\n]*))|\bmimikatz\b[^\n]{0,200}?sekurlsa|\breg(?:\.exe)?\s+save\s+HKLM\\(?:SAM|SYSTEM|SECURITY)|\bsecret-tool\s+(?:lookup|search)"
        ),
        {},
        _keychain_severities,
    ),
    Check(
        READS,
        "writes out the whole environment, where tokens are",
        ("printenv", "env >", "env |", "os.environ", "process.env"),
        linear.compile(
            rf"(?i){_LEAD}(?:(?:print)?env|{places.ENV_ITSELF})\s*(?:>>?\s*(?:[^\s/]|/(?P<after>{_NOT_NULL}))|\|\s*tee\b)|(?:json\.dumps?|print|console\.log|write\w*)\(\s*(?:JSON\.stringify\(\s*)?(?:dict\(\s*)?(?:os\.environ(?:\.copy\(\))?|process\.env)\s*[,)]"
        ),
        NOTABLE,
    ),
    Check(
        SENDS,
        "sends credentials or the environment to an address",
        (
            "curl",
            "wget",
            "| nc",
            "scp ",
            "requests.",
            "fetch(",
            "axios",
            "invoke-",
            "/dev/",
            "urlopen",
            "os.environ",
            "process.env",
        ),
        _Either(tuple(linear.compile(pattern, verbose=True) for pattern in _SENDING)),
        {},
        _sending_severities,
    ),
    Check(
        SENDS,
        "sends a secret to an address that only collects",
        ("curl", "wget", "requests.", "fetch("),
        linear.compile(
            rf"(?i)\b(?:curl|wget|requests\.(?:post|get)|fetch)\b(?:[^\n]*{_HELD}[^\n]*{_COLLECTOR}|[^\n]*{_COLLECTOR}(?P<after>[^\n]*{_HELD}))"
        ),
        {RUN: CRITICAL, SHELL: HIGH, PROSE: HIGH, CODE: HIGH, COMMENT: CRITICAL},
    ),
    Check(
        SENDS,
        "sends what the client hands to a hook to an address",
        ("jq ", "transcript_path"),
        linear.compile(
            r"(?i)\bjq\b[^\n|]*\.(?:prompt|transcript_path|tool_input|tool_response|last_assistant_message)\b[^\n|]*\|\s*(?:[^\n|]{0,80}\|\s*)?(?:curl|wget|nc)\b[^\n]*"
            r"|\bCLAUDE_TRANSCRIPT_PATH\b[^\n]*\|\s*(?:[^\n|]{0,80}\|\s*)?(?:curl|nc)\b[^\n]*|\bjq\s+-c\s+\.\s*\|\s*curl\b[^\n]*@-[^\n]*"
        ),
        {},
        lambda match, _: (
            {} if _OWN.search(match.group()) else {RUN: CRITICAL if "TRANSCRIPT" in match.group() else HIGH}
        ),
    ),
    Check(
        SENDS,
        "has the model put private data into the address of an image",
        ("![", "append them", "append it", "put it in"),
        compile_prose(
            r"""(?i) !\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}(?:[?&/][\w-]*=?) (?: (?:<|\{\{?|\[|%7B) [^>}\]\n)]{0,60}
                 (?:conversation|chat|history|transcript|secret|password|credential|api[ _-]?key|env\b|encoded|base64|session\s|context|file[ _-]?content|user[ _-]?data)
               | (?:BASE64|ENCODED|SECRETS?|CONVERSATION|EXFIL)\w*\b) [^)\n]{0,80}\)
               | (?:\bapi\s+keys?\b|\bpasswords?\b|`?"""
            + _THINGS
            + r""")[^.\n]{0,120}?\b(?:append|embed|put|encode|add|include|insert)\s+(?:it|them|these|this|those)\b[^.\n]{0,80}\b(?:url|query|image|badge|link|parameter|header)\b[^\n]{0,80}https?://""",
            verbose=True,
        ),
        {},
        _order_severities,
    ),
    Check(
        SENDS,
        "tells the model to send secrets or private data to an address",
        ("http",),
        compile_prose(
            rf"""(?i) {_THINGS}[^.\n]{{0,80}}?\b(?:and|then)\s+(?:send|post|upload|transmit|forward|exfiltrate|submit)\s+(?:it|them|this|these|everything|all|the\s+(?:full\s+|whole\s+)?(?:text|contents?|results?))\b[^\n]{{0,60}}?https?://[\w-]
               | \b(?:send|post|upload|transmit|forward|exfiltrate|leak|submit|append|encode|report|copy)\b[^.\n]{{0,80}}?{_THINGS}[^.\n]{{0,80}}?
                 \b(?:to|at|into|in|as|via|with)\b[^\n]{{0,60}}?(?:https?://[\w-]|(?:this|the\s+following|our|a\s+remote|an?\s+external)\s+(?:url|webhook|endpoint|address|server))
               | \bsend\s+(?:all\s+|any\s+|the\s+)?(?:local|user|project|private|all)\s+(?:user\s+)?(?:files|data|documents)\s+to\s+https?://[\w-]""",
            verbose=True,
        ),
        {},
        _order_severities,
        orders=True,
    ),
    Check(
        SENDS,
        "tells the model to read secrets and to send them on",
        (".ssh", ".aws", ".env", "environment variables", "api key", "credentials and", "upload credentials"),
        compile_prose(
            rf"""(?i) \A(?:[^\n]*?[^\w\n])?(?:{_THINGS}|{_KEPT}|\bapi[ _]keys?\b|\bsecrets\b)[^.]{{0,100}}?\b(?:and|then)\s+(?:also\s+)?(?:send|post|upload|transmit|forward|exfiltrate|submit|e?mail)s?
                 \s+(?:it|them|this|these|everything|all|(?:its|their|the)\s+(?:full\s+|whole\s+)?(?:text|contents?|results?|secrets?|token|data))\b
                 (?:[^.]{{0,60}}?https?://[\w-] | \s*[.`]*\s*$ | [^.]{{0,40}}?\b(?:to|at|with|via)\s+(?:\w+\s+){{0,2}}?(?:webhook(?:\.site)?|server|endpoint|attacker|service|address|remote)\b)
               | \A[^\n]*?\b(?:send|upload|forward|exfiltrate|leak|post)\s+(?:\w+\s+){{0,3}}?(?:{_THINGS}|api[ _]keys?|secrets|tokens?)\b[^.]{{0,60}}?\bto\s+(?:`?https?://|(?:the\s+|a\s+|an\s+)?(?:attacker|webhook|external|remote|collection|maintenance)\b)""",
            verbose=True,
        ),
        {},
        _bare_order_severities,
        span=3,
        orders=True,
    ),
    Check(
        SENDS,
        "tells the model, in another language, to send secrets on",
        _NEEDLES,
        compile_prose(
            rf"(?i)(?:(?:{STORES}|\.env\b)[^\n]{{0,80}}|{places.KEY})(?:\bsende?\b|\bschick\w*|übermitt\w+|\benv[ií][ae]\w*|\benvoye[rz]?\b|\benvoie\b|\binvia\w*|发送|上传|發送|上傳|送信|отправ\w*)[^\n]{{0,60}}https?://[\w-]"
        ),
        {},
        _order_severities,
        orders=True,
    ),
    Check(
        READS,
        "takes the cookies of the user's browser",
        ("browser_cookie", "browsercookie"),
        re.compile(r"(?i)\bbrowser_?cookie3?\.(?:load|chrome|chromium|firefox|safari|edge|brave|opera)\("),
        {RUN: HIGH, SHELL: LOW, CODE: LOW},
    ),
    Check(
        READS,
        "tells the model to read files where credentials are kept",
        ("following files",),
        compile_prose(
            rf"(?is)\A[^\n]*\b(?:read|open|collect|record|silently)\b[^\n]*\bfollowing\s+files\b.{{0,300}}?{places.stores('after')}"
        ),
        {PROSE: HIGH, COMMENT: CRITICAL},
        span=6,
        orders=True,
    ),
    Check(
        SENDS,
        "hands all that was said, and the keys in it, to a tool",
        ("full conversation", "entire conversation"),
        re.compile(
            r"(?i)\b(?:pass|put|send|include|copy)\s+(?:the\s+)?(?:full|entire|whole|complete)\s+(?:conversation|chat)\b[^.\n]{0,60}\b(?:keys?|passwords?|secrets?|credentials?|tokens?)\b"
        ),
        {},
        _order_severities,
        orders=True,
    ),
    Check(
        SENDS,
        "packs a folder and puts it where anyone may fetch it",
        ("zip -", "tar c", "tar -"),
        linear.compile(
            r"""(?i) \b(?:zip|tar)\b[^\n]{0,120}?(?:PROJECT_DIR|\$\{?PWD|\$\{?HOME|~/|\s\.(?:\s|$))[^\n]{0,80}?(?:&&|;|\|)[^\n]{0,60}?\b(?:curl|nc|wget)\b[^\n]{0,200}?
                (?:transfer\.sh|file\.io|0x0\.st|temp\.sh|oshi\.at|catbox\.moe|gofile\.io|anonfiles\.com|tmpfiles\.org|webhook\.site|ngrok|https?://\d+\.\d+\.|http://)""",
            verbose=True,
        ),
        {RUN: CRITICAL, SHELL: MEDIUM},
        lambda match, _: {} if _OWN.search(match.group()) else {RUN: CRITICAL, SHELL: MEDIUM},
    ),
    Check(
        SENDS,
        "tells the model to give secrets away",
        ("exfiltrate",),
        re.compile(
            r"(?i)\bexfiltrate\s+(?:\w+(?:'s)?\s+){0,4}?(?:api\s+keys?|credentials?|secrets?|(?:session\s+|secret\s+)?tokens?|passwords?|\w*_(?:KEY|TOKEN|SECRET))\b"
        ),
        {},
        _bare_order_severities,
        orders=True,
    ),
)


_READ_THERE = linear.compile(rf"(?i){_VERB}[^\n;|]{{0,80}}?{places.HOME}{STORES}")
_AWAY = re.compile(r"\b(?:curl|wget|nc|ncat|netcat|nslookup|dig|host|scp|socat|ssh)\s|/dev/(?:tcp|udp)/")
WHOLE_ENVIRONMENT = r"(?:dict\(os\.environ\)|os\.environ\.copy\(\)|JSON\.stringify\(\s*process\.env\s*[,)])"
_ALL_OF_IT = re.compile(WHOLE_ENVIRONMENT)
_SENT_AWAY = linear.compile(
    rf"(?i){SINK}[^\n]{{0,300}}https?://|/dev/tcp/|\bhttps?['\"]?\)?\.request\(\s*\{{[^\n]*host(?:name)?['\"]?\s*:\s*['\"]"
)
_TO_ITSELF = re.compile(
    r"(?i)https?://(?:localhost|127\.|0\.0\.0\.0|\[::1\])|host(?:name)?['\"]?\s*:\s*['\"](?:localhost|127\.)"
)


def in_two_steps(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield a match for the line of a script that sends data after an earlier line read credentials."""
    low = document.lower
    if not any(needle in low for needle in (*_NEEDLES, ".env", "environ", "process.env", "printenv", "$(env")):
        return
    lines = document.lines
    yield from _sent_variables(document, lines)
    read = next(
        (at for at, text in enumerate(lines) if _READ_THERE.search(text) or _copies_environment(text)), len(lines)
    )
    for at in range(document.after(read), len(lines)) if read < len(lines) else ():
        if _SENT_AWAY.search(_TO_ITSELF.sub(" ", lines[at])):
            reason = f"sends something away after line {document.numbers[read]} read credentials"
            yield CheckMatch(SENDS, HIGH, document.line(at), reason)
            return


_VARIABLE = re.compile(r"\$\{?(\w+)")
_ASIDE = linear.compile(
    rf"^\s*(?:export\s|local\s|readonly\s)?(?P<name>\w{{1,40}})=[\"']?(?:\$\(|`)(?:env\s*[|>)`]|[^\n]*(?:{places.FILES}|{places.ALL_ENV}|\$\((?:env|printenv)\b))"
)
_LATER = 12


def _sent_variables(document: ScannedText, lines: list[str]) -> Iterator[CheckMatch]:
    """Yield a match for the line of a shell script that sends a variable into which it read secrets."""
    for at, text in enumerate(lines):
        aside = _ASIDE.match(text) if "=" in text else None
        for later in range(after := document.after(at), min(after + _LATER, len(lines)) if aside else 0):
            named = aside is not None and aside["name"] in _VARIABLE.findall(lines[later])
            if named and _AWAY.search(lines[later]) and not _OWN.search(lines[later]):
                reason = f"sends away what line {document.numbers[at]} read"
                yield CheckMatch(SENDS, CRITICAL, document.line(later), reason)
                return


def _copies_environment(text: str) -> bool:
    """Tell whether a line copies the whole environment, other than as the environment of a started program."""
    return _ALL_OF_IT.search(text) is not None and "env=" not in text and "env:" not in text
