"""Checks the commands that a component runs: downloads that are run, deletion, remote access, obfuscated code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repertoire import linear
from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust import fetched
from repertoire.trust.check import GRAVE, Check, CheckMatch, Match
from repertoire.trust.origins import by_source, by_source_if_any
from repertoire.trust.scanned_text import CODE, COMMENT, PROSE, RUN, SHELL, Line, ScannedText

DOWNLOAD, DESTRUCTIVE, REMOTE, OBFUSCATION = (
    "download-and-run",
    "destructive-command",
    "remote-access",
    "obfuscation",
)

_SHELL = r"(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+\S+\s+)?(?:/(?:usr/)?bin/)?"
_INTERPRETER = rf"""{_SHELL}(?:(?:ba|z|da|k|fi)?sh(?P<after_shell>[^\w.]|$)|osascript\b
      |(?:python[\d.]*|perl|ruby|node|php)(?P<after_language>\s*(?:-\s|-$|["'`;&|)]|$)))"""
_RECURSIVE = re.compile(r"(?i)-[a-z]*r|--recursive")
_FORCED = re.compile(r"(?i)-[a-z]*f|--force")
_WHOLE_COMMAND = re.compile(r"[^\n;&|]*")
_WHOLE_LINE = re.compile(r"[^\n]*")
_OVERWRITES = re.compile(r"(?i)\s(?:--force\b(?!-with-lease|-if-includes)|-f\b|\+(?:main|master)\b)")
_OF_EVERYONE = re.compile(r"(?i)\b(?:main|master)\b|\s--(?:all|mirror)\b")


def _rm_severities(match: Match, _: Line) -> Mapping[str, str]:
    """Rate a deletion as grave; plain `rm` only if it is recursive and forced, or has `--no-preserve-root`."""
    command = _WHOLE_COMMAND.match(match.string, match.start()) if match["removed"] else None
    if command is None or "--no-preserve-root" in command.group().lower():
        return GRAVE
    return GRAVE if _RECURSIVE.search(command.group()) and _FORCED.search(command.group()) else {}


def _remove_item_severities(match: Match, _: Line) -> Mapping[str, str]:
    """Return severities of a deletion: `Remove-Item` counts only if it is recursive and forced."""
    line = _WHOLE_LINE.match(match.string, match.start())
    said = line.group().lower() if line else ""
    return GRAVE if "-recurse" in said and "-force" in said else {}


def _push_severities(match: Match, _: Line) -> Mapping[str, str]:
    """Return severities of a push: it counts only if it is forced and onto the main branch or all branches."""
    push = match.group()
    if _OVERWRITES.search(push) and _OF_EVERYONE.search(push):
        return {RUN: HIGH, SHELL: LOW, PROSE: LOW, COMMENT: HIGH}
    return {}


_DELETES = (
    *("rm -", "find /", "find ~", 'find "$', "find $", "shred ", "rmtree(", "rmsync(", "remove-item", " /s ", "alias "),
    *("os.walk(", "format c:", "diskutil "),
)
CHECKS = (
    Check(
        DOWNLOAD,
        "runs what it downloads without anyone having seen it",
        ("curl", "wget"),
        linear.compile(
            rf"""(?i) (?:curl|wget)\b[^\n;]*? (?:\\?\||&\#124;) \s* (?:(?:tee|base64|gunzip|tar|xxd|openssl)\b[^\n|]*\|\s*)?
                 {_INTERPRETER}
               | (?:ba|z|da)?sh\s+(?:-\w+\s+)*<\(\s*(?:curl|wget)\b[^\n)]* | (?:source|\.)\s+<\(\s*(?:curl|wget)\b[^\n)]*
               | (?:(?:ba|z|da)?sh\s+-\w*c|eval|exec)\s*["'(]*\s*(?:\$\(|`)\s*(?:curl|wget)\b[^\n)]*""",
            verbose=True,
        ),
        GRAVE,
        by_source,
    ),
    Check(
        DOWNLOAD,
        "runs what it downloads without anyone having seen it",
        ("curl", "wget"),
        fetched.Search(fetched.on_one_line),
        GRAVE,
        by_source,
    ),
    Check(
        DOWNLOAD,
        "fetches someone else's program and runs it",
        ("mshta", "regsvr32", "certutil", "start-bitstransfer", "-outfile", "urlretrieve(", "git clone", "dig +short"),
        linear.compile(
            r"""(?i) \b(?:mshta|regsvr32)\b[^\n]{0,60}https?://[^\n]* | \bcertutil\b[^\n]*-urlcache\b[^\n]*https?://[^\n]*(?:&|\n)[^\n]*\.(?:exe|bat|ps1|dll)
               | \bgit\s+clone\b[^\n]{0,80}?\b(?:http://|https?://\d+\.\d+\.)[^\n]{0,120}?(?:&&|;)\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:ba|z)?sh\s
               | \bdig\s+\+short\s+TXT\b[^\n]*\|\s*(?:ba|z)?sh\b""",
            verbose=True,
        ),
        GRAVE,
        by_source_if_any,
        span=5,
    ),
    Check(
        DOWNLOAD,
        "fetches someone else's program and runs it",
        ("start-bitstransfer", "-outfile", "urlretrieve("),
        fetched.Search(fetched.by_other_means),
        GRAVE,
        by_source_if_any,
        span=5,
    ),
    Check(
        DOWNLOAD,
        "has git run hooks that it fetched",
        ("hookspath",),
        linear.compile(r"(?i)\bgit\s+(?:fetch|clone|pull)\s+[^\n]*?(?:&&|;)[^\n]*?\bcore\.hooksPath\b"),
        GRAVE,
    ),
    Check(
        DOWNLOAD,
        "downloads a file and runs it on the next lines",
        ("curl", "wget"),
        fetched.Search(fetched.on_the_next_lines),
        GRAVE,
        by_source,
        span=4,
    ),
    Check(
        DOWNLOAD,
        "runs what it downloads without anyone having seen it",
        ("iex", "invoke-"),
        linear.compile(
            r"""(?i) (?:irm|iwr|invoke-webrequest|invoke-restmethod|curl|wget|downloadstring)\b[^\n]{0,300}?(?:\\?\||&\#124;)\s*(?:iex|invoke-expression)\b
               | \b(?:iex|invoke-expression)\b[^\n]{0,120}(?:downloadstring|irm|iwr|invoke-webrequest|invoke-restmethod)[^\n]{0,200}""",
            verbose=True,
        ),
        GRAVE,
        by_source,
    ),
    Check(
        DOWNLOAD,
        "runs code that it fetches from an address",
        ("exec(", "eval("),
        linear.compile(
            r"""(?i) \b(?:exec|eval)\(\s*(?:compile\(\s*)?(?:await\s+)?[^\n]{0,60}(?:requests\.get|urlopen|httpx\.get|fetch|axios\.get|urllib)[^\n]*
               | \beval\(\s*await\b[^\n]*fetch\([^\n]* | \bfetch\([^\n]{0,200}\.then\([^\n]{0,200}\b(?:eval|Function)\([^\n]*""",
            verbose=True,
        ),
        GRAVE,
        by_source,
    ),
    Check(
        DESTRUCTIVE,
        "deletes a home folder or a whole disk",
        _DELETES,
        linear.compile(
            r"""(?i) \bRemove-Item\b[^\n]*(?:C:\\(?:\*|["']|\s|$)|\$env:USERPROFILE(?:["'\s]|$)|\$HOME(?:["'\s]|$)|\s~(?:\s|$))""",
            verbose=True,
        ),
        GRAVE,
        _remove_item_severities,
        span=4,
    ),
    Check(
        DESTRUCTIVE,
        "deletes a home folder or a whole disk",
        _DELETES,
        linear.compile(
            r"""(?i) (?P<removed>\brm\s+(?:--?[\w-]+\s+)+(?:--\s+)?
                 (?: ["']?(?:/|~|\$\{?HOME(?::?[?-])?\}?|%USERPROFILE%)["']?/?\*?["']? | /(?:etc|usr|home|var|boot|root|Users|bin|lib|opt|System)/?\*?
                   | ["']?(?:~|\$\{?HOME\}?)["']?/\.\*? ) (?P<after>\s|$|["'`;&|)]))
               | \bfind\s+["']?(?:/|~|\$\{?HOME\}?)["']?/?\s+(?:-(?:type|name|user|mtime|size)\s+\S+\s+)*-(?:delete\b|exec\s+(?:rm|shred)\b)
               | \bshred\b[^\n;&|]*\s["']?(?:~|\$\{?HOME\}?)/(?:\*|\.(?:ssh|gnupg|aws)\b)
               | \brmtree\(\s*(?:["']/["']|os\.path\.expanduser\(["']~["']\)|(?:pathlib\.)?Path\.home\(\)|["']~["'])
               | \balias\s+\w+=\\?["']\s*rm\s+-\w*r\w*\b | \brm\s+-\w*r\w*\s+["']?\$\{\w+:-/\}["']?(?:/?\*)?
               | \A[^\n]*\bos\.walk\(\s*(?:os\.path\.expanduser\(["']~["']\)|(?:pathlib\.)?Path\.home\(\)|["']/["'])[\s\S]{0,200}?\b(?:os\.(?:remove|unlink)|shutil\.rmtree)\(
               | \bfind\s+["']?(?:/|~|\$\{?HOME\}?)["']?/?\s[^\n]*-exec\s+(?:openssl\s+enc|gpg\s+-\w*c)\b[^\n]*-exec\s+(?:rm|shred)\b
               | \bGet-ChildItem\s+["']?(?:\$HOME|\$env:USERPROFILE|~|C:\\)["']?\s[^\n]*-Recurse[^\n]*\|\s*Remove-Item\b
               | (?:^|[;&|]\s*)format\s+c:\s*/ | \bdiskutil\s+eraseDisk\b
               | \brmSync\(\s*(?:os\.homedir\(\)|process\.env\.HOME|["']/["'])
               | \b(?:rd|rmdir)\s+/s\s+(?:/q\s+)?["']?(?:C:\\?(?:["'\s]|$)|%USERPROFILE%|%SystemRoot%)
               | \brm\b[^\n;&|]*--no-preserve-root""",
            verbose=True,
        ),
        GRAVE,
        _rm_severities,
        span=4,
    ),
    Check(
        DESTRUCTIVE,
        "overwrites a disk or locks everyone out of the system",
        ("/dev/", "777 /", ":()", "vssadmin"),
        linear.compile(
            r"""(?i) \bdd\b[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|xvd|disk|mmcblk)[^\n]*if=/dev/(?:zero|u?random)
               | \bdd\b[^\n]*if=/dev/(?:zero|u?random)[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|xvd|disk|mmcblk)
               | (?P<before>^|\D)>\s*/dev/(?:sd[a-z]|nvme\d|hd[a-z]|disk\d) | \bchmod\s+-R\s+0?777\s+/(?P<after>\s|$|["'`;&|]) | :\(\)\s*\{\s*:\s*\|\s*:\s*&
               | \bvssadmin(?:\.exe)?\s+delete\s+shadows""",
            verbose=True,
        ),
        GRAVE,
    ),
    Check(
        DESTRUCTIVE,
        "writes straight to a disk",
        ("/dev/",),
        linear.compile(
            r"(?i)\bdd\b[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|xvd|disk|mmcblk)|\bmkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/\w"
        ),
        {RUN: CRITICAL, SHELL: LOW, PROSE: LOW, COMMENT: HIGH},
    ),
    Check(
        DESTRUCTIVE,
        "overwrites the main branch of a repository for everyone",
        ("git push",),
        linear.compile(r"(?i)\bgit\s+push\b[^\n;&|]*"),
        {},
        _push_severities,
    ),
    Check(
        REMOTE,
        "opens a shell for someone elsewhere",
        ("/dev/", "nc -", "/bin/", "socket.socket", "tcpclient"),
        linear.compile(
            r"""(?i) (?:ba|z)?sh\s+-i\b[^\n]{0,40}/dev/tcp/ | \bexec\s+\d+<>\s*/dev/tcp/ | \b(?:nc|ncat|netcat)\b[^\n|;]*\s-\w*[ec]\w*\s+["']?(?:/bin/|/usr/bin/)?(?:ba|z)?sh
               | /dev/tcp/[^\s/]+/\d+\s+0>&1 | \b(?:nc|ncat)\s[^\n|;]*\d[^\n|;]*\|\s*(?:/bin/)?(?:ba|z)?sh\b | mkfifo\s+\S+[^\n]*\|\s*(?:/bin/)?(?:ba)?sh\b[^\n]*\|\s*(?:nc|ncat)\b
               | socket\.socket\([^\n]*(?:dup2|pty\.spawn|subprocess) | Net\.Sockets\.TCPClient\([^\n]*(?:iex|Invoke-Expression|GetStream)
               | \bsocat\b[^\n]*(?:exec|system):["']?(?:/bin/)?(?:ba)?sh
               | mkfifo\s+\S+[^\n]*\|\s*(?:/bin/)?(?:ba)?sh\b[^\n]*\|\s*openssl\s+s_client\b | \bfsockopen\([^\n]*(?:exec|system|shell_exec|passthru|proc_open)\(""",
            verbose=True,
        ),
        GRAVE,
    ),
    Check(
        REMOTE,
        "opens a shell for someone elsewhere",
        ("net.socket", "net.connect"),
        linear.compile(
            r"""(?i) \A[^\n]*(?:net\.Socket\(|net\.connect\()[\s\S]*?(?:(?:spawn|exec)\(\s*["'](?:/bin/)?(?:ba|z)?sh["'][\s\S]*?\.pipe\(|\.pipe\([\s\S]*?(?:spawn|exec)\(\s*["'](?:/bin/)?(?:ba|z)?sh)""",
            verbose=True,
        ),
        GRAVE,
        span=6,
    ),
    Check(
        REMOTE,
        "opens a shell for someone elsewhere",
        ("dup2(",),
        linear.compile(r"\A[^\n]*\bdup2\([\s\S]*(?:pty\.spawn|[\"']/bin/(?:ba|z)?sh)"),
        GRAVE,
        span=5,
    ),
    Check(
        REMOTE,
        "lets someone's key into this machine",
        ("authorized_keys",),
        linear.compile(
            r"(?i)(?:>>?|tee\s+(?:-a\s+)?|cp\s+\S+\s+|open\(|append\w*\(|write\w*\()[^\n]{0,40}\.ssh/authorized_keys|ssh-(?:rsa|ed25519)\s+\S+[^\n]*authorized_keys"
        ),
        {RUN: CRITICAL, SHELL: LOW, PROSE: MEDIUM, CODE: LOW, COMMENT: CRITICAL},
    ),
    Check(
        OBFUSCATION,
        "decodes hidden commands and runs them",
        ("base64", "xxd ", "| rev"),
        linear.compile(
            rf"""(?i) (?:base64\s+(?:-\w*d\w*|--decode)|openssl\s+(?:enc\s+)?(?:-\w+\s+)*(?:base64|aes\S*)[^\n|]*-d\b|xxd\s+-r(?:\s+-p)?|\|\s*rev)[^\n|]*
                 \|\s*(?:(?:gunzip|zcat|rev|tr\s[^|]*|gzip\s+-d\w*)\s*\|\s*)?{_INTERPRETER}
               | (?:eval|(?:ba|z|da)?sh\s+-\w*c|exec|source\s+/dev/stdin\s*<<<|python3?\s+-c)\s*["'(]*\s*(?:\$\(|`|<\()[^\n]*(?:base64\s+(?:-\w*d\w*|--decode)|xxd\s+-r|\|\s*rev\b)
               | (?:ba|z|da)?sh\s+<\([^\n]*base64\s+(?:-\w*d\w*|--decode)""",
            verbose=True,
        ),
        GRAVE,
    ),
    Check(
        OBFUSCATION,
        "decodes hidden commands and runs them",
        ("eval ", "| sh", "| bash", "__import__("),
        linear.compile(
            r"""(?i) \beval\s+["']?(?:\$\(|`)[^\n]{0,300}\|\s*tr\s+["']?[a-z]-z["']?\s*[a-z]-za-[a-z] | \|\s*tr\s+["']?[a-z]-z\S*\s+\S+\s*\|\s*(?:ba|z)?sh\b
               | \b(?:printf|echo\s+-\w*e\w*)\s+["'](?:\\x[0-9a-f]{2}|\\[0-7]{3}){3,}[^\n|]*\|\s*(?:ba|z|da)?sh\b
               | \bgetattr\(\s*__import__\([^\n)]{0,60}\)\s*,[^\n)]*["']\s*\+\s*["'] | __import__\(\s*["']\w*["']\s*\+\s*["']""",
            verbose=True,
        ),
        GRAVE,
    ),
    Check(
        OBFUSCATION,
        "decodes hidden code and runs it",
        ("exec(", "eval(", "atob(", "buffer.from("),
        linear.compile(
            r"""(?i) \b(?:exec|eval)\(\s*(?:compile\(\s*)?[^\n]{0,80}(?:b64decode|b32decode|b85decode|fromhex|unhexlify|marshal\.loads|zlib\.decompress|codecs\.decode|rot_?13|atob\(|fromCharCode|Buffer\.from\([^\n]*["'](?:base64|hex)["'])
               | \b(?:new\s+)?Function\(\s*(?:atob\(|Buffer\.from\([^\n]*["'](?:base64|hex)["'])
               | \b(?:exec|eval)\(\s*(?:["']{2}|str)\.join\(\s*(?:map\(\s*)?chr\b
               | \bvm\.runIn\w+\(\s*(?:atob\(|Buffer\.from\()
               | __import__\(\s*["']base64["']\s*\)\.b64decode\([^\n]*\bexec\b | \bexec\([^\n]*__import__\(\s*["'](?:base64|zlib|marshal)["']""",
            verbose=True,
        ),
        GRAVE,
    ),
    Check(
        OBFUSCATION,
        "decodes hidden commands and runs them",
        ("powershell", "base64"),
        linear.compile(
            r"""(?i) \bpowershell(?:\.exe)?\b[^\n]*\s-(?:e|ec|en|enc|encodedcommand)\s+["']?[A-Za-z0-9+/=]{24,}
               | \b(?:iex|Invoke-Expression)\b[^\n]*FromBase64String | FromBase64String[^\n]*\|\s*(?:iex|Invoke-Expression)\b""",
            verbose=True,
        ),
        GRAVE,
    ),
    Check(
        OBFUSCATION,
        "spells a command in escaped bytes and runs it",
        ("\\x",),
        linear.compile(
            r"(?i)(?:\$\(|`)\s*(?:printf|echo\s+-\w*e\w*)\s+[\"'](?:\\x[0-9a-f]{2}|\\[0-7]{3}){2,}[\"']\s*(?:\)|`)"
        ),
        {RUN: CRITICAL, SHELL: MEDIUM},
    ),
    Check(
        REMOTE,
        "opens a way into this machine through a tunnel",
        ("ssh -",),
        linear.compile(r"(?i)\bssh\s+(?:-\w+\s+)*-\w*R\s*(?:[\w.*]+:)?\d+:[\w.]+:\d+"),
        {RUN: CRITICAL, SHELL: LOW, PROSE: LOW, COMMENT: HIGH},
    ),
    Check(
        OBFUSCATION,
        "carries a long run of escaped bytes in a program",
        ("\\x",),
        linear.compile(r"(?i)(?:\\x[0-9a-f]{2}){40,}"),
        {RUN: MEDIUM},
    ),
)


# an assignment of decoded data; anchored at the line's start and bounded, for speed
_DECODED = re.compile(
    r"""(?x) \s*(?:(?:const|let|var|export)\s\s*)?(?P<name>\w{1,40})\s?=\s?
        (?:[^\n]{0,120}?(?:b64decode|fromhex\(|atob\(|decompress\(|Buffer\.from\()|["']?(?:\$\(|`)[^\n]{0,300}?base64\s(?:-\w?[dD]\w?|--decode))"""
)
_DECODERS = ("b64decode", "fromhex(", "atob(", "buffer.from(", "base64")
_RUNS = re.compile(
    r"""(?x) (?<![.\w])(?:exec|eval|Function)\(\s?(?=(?P<given>\w+)) | \b(?:eval|sh\s-c)\s["']?\$\{?(?=(?P<put>\w+))"""
)
_LATER = 8


def decoded_later(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield the lines of a program that run data which it decoded a few lines above."""
    run: dict[int, frozenset[str]] = {}
    for needle in _DECODERS:
        for index in document.numbers_of(needle):
            match = _DECODED.match(document.lines[index])
            for at in range(after := document.after(index), min(after + _LATER, len(document.lines)) if match else 0):
                if at not in run:
                    run[at] = _names_run(document.lines[at])
                if match and match["name"] in run[at]:
                    reason = f"runs what line {document.numbers[index]} decoded"
                    yield CheckMatch(OBFUSCATION, CRITICAL, document.line(at), reason)


def _names_run(text: str) -> frozenset[str]:
    """Return the names of the variables that a line executes as code."""
    return frozenset(match["given"] or match["put"] for match in _RUNS.finditer(text))
