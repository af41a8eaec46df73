"""Says what secrets are kept in and what sends things away: pieces that expressions are put together from.

They cannot look beside themselves: what has to follow is taken along, in groups whose name begins with `after` where
that is asked for (see `check.Pattern`).
"""

from __future__ import annotations

HOME = r"(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE|/root|/home/[\w$*]+|/Users/[\w$*]+|homedir\(\)[^\n]{0,6}|home\(\)[^\n]{0,6})?[\"']?[,)\s]*[\"']?[/\\]?"
_SEP = r"(?:[/\\]|[\"']\s*[,/]\s*[\"'])"
KEY = rf"\.ssh{_SEP}id_(?:rsa|dsa|ecdsa|ed25519)"
_OTHER_STORES = (
    rf"\.ssh{_SEP}(?:\*|identity)|\.aws{_SEP}credentials|\.netrc\b|\.git-credentials"
    r"|\.config[/\\]gcloud[/\\](?:application_default_)?credentials|\.config[/\\]gh[/\\]hosts\.yml|\.kube[/\\]config|\.docker[/\\]config\.json"
    r"|\.gnupg\b|\.pypirc\b|\.claude[/\\]\.credentials\.json|/etc/shadow\b|Login[ ]Data\b|logins\.json\b|key4\.db|wallet\.dat"
    r"|login\.keychain|cookies\.sqlite\b|\.electrum\b|\.config[/\\]solana[/\\]id\.json|\.password-store|\.bitcoin\b|Cookies\.binarycookies"
)


def stores(after: str = "") -> str:
    """Return where credentials are kept: a folder as a whole, keys but not their public halves, and files."""
    folder, key = (f"?P<{after}_{of}>" if after else "?:" for of in ("folder", "key"))
    no_public_half = rf"({key}$|[^.]|\.(?:$|[^p]|p(?:$|[^u])))"
    return rf"(?:\.ssh({folder}[\s|;)]|$)|{KEY}{no_public_half}|{_OTHER_STORES})"


STORES = stores()
# Files of these names lie in projects too, where reading them is honest: only those of a person's home are meant.
OF_HOME = (
    r"(?:(?:~|\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE)[/\\]|(?:homedir\(\)|home\(\)|process\.env\.HOME|expanduser\()[^\n]{0,8})"
    r"(?:\.npmrc|\.cursor/mcp\.json|\.claude\.json|\.ethereum/keystore|\.vault-token|\.terraform\.d/credentials|\.cargo/credentials"
    r"|\.databrickscfg|\.config/rclone/rclone\.conf|\.mcp-auth)\b"
)
ENV_ITSELF = (
    r"\$\(env\)|\bexport\s+-p\b|dict\(os\.environ\)|JSON\.stringify\(\s*process\.env\s*[,)]|\{\s*\.\.\.process\.env"
    r"|(?:body|data|env|json)\s*[:=]\s*process\.env\s*[,})]|Get-ChildItem\s+Env:|gci\s+env:"
)
PYTHON_ENV = r"os\.environ(?:\.copy\(\)|\.items\(\))?"
ALL_ENV = (  # where all that stands beside it may be taken along
    rf"(?:\bprintenv(?:\s*[^\w\s]|\s*$)|(?:^|[^\w./-])env\s*[|>)`]|{PYTHON_ENV}(?:\s*[,)}}\]]|\s*$)|{ENV_ITSELF})"
)
SINK = (
    r"(?:\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|nslookup|dig|socat)\b|/dev/(?:tcp|udp)/|\brequests\.(?:post|put|get|request)\b|\bhttpx\.(?:post|put|get)\b"
    r"|\burl(?:lib\.request\.)?(?:open|lib)\b|\bfetch\(|\baxios(?:\.(?:post|put|get))?\(|\bhttps?\.request\(|\bInvoke-(?:RestMethod|WebRequest)\b|\biwr\b|\birm\b|\bsendBeacon\()"
)
DOT_ENV = r"\.env(?:\.\w+)?\b"
OTHER_FILES = r"/etc/passwd|\.(?:bash|zsh)_history|credentials\.json|secrets?\.(?:ya?ml|json|env)"
FILES = rf"(?:{STORES}|(?:^|[^\w.]){DOT_ENV}|{OTHER_FILES})"  # where all that stands beside it may be taken along


def files(after: str = "") -> str:
    """Return the files that hold secrets."""
    return rf"(?:{stores(after)}|\B{DOT_ENV}|{OTHER_FILES})"


DOT_FOLDER = r"(?:~|\$\{?HOME\}?)/\.(?:claude|config|gnupg|mozilla|docker|kube|azure)\b"
