"""Removes from a trace's text what identifies a machine: home folders, the project's folder, internal hosts."""

from __future__ import annotations

import string

from repertoire import linear
from repertoire.linear import LinearMatch

_NAME = r"[^\\/\s:\"'`<>|,;)]+"
# An option of a compiler stands right before its path, as in `-I/home/jane`.
_BEFORE = r"(?P<before>^|[^\w.~-]|(?:^|[^\w-])-(?:[a-z]|isystem))"
_HOME = linear.compile(
    rf"""(?i) {_BEFORE} (?:file://)?
      (?: [a-z]:[\\/]+users[\\/]+ {_NAME}(?:[ ](?-i:[A-Z]){_NAME}){{1,2}}(?P<after>[\\/])
        | [\\/]{{2,}}wsl(?:\$|\.localhost)[\\/]+[\w.-]+[\\/]+home[\\/]+ {_NAME}
        | [\\/]+(?-i:(?:mnt[\\/]+)?[a-z][\\/]+Users|System/Volumes/Data/Users)[\\/]+ {_NAME}
        | [\\/]+(?-i:var|usr|export|nfs)[\\/]+home[\\/]+ {_NAME}
        | (?:[a-z]:)?[\\/]+(?:home|users)[\\/]+ {_NAME} )""",
    verbose=True,
)
# Claude Code names the folder of a project's sessions after the project's path.
_SESSIONS = linear.compile(
    rf"(?P<before>[\\/]\.claude[\\/]+projects[\\/]+)(?:[A-Za-z]-|-mnt-[a-z]|-[a-z])?-(?:home|root|Users)\b(?:-{_NAME})?"
)
_ROOT = linear.compile(r"(?P<before>^|[^\w.~-])/root(?P<after>[\w.~-]*)")
_CLOSING = frozenset(("", *"/:\"'`,;)", *string.whitespace))  # what may follow the folder `/root`
_ADDRESS = linear.compile(
    r"(?P<before>^|[^\d.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})\d*"
)
_LOCAL_ADDRESS = linear.compile(r"(?i)(?P<before>^|[^\w:.])f[cd][0-9a-f]{2}(?::[0-9a-f]{0,4}){1,6}:[0-9a-f]{1,4}\b")
_OPEN = r"com|net|org|io|dev|cloud|eu|co|biz|info|de|fr|uk|ch|at|nl|es|it|pl|se|no|us|ca|au|jp|kr|cn|in|br"
_HOST = linear.compile(
    rf"""(?i) (?P<before>^|[^\w.-]) (?P<host> (?:[a-z0-9-]{{1,63}}\.){{1,6}}
      (?: (?:internal|corp|lan|intranet)\.(?:[a-z0-9-]{{1,63}}\.){{1,3}}(?:{_OPEN})
        | internal|local|localdomain|corp|lan|intranet|home\.arpa) \b )""",
    verbose=True,
)
_TOP = frozenset(_OPEN.split("|"))
_OF_PRODUCTS = frozenset(  # the same on every machine
    """host.docker.internal gateway.docker.internal kubernetes.docker.internal host.containers.internal
    metadata.google.internal""".split()
)
_NO_MACHINE = frozenset("localhost host hostname server machine target container box vm".split())
_SHELL = r"[a-z_][\w.-]{0,31}@(?P<host>[A-Za-z][\w.-]{0,62})"
_PROMPTS = (  # as shells of Debian, Fedora and macOS show them
    linear.compile(rf"(?m)(?P<before>^|[ \t(`]){_SHELL}(?P<after>:[~/][^\s$#]{{0,200}}[$#](?:\s|$))"),
    linear.compile(rf"(?m)(?P<before>\[){_SHELL}(?P<after>[ ][^\]\s]{{1,100}}\][$#](?:\s|$))"),
    linear.compile(rf"(?m)(?P<before>^){_SHELL}(?P<after>[ ]\S{{1,100}}[ ]%(?:\s|$))"),
)
_LEAST = 2  # path parts: a shorter project folder, such as `/` or `/srv`, identifies nobody


def without_places(text: str, project: str = "") -> str:
    """Return the text with `~` for home folders, `PROJECT` for the project's folder, and marks for internal hosts."""
    folder = project.replace("\\", "/").rstrip("/")
    if folder.count("/") >= _LEAST:
        text = text.replace(folder, "PROJECT")
    text = _SESSIONS.sub(lambda match: f"{match['before']}~", text)
    text = _HOME.sub(_without_home, text)
    text = _ROOT.sub(_without_root, text)
    for addresses in (_ADDRESS, _LOCAL_ADDRESS):
        text = addresses.sub(lambda match: f"{match['before']}[address]", text)
    for prompts in _PROMPTS:
        text = prompts.sub(_without_machine, text)
    return _HOST.sub(_without_host, text)


def _without_home(match: LinearMatch) -> str:
    """Return a mark for a home folder, and a route of a service as it is: `GET /users/123`, `/users/{id}`."""
    above, _, name = match.group().rpartition("/")
    if above.endswith("/users") and ":" not in above and (name.isdigit() or name.startswith(("{", "[", "$"))):
        return match.group()
    return f"{match['before']}~{match['after'] or ''}"


def _without_root(match: LinearMatch) -> str:
    closed = match.string[match.end() :][:1] in _CLOSING and not match["after"].strip(".")
    return f"{match['before']}~{match['after']}" if closed else match.group()


def _without_machine(match: LinearMatch) -> str:
    known = match["host"].lower() in _NO_MACHINE
    return match.group() if known else f"{match['before']}[host]{match['after']}"


def _without_host(match: LinearMatch) -> str:
    """Return a mark for an internal host, and what is none as it is: `a.local.json`, `com.acme.internal.x.io`."""
    behind, labels = match.string[match.end() :][:2], match["host"].lower().split(".")
    goes_on = behind[:1] == "-" or (behind[:1] == "." and not behind[1:].isspace() and behind != ".")
    known = match["host"].lower() in _OF_PRODUCTS or (
        labels[-1] in _TOP and (labels[0] in _TOP or labels[-2] in {"example", "company"})
    )
    return match.group() if goes_on or known else f"{match['before']}[host]"
