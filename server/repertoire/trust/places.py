"""Lists parts of expressions for places of secrets (files, environment) and for commands that send data.

They have no lookaround: text that must follow is matched too, in groups whose name begins with `after` if the caller
asks for them (see `check.MatchFinder`).
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
    """Return an expression for credential stores: the whole .ssh folder, private keys, and credential files."""
    folder, key = (f"?P<{after}_{of}>" if after else "?:" for of in ("folder", "key"))
    no_public_half = rf"({key}$|[^.]|\.(?:$|[^p]|p(?:$|[^u])))"
    return rf"(?:\.ssh({folder}[\s|;)]|$)|{KEY}{no_public_half}|{_OTHER_STORES})"


STORES = stores()
# files with tokens in a person's home; projects have files of the same names, which are read for honest reasons
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
ALL_ENV = (  # for expressions whose match may include the text beside it
    rf"(?:\bprintenv(?:\s*[^\w\s]|\s*$)|(?:^|[^\w./-])env\s*[|>)`]|{PYTHON_ENV}(?:\s*[,)}}\]]|\s*$)|{ENV_ITSELF})"
)
SINK = (
    r"(?:\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|sftp|nslookup|dig|socat)\b|/dev/(?:tcp|udp)/|\brequests\.(?:post|put|get|request)\b|\bhttpx\.(?:post|put|get)\b"
    r"|\burl(?:lib\.request\.)?(?:open|lib)\b|\bfetch\(|\baxios(?:\.(?:post|put|get))?\(|\bhttps?\.request\(|\bInvoke-(?:RestMethod|WebRequest)\b|\biwr\b|\birm\b|\bsendBeacon\()"
)
DOT_ENV = r"\.env(?:\.\w+)?\b"
OTHER_FILES = r"/etc/passwd|\.(?:bash|zsh)_history|credentials\.json|secrets?\.(?:ya?ml|json|env)"
FILES = rf"(?:{STORES}|(?:^|[^\w.]){DOT_ENV}|{OTHER_FILES})"  # for expressions that may match the text beside it


def files(after: str = "") -> str:
    """Return an expression for files that hold secrets."""
    return rf"(?:{stores(after)}|\B{DOT_ENV}|{OTHER_FILES})"


DOT_FOLDER = r"(?:~|\$\{?HOME\}?)/\.(?:claude|config|gnupg|mozilla|docker|kube|azure)\b"
