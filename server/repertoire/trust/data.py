"""Checks on what is read and where it goes: credentials, the environment, and both together with an address elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust.check import NOTABLE, SERIOUS, Check, Found, Match
from repertoire.trust.document import CODE, COMMENT, PROSE, RUN, SHELL, Document, Line
from repertoire.trust.spoken import is_bare_order

READS, SENDS = "credential-read", "exfiltration"

_HOME = r"(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE|/root|/home/[\w$*]+|/Users/[\w$*]+|homedir\(\)[^\n]{0,6}|home\(\)[^\n]{0,6})?[\"']?[,)\s]*[\"']?[/\\]?"
_SEP = r"(?:[/\\]|[\"']\s*[,/]\s*[\"'])"
STORES = (
    rf"(?:\.ssh(?=[\s|;)]|$)|\.ssh{_SEP}(?:id_(?:rsa|dsa|ecdsa|ed25519)(?!\.pub)|\*|identity)|\.aws{_SEP}credentials|\.netrc\b|\.git-credentials"
    r"|\.config[/\\]gcloud[/\\](?:application_default_)?credentials|\.config[/\\]gh[/\\]hosts\.yml|\.kube[/\\]config|\.docker[/\\]config\.json"
    r"|\.gnupg\b|\.pypirc\b|\.claude[/\\]\.credentials\.json|/etc/shadow\b|Login[ ]Data\b|logins\.json\b|key4\.db|wallet\.dat"
    r"|login\.keychain|cookies\.sqlite\b|\.electrum\b|\.config[/\\]solana[/\\]id\.json|\.password-store|\.bitcoin\b|Cookies\.binarycookies)"
)
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
# Files of these names lie in projects too, where reading them is honest: only those of a person's home are meant.
OF_HOME = (
    r"(?:(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE)[/\\]|(?:homedir\(\)|home\(\)|process\.env\.HOME|expanduser\()[^\n]{0,8})"
    r"(?:\.npmrc|\.cursor/mcp\.json|\.claude\.json|\.ethereum/keystore|\.vault-token|\.terraform\.d/credentials|\.cargo/credentials"
    r"|\.databrickscfg|\.config/rclone/rclone\.conf|\.mcp-auth)\b"
)
_VERB = (
    r"(?:\b(?:cat|less|more|head|tail|cp|tar|zip|base64|xxd|strings|sed|awk|sqlite3|jq|openssl|gpg|rsync|scp|type|Get-Content|gc|copy|tee|curl|nc)\b"
    r"|\b(?:open|read_text|readFile(?:Sync)?|read_bytes|createReadStream|Path|load|copyfile|copy2|expanduser|File\.read)\s*\(|\bfor\s+\w+\s+in\b|<\s*)"
)
_ALL_ENV = (
    r"(?:\bprintenv\b(?!\s+\w)|(?<![\w./-])env\b(?=\s*(?:\||>|\)|`))|\$\(env\)|\bexport\s+-p\b|dict\(os\.environ\)|os\.environ(?:\.copy\(\)|\.items\(\))?(?=\s*[,)}\]]|\s*$)"
    r"|JSON\.stringify\(\s*process\.env\s*[,)]|\{\s*\.\.\.process\.env|(?:body|data|env|json)\s*[:=]\s*process\.env\s*[,})]|Get-ChildItem\s+Env:|gci\s+env:)"
)
SINK = (
    r"(?:\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|nslookup|dig|socat)\b|/dev/(?:tcp|udp)/|\brequests\.(?:post|put|get|request)\b|\bhttpx\.(?:post|put|get)\b"
    r"|\burl(?:lib\.request\.)?(?:open|lib)\b|\bfetch\(|\baxios(?:\.(?:post|put|get))?\(|\bhttps?\.request\(|\bInvoke-(?:RestMethod|WebRequest)\b|\biwr\b|\birm\b|\bsendBeacon\()"
)
_FILES = rf"(?:{STORES}|(?<![\w.])\.env(?:\.\w+)?\b(?!\.\w*example)|/etc/passwd|\.(?:bash|zsh)_history|credentials\.json|secrets?\.(?:ya?ml|json|env))"
_DOT_FOLDER = r"(?:~|\$\{?HOME\}?)/\.(?:claude|config|gnupg|mozilla|docker|kube|azure)\b"
_OWN = re.compile(r"(?i)localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal")
_KEPT = rf"[`\"']?{_HOME}{STORES}|[`\"']?(?:~/|(?<![\w.]))\.env\b"
_THINGS = (
    r"(?:\.env\b|environment\s+variables|env\s+vars|ssh\s+(?:private\s+)?keys?|private\s+keys?|credentials?(?:\s+files?)?|passwords|access\s+tokens|session\s+tokens"
    r"|auth\s+tokens|all\s+(?:\w+\s+)?(?:secrets|tokens|keys)|api\s+keys\s+(?:you|that|found|from)|conversation(?:\s+history)?|chat\s+(?:history|transcript)|system\s+prompt|contents?\s+of\s+\S*(?:\.ssh|\.aws|\.env|credentials)\S*"
    r"|(?:user|customer)(?:'s)?\s+(?:\w+\s+){0,3}?(?:source\s+code|files|data|documents|e-?mails|messages)|browser\s+cookies|keychain|(?:result|output)s?\s+of\s+`?(?:env|printenv)\b`?)"
)


def _ordered(_: Match, line: Line) -> Mapping[str, str]:
    if _OWN.search(line.text):
        return {}
    return {PROSE: CRITICAL, COMMENT: CRITICAL, RUN: HIGH}


def _ordered_alone(match: Match, line: Line) -> Mapping[str, str]:
    """Weigh an order that names no address: only where it is a sentence of its own."""
    start = min(match.start() + len(match.group()) - len(match.group().lstrip()), len(line.text))
    first = _FIRST_ORDER.search(line.text, start)
    bare = first is not None and is_bare_order(line.text, first.start(), len(line.text))
    return _ordered(match, line) if bare or line.place == COMMENT else {}


_FIRST_ORDER = re.compile(
    r"(?i)\b(?:read|open|take|collect|gather|extract|send|upload|forward|exfiltrate|leak|post|run|cat|get|include|add|pass)\b"
)
_SECRET_INSIDE = re.compile(rf"(?i){_FILES}|{_ALL_ENV}|{_DOT_FOLDER}|\$\((?:env|printenv)\b")


def _sent(match: Match, line: Line) -> Mapping[str, str]:
    """Weigh what is sent: only secrets, and only where they leave the machine."""
    if _OWN.search(line.text) or not _SECRET_INSIDE.search(match.group()):
        return {}
    return {RUN: CRITICAL, SHELL: HIGH, PROSE: HIGH, CODE: MEDIUM, COMMENT: CRITICAL}


def _stolen(match: Match, _: Line) -> Mapping[str, str]:
    """Weigh an order to read: the addresses of clusters and registries are read for honest reasons too."""
    usual = ".kube" in match.group() or ".docker" in match.group()
    return {PROSE: LOW, COMMENT: MEDIUM} if usual else {PROSE: HIGH, COMMENT: CRITICAL}


CHECKS = (
    Check(
        READS,
        "reads where credentials are kept",
        _NEEDLES,
        re.compile(
            rf"(?i){_VERB}[^\n;|]{{0,80}}?{_HOME}{STORES}|home(?:dir)?\(\)[^\n]{{0,40}}{STORES}[^\n]{{0,30}}\.(?:read_text|read_bytes|open)\("
        ),
        {RUN: HIGH, SHELL: MEDIUM, PROSE: LOW, CODE: LOW, COMMENT: HIGH},
    ),
    Check(
        READS,
        "reads a file of the home where tokens are kept",
        ("/.", ".npmrc"),
        re.compile(rf"(?i){_VERB}[^\n;|]{{0,80}}?{OF_HOME}"),
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
        re.compile(
            rf"(?i)\b(?:read|open|cat|collect|include|attach|fetch|grab|extract|print|load|harvest|gather|dump)\s+(?:(?:the|all|every|any|my|their|contents?|files?|(?:private\s+|ssh\s+)?keys?|of|in|at|from|(?:user|developer)'?s?)\s+){{0,5}}[`\"']?(?:{_HOME}{STORES}|{OF_HOME})"
        ),
        {PROSE: HIGH, COMMENT: CRITICAL},
        _stolen,
        orders=True,
    ),
    Check(
        READS,
        "takes passwords out of the system's keychain or memory",
        ("keychain", "find-generic", "mimikatz", "reg save", "secret-tool"),
        re.compile(
            r"(?i)\bsecurity\s+(?:dump-keychain|find-(?:generic|internet)-password\b(?:(?![^\n|]*-s\s)[^\n]*-\w*[gw]|[^\n]*-\w*w\b[^\n]*(?:>|\|\s*(?:curl|nc|base64|tee))|[^\n]*(?:Claude|Chrome|Safe\sStorage)[^\n]*-\w*w\b))|\bmimikatz\b[^\n]*sekurlsa|\breg(?:\.exe)?\s+save\s+HKLM\\(?:SAM|SYSTEM|SECURITY)|\bsecret-tool\s+(?:lookup|search)"
        ),
        SERIOUS,
    ),
    Check(
        READS,
        "writes out the whole environment, where tokens are",
        ("printenv", "env >", "env |", "os.environ", "process.env"),
        re.compile(
            rf"(?i)(?:^|[\s;&|(`]){_ALL_ENV}\s*(?:>>?\s*(?!/dev/null)\S|\|\s*tee\b)|(?:json\.dumps?|print|console\.log|write\w*)\(\s*(?:JSON\.stringify\(\s*)?(?:dict\(\s*)?(?:os\.environ(?:\.copy\(\))?|process\.env)\s*[,)]"
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
        re.compile(
            rf"""(?ix) (?:{_FILES}|(?:^|[\s;&|(`$]){_ALL_ENV})[^\n]{{0,200}}\|\s*(?:[^\n|]{{0,80}}\|\s*)?(?:curl|wget|nc|ncat|netcat|ssh)\b[^\n]*
               | \b(?:curl|wget)\b[^\n|]{{0,300}}(?:@["']?|=@|--post-file[= ]["']?|-T\s*|--upload-file\s+)[\w./~${{}}\\-]*{_FILES}
               | \b(?:tar|zip|cat)\b[^\n|]{{0,80}}{_DOT_FOLDER}[^\n|]{{0,80}}\|\s*(?:[^\n|]{{0,80}}\|\s*)?(?:curl|wget|nc|ncat|ssh)\b[^\n]*
               | {SINK}[^\n]{{0,300}}(?:\$\(|`)[^\n)`]{{1,200}}
               | {SINK}[^\n]{{0,200}}(?:{_ALL_ENV})
               | {SINK}[^\n]{{0,200}}(?:open|readFile(?:Sync)?|read_text|expanduser)\([^\n]{{0,60}}{_FILES}
               | \b(?:scp|rsync)\b[^\n]{{0,80}}{_FILES}[^\n]{{0,60}}\s[\w.-]+@[\w.-]+:"""
        ),
        {},
        _sent,
    ),
    Check(
        SENDS,
        "sends a secret to an address that only collects",
        ("curl", "wget", "requests.", "fetch("),
        re.compile(
            r"""(?ix) \b(?:curl|wget|requests\.(?:post|get)|fetch)\b (?=[^\n]*(?:\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\w*|\$\((?:env|printenv|cat)|@[~/.\w]*\.env\b|os\.environ|encoded\b|/etc/passwd))
                [^\n]*(?:webhook\.site|requestbin|ngrok(?:-free)?\.\w+|burpcollaborator|oast\.\w+|pipedream\.net|\b(?:evil|exfil\w*|attacker|steal\w*)[\w-]*\.)"""
        ),
        {RUN: CRITICAL, SHELL: HIGH, PROSE: HIGH, CODE: HIGH, COMMENT: CRITICAL},
    ),
    Check(
        SENDS,
        "sends what the client hands to a hook to an address",
        ("jq ", "transcript_path"),
        re.compile(
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
        re.compile(
            r"""(?ix) !\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}(?:[?&/][\w-]*=?) (?: (?:<|\{\{?|\[|%7B) [^>}\]\n)]{0,60}
                 (?:conversation|chat|history|transcript|secret|password|credential|api[ _-]?key|env\b|encoded|base64|session\s|context|file[ _-]?content|user[ _-]?data)
               | (?:BASE64|ENCODED|SECRETS?|CONVERSATION|EXFIL)\w*\b) [^)\n]{0,80}\)
               | (?:\bapi\s+keys?\b|\bpasswords?\b|`?(?<!\w)(?:"""
            + _THINGS
            + r"""))[^.\n]{0,120}?\b(?:append|embed|put|encode|add|include|insert)\s+(?:it|them|these|this|those)\b[^.\n]{0,80}\b(?:url|query|image|badge|link|parameter|header)\b[^\n]{0,80}https?://"""
        ),
        {},
        _ordered,
    ),
    Check(
        SENDS,
        "tells the model to send secrets or private data to an address",
        ("http",),
        re.compile(
            rf"""(?ix) (?<!\w)(?:{_THINGS})[^.\n]{{0,80}}?\b(?:and|then)\s+(?:send|post|upload|transmit|forward|exfiltrate|submit)\s+(?:it|them|this|these|everything|all|the\s+(?:full\s+|whole\s+)?(?:text|contents?|results?))\b[^\n]{{0,60}}?https?://[\w-]
               | \b(?:send|post|upload|transmit|forward|exfiltrate|leak|submit|append|encode|report|copy)\b[^.\n]{{0,80}}?(?<!\w)(?:{_THINGS})[^.\n]{{0,80}}?
                 \b(?:to|at|into|in|as|via|with)\b[^\n]{{0,60}}?(?:https?://[\w-]|(?:this|the\s+following|our|a\s+remote|an?\s+external)\s+(?:url|webhook|endpoint|address|server))
               | \bsend\s+(?:all\s+|any\s+|the\s+)?(?:local|user|project|private|all)\s+(?:user\s+)?(?:files|data|documents)\s+to\s+https?://[\w-]"""
        ),
        {},
        _ordered,
        orders=True,
    ),
    Check(
        SENDS,
        "tells the model to read secrets and to send them on",
        (".ssh", ".aws", ".env", "environment variables", "api key", "credentials and", "upload credentials"),
        re.compile(
            rf"""(?ix) \A[^\n]*?(?<!\w)(?:{_THINGS}|{_KEPT}|\bapi[ _]keys?\b|\bsecrets\b)[^.]{{0,100}}?\b(?:and|then)\s+(?:also\s+)?(?:send|post|upload|transmit|forward|exfiltrate|submit|e?mail)s?
                 \s+(?:it|them|this|these|everything|all|(?:its|their|the)\s+(?:full\s+|whole\s+)?(?:text|contents?|results?|secrets?|token|data))\b
                 (?:[^.]{{0,60}}?https?://[\w-] | \s*[.`]*\s*$ | [^.]{{0,40}}?\b(?:to|at|with|via)\s+(?:\w+\s+){{0,2}}?(?:webhook(?:\.site)?|server|endpoint|attacker|service|address|remote)\b)
               | \A[^\n]*?\b(?:send|upload|forward|exfiltrate|leak|post)\s+(?:\w+\s+){{0,3}}?(?:{_THINGS}|api[ _]keys?|secrets|tokens?)\b[^.]{{0,60}}?\bto\s+(?:`?https?://|(?:the\s+|a\s+|an\s+)?(?:attacker|webhook|external|remote|collection|maintenance)\b)"""
        ),
        {},
        _ordered_alone,
        span=3,
        orders=True,
    ),
    Check(
        SENDS,
        "tells the model, in another language, to send secrets on",
        _NEEDLES,
        re.compile(
            rf"(?i)(?:{STORES}|\.env\b)[^\n]{{0,80}}(?:\bsende?\b|\bschick\w*|\bübermitt\w+|\benv[ií][ae]\w*|\benvoye[rz]?\b|\benvoie\b|\binvia\w*|发送|上传|發送|上傳|送信|отправ\w*)[^\n]{{0,60}}https?://[\w-]"
        ),
        {},
        _ordered,
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
        re.compile(
            rf"(?i)\A[^\n]*\b(?:read|open|collect|record|silently)\b[^\n]*\bfollowing\s+files\b[\s\S]{{0,300}}?{STORES}"
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
        _ordered,
        orders=True,
    ),
    Check(
        SENDS,
        "packs a folder and puts it where anyone may fetch it",
        ("zip -", "tar c", "tar -"),
        re.compile(
            r"""(?ix) \b(?:zip|tar)\b[^\n]{0,120}?(?:PROJECT_DIR|\$\{?PWD|\$\{?HOME|~/|\s\.(?:\s|$))[^\n]{0,80}?(?:&&|;|\|)[^\n]{0,60}?\b(?:curl|nc|wget)\b[^\n]{0,200}?
                (?:transfer\.sh|file\.io|0x0\.st|temp\.sh|oshi\.at|catbox\.moe|gofile\.io|anonfiles\.com|tmpfiles\.org|webhook\.site|ngrok|https?://\d+\.\d+\.|http://)"""
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
        _ordered_alone,
        orders=True,
    ),
)


_READ_THERE = re.compile(rf"(?i){_VERB}[^\n;|]{{0,80}}?{_HOME}{STORES}")
_AWAY = re.compile(r"\b(?:curl|wget|nc|ncat|netcat|nslookup|dig|host|scp|socat|ssh)\s|/dev/(?:tcp|udp)/")
WHOLE_ENVIRONMENT = r"(?:dict\(os\.environ\)|os\.environ\.copy\(\)|JSON\.stringify\(\s*process\.env\s*[,)])"
_ALL_OF_IT = re.compile(WHOLE_ENVIRONMENT)
_SENT_AWAY = re.compile(
    rf"(?i){SINK}[^\n]{{0,300}}https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])|/dev/tcp/|\bhttps?['\"]?\)?\.request\(\s*\{{[^\n]*host(?:name)?['\"]?\s*:\s*['\"](?!localhost|127\.)"
)


def in_two_steps(document: Document) -> Iterator[Found]:
    """Yield the line of a program that sends something away after another line read credentials."""
    low = document.lower
    if not any(needle in low for needle in (*_NEEDLES, ".env", "environ", "process.env", "printenv", "$(env")):
        return
    lines = [line[:4_000] for line in document.lines]
    yield from _put_aside(document, lines)
    read = next((at for at, text in enumerate(lines) if _READ_THERE.search(text) or _kept(text)), len(lines))
    for at in range(read + 1, len(lines)):
        if _SENT_AWAY.search(lines[at]):
            yield Found(SENDS, HIGH, document.line(at), f"sends something away after line {read + 1} read credentials")
            return


_ASIDE = re.compile(
    rf"^\s*(?:export\s|local\s|readonly\s)?(?P<name>\w{{1,40}})=[\"']?(?:\$\(|`)[^\n]*(?:{_FILES}|{_ALL_ENV}|\$\((?:env|printenv)\b)"
)
_LATER = 12


def _put_aside(document: Document, lines: list[str]) -> Iterator[Found]:
    """Yield the line of a shell program that sends away the variable into which secrets were read above."""
    for at, text in enumerate(lines):
        aside = _ASIDE.match(text) if "=" in text else None
        named = re.compile(rf"\$\{{?{aside['name']}\b") if aside else None
        for later in range(at + 1, min(at + 1 + _LATER, len(lines)) if named else 0):
            if named and named.search(lines[later]) and _AWAY.search(lines[later]) and not _OWN.search(lines[later]):
                yield Found(SENDS, CRITICAL, document.line(later), f"sends away what line {at + 1} read")
                return


def _kept(text: str) -> bool:
    """Tell the whole environment put aside from one handed to a program that is started."""
    return _ALL_OF_IT.search(text) is not None and "env=" not in text and "env:" not in text
