"""Names the languages of the code in a document by the words beside its fences."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire import linear
from repertoire.projects.languages import language_of

_FENCE = linear.compile(r"^[ \t>]{0,12}(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]{0,30})")
_MOST = 8  # languages of a section
_CALLED = {"console": "shell", "sh-session": "shell", "c++": "c++", "c#": "c#", "golang": "go", "jsx": "javascript"}


def snippet_languages(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the languages of the fenced code in some lines, each once, named as those of files are."""
    found, fence = dict[str, None](), ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark is None:
            continue
        if fence:
            closes = mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2]
            fence = "" if closes else fence
            continue
        fence, name = mark[1], mark[2].lower()
        if name:
            found[_CALLED.get(name) or language_of(f"x.{name}") or name] = None
    return tuple(found)[:_MOST]
