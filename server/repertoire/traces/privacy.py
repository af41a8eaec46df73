"""Removes from a trace's text what identifies a machine: home folders, the project's folder, internal hosts."""

from __future__ import annotations

from repertoire import linear

_HOME = linear.compile(
    r"(?i)(?P<before>^|[^\w.~-])(?:file://)?(?:[a-z]:)?[\\/]+(?:home|users)[\\/]+[^\\/\s:\"'`<>|,;)]+"
)
_ROOT = linear.compile(r"(?P<before>^|[^\w.~-])/root(?P<after>[/\s:\"'`,;)]|$)")
_ADDRESS = linear.compile(
    r"(?P<before>^|[^\d.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})"
)
_HOST = linear.compile(
    r"(?i)(?P<before>^|[^\w.-])(?:[a-z0-9-]{1,63}\.){1,6}(?:internal|local|corp|lan|intranet|home\.arpa)(?P<after>[^\w.-]|[.](?:\s|$)|$)"
)
_LEAST = 2  # path parts: a shorter project folder, such as `/` or `/srv`, identifies nobody


def without_places(text: str, project: str = "") -> str:
    """Return the text with `~` for home folders, `PROJECT` for the project's folder, and marks for internal hosts."""
    folder = project.replace("\\", "/").rstrip("/")
    if folder.count("/") >= _LEAST:
        text = text.replace(folder, "PROJECT")
    text = _HOME.sub(lambda match: f"{match['before']}~", text)
    text = _ROOT.sub(lambda match: f"{match['before']}~{match['after']}", text)
    text = _ADDRESS.sub(lambda match: f"{match['before']}[address]", text)
    return _HOST.sub(lambda match: f"{match['before']}[host]{match['after']}", text)
