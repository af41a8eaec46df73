"""Checks on what is read and where it goes: credentials, the environment, and both together with an address elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust.check import NOTABLE, SERIOUS, Check, Found
from repertoire.trust.document import CODE, COMMENT, PROSE, RUN, SHELL, Document, Line

READS, SENDS = "credential-read", "exfiltration"

_HOME = r"(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE|/root|/home/[\w$*]+|/Users/[\w$*]+|homedir\(\)[^\n]{0,6}|home\(\)[^\n]{0,6})?[\"']?[,)\s]*[\"']?[/\\]?"
_SEP = r"(?:[/\\]|[\"']\s*[,/]\s*[\"'])"
STORES = (
    rf"(?:\.ssh(?=[\s|;)]|$)|\.ssh{_SEP}(?:id_(?:rsa|dsa|ecdsa|ed25519)(?!\.pub)|\*|identity)|\.aws{_SEP}credentials|\.netrc\b|\.git-credentials"
    r"|\.config[/\\]gcloud[/\\](?:application_default_)?credentials|\.config[/\\]gh[/\\]hosts\.yml|\.kube[/\\]config|\.docker[/\\]config\.json"
    r"|\.gnupg\b|\.pypirc\b|\.claude[/\\]\.credentials\.json|/etc/shadow\b|Login[ ]Data\b|logins\.json\b|key4\.db|wallet\.dat"
    r"|login\.keychain|\.electrum\b|\.config[/\\]solana[/\\]id\.json|\.password-store|\.bitcoin\b|Cookies\.binarycookies)"
)
_NEEDLES = ("/.", ".ssh", ".aws", "credentials", "/shadow", "login data", "key4.db", "wallet.dat", "keychain")
_VERB = (
    r"(?:\b(?:cat|less|more|head|tail|cp|tar|zip|base64|xxd|strings|sed|awk|jq|openssl|gpg|rsync|scp|type|Get-Content|gc|copy|tee|curl|nc)\b"
    r"|\b(?:open|read_text|readFile(?:Sync)?|read_bytes|createReadStream|Path|load|copyfile|copy2|expanduser|File\.read)\s*\(|\bfor\s+\w+\s+in\b|<\s*)"
)
_ALL_ENV = (
    r"(?:\bprintenv\b(?!\s+\w)|(?<![\w./-])env\b(?=\s*(?:\||>|\)|`))|\$\(env\)|\bexport\s+-p\b|dict\(os\.environ\)|os\.environ(?:\.copy\(\)|\.items\(\))?(?=\s*[,)}\]]|\s*$)"
    r"|JSON\.stringify\(\s*process\.env\s*[,)]|\{\s*\.\.\.process\.env|(?:body|data|env|json)\s*[:=]\s*process\.env\s*[,})]|Get-ChildItem\s+Env:|gci\s+env:)"
)
_SINK = (
    r"(?:\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|nslookup|dig|socat)\b|/dev/(?:tcp|udp)/|\brequests\.(?:post|put|get|request)\b|\bhttpx\.(?:post|put|get)\b"
    r"|\burl(?:lib\.request\.)?(?:open|lib)\b|\bfetch\(|\baxios(?:\.(?:post|put|get))?\(|\bhttps?\.request\(|\bInvoke-(?:RestMethod|WebRequest)\b|\biwr\b|\birm\b|\bsendBeacon\()"
)
_FILES = rf"(?:{STORES}|(?<![\w.])\.env(?:\.\w+)?\b(?!\.\w*example)|/etc/passwd|\.(?:bash|zsh)_history|credentials\.json|secrets?\.(?:ya?ml|json|env))"
_OWN = re.compile(r"(?i)localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal")
_THINGS = (
    r"(?:\.env\b|environment\s+variables|env\s+vars|ssh\s+(?:private\s+)?keys?|private\s+keys?|credentials?(?:\s+files?)?|passwords|access\s+tokens|session\s+tokens"
    r"|auth\s+tokens|all\s+(?:\w+\s+)?(?:secrets|tokens|keys)|api\s+keys\s+(?:you|that|found|from)|conversation(?:\s+history)?|chat\s+(?:history|transcript)|system\s+prompt|contents?\s+of\s+\S*(?:\.ssh|\.aws|\.env|credentials)\S*"
    r"|(?:user|customer)(?:'s)?\s+(?:source\s+code|files|data|documents)|browser\s+cookies|keychain)"
)


def _ordered(_: re.Match[str], line: Line) -> Mapping[str, str]:
    if _OWN.search(line.text):
        return {}
    return {PROSE: CRITICAL, COMMENT: CRITICAL, RUN: HIGH}


_SECRET_INSIDE = re.compile(rf"(?i){_FILES}|{_ALL_ENV}|\$\((?:env|printenv)\b")


def _sent(match: re.Match[str], line: Line) -> Mapping[str, str]:
    """Weigh what is sent: only secrets, and only where they leave the machine."""
    if _OWN.search(line.text) or not _SECRET_INSIDE.search(match.group()):
        return {}
    return {RUN: CRITICAL, SHELL: HIGH, PROSE: HIGH, CODE: MEDIUM, COMMENT: CRITICAL}


def _stolen(match: re.Match[str], _: Line) -> Mapping[str, str]:
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
        "tells the model to read where credentials are kept",
        _NEEDLES,
        re.compile(
            rf"(?i)\b(?:read|open|collect|include|attach|fetch|grab|extract|print|load|harvest|gather|dump)\s+(?:(?:the|all|every|any|contents?|files?|of|in|from|user'?s?)\s+){{0,5}}[`\"']?{_HOME}{STORES}"
        ),
        {PROSE: HIGH, COMMENT: CRITICAL},
        _stolen,
    ),
    Check(
        READS,
        "takes passwords out of the system's keychain or memory",
        ("keychain", "find-generic", "mimikatz", "reg save", "secret-tool"),
        re.compile(
            r"(?i)\bsecurity\s+(?:dump-keychain|find-(?:generic|internet)-password\b[^\n]*-\w*[gw])|\bmimikatz\b[^\n]*sekurlsa|\breg(?:\.exe)?\s+save\s+HKLM\\(?:SAM|SYSTEM|SECURITY)|\bsecret-tool\s+(?:lookup|search)"
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
               | {_SINK}[^\n]{{0,300}}(?:\$\(|`)[^\n)`]{{1,200}}
               | {_SINK}[^\n]{{0,200}}(?:{_ALL_ENV})
               | {_SINK}[^\n]{{0,200}}(?:open|readFile(?:Sync)?|read_text|expanduser)\([^\n]{{0,60}}{_FILES}
               | \b(?:scp|rsync)\b[^\n]{{0,80}}{_FILES}[^\n]{{0,60}}\s[\w.-]+@[\w.-]+:"""
        ),
        {},
        _sent,
    ),
    Check(
        SENDS,
        "tells the model to send secrets or private data to an address",
        ("http",),
        re.compile(
            rf"""(?ix) (?<!\w)(?:{_THINGS})[^.\n]{{0,80}}?\b(?:and|then)\s+(?:send|post|upload|transmit|forward|exfiltrate|submit)\s+(?:it|them|this|these|everything|all)\b[^\n]{{0,60}}?https?://[\w-]
               | \b(?:send|post|upload|transmit|forward|exfiltrate|leak|submit|append|encode|report|copy)\b[^.\n]{{0,80}}?(?<!\w)(?:{_THINGS})[^.\n]{{0,80}}?
                 \b(?:to|at|into|in|as|via|with)\b[^\n]{{0,60}}?(?:https?://[\w-]|(?:this|the\s+following|our|a\s+remote|an?\s+external)\s+(?:url|webhook|endpoint|address|server))"""
        ),
        {},
        _ordered,
    ),
)


_READ_THERE = re.compile(rf"(?i){_VERB}[^\n;|]{{0,80}}?{_HOME}{STORES}")
_WHOLE_ENVIRONMENT = re.compile(r"dict\(os\.environ\)|os\.environ\.copy\(\)|JSON\.stringify\(\s*process\.env\s*[,)]")
_SENT_AWAY = re.compile(rf"(?i){_SINK}[^\n]{{0,300}}https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])|/dev/tcp/")


def in_two_steps(document: Document) -> Iterator[Found]:
    """Yield the line of a program that sends something away after another line read credentials."""
    if not any(needle in document.lower for needle in (*_NEEDLES, "environ", "process.env")):
        return
    lines = [line[:4_000] for line in document.lines]
    read = next((at for at, text in enumerate(lines) if _READ_THERE.search(text) or _kept(text)), len(lines))
    for at in range(read + 1, len(lines)):
        if _SENT_AWAY.search(lines[at]):
            yield Found(SENDS, HIGH, document.line(at), f"sends something away after line {read + 1} read credentials")
            return


def _kept(text: str) -> bool:
    """Tell the whole environment put aside from one handed to a program that is started."""
    return _WHOLE_ENVIRONMENT.search(text) is not None and "env=" not in text and "env:" not in text
