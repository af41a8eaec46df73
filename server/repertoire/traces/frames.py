"""Recognises the lines of a stack trace, in any language."""

from __future__ import annotations

from repertoire.traces.expressions import any_of, expression

_FRAMES = (
    expression(r"""^[ ]*File[ ]"(?P<file>[^"]+)",[ ]line[ ]\d+(?:,[ ]in[ ](?P<function>[^ ]+))?"""),  # Python
    expression(r"^(?P<file>[^ ]+\.py)[ ]in[ ](?P<function>[^(]+)\("),  # notebooks
    expression(  # JVM: at java.base/java.util.ArrayList.get(ArrayList.java:427)
        r"^[ ]*at[ ](?:[\w.$@-]*/)*(?P<function>[\w$.<>/]+)\((?P<file>[\w$.-]+\.(?:java|kt|scala|groovy|clj)(?::\d+)?"
        r"|Native[ ]Method|Unknown[ ]Source|<generated>)\)"
    ),
    expression(  # .NET: at Some.Class.Method(Type name) in /src/File.cs:line 12
        r"^[ ]*at[ ](?P<function>[\w.`<>\[\],+|$]+)\([^)]*\)(?:[ ]in[ ](?P<file>.+):line[ ]\d+)?[ ]*$"
    ),
    expression(  # JavaScript: at Object.run (/app/node_modules/x/y.js:1:2), at async /app/z.js:1:2
        r"^[ ]*at[ ](?:async[ ])?(?:(?P<function>[^()]+)[ ])?\(?(?P<file>[^() ]+?):\d+(?::\d+)?\)?[ ]*$"
    ),
    expression(r"^(?P<function>[\w$.<>/]*)@(?P<file>(?:https?|file|webpack)[^ ]+?):\d+:\d+$"),  # Firefox
    expression(r"^[ ]*(?P<file>/?[^ :]+\.go):\d+[ ]\+0x[0-9a-f]+"),  # Go
    expression(r"^(?P<function>[\w./*()\[\]{}-]+)\((?:0x[0-9a-f]|\.\.\.|\{0x)[^)]*\)[ ]*$"),  # Go, its call
    expression(r"^[ ]*\d+:[ ]+(?:0x[0-9a-f]+[ ]-[ ])?(?P<function>[\w:<>{}$ ,&*\[\]#]+::[\w:<>{}$#]+)[ ]*$"),
    expression(r"^[ ]*at[ ](?P<file>[^ ]+\.rs):\d+(?::\d+)?[ ]*$"),  # Rust, its place
    expression(
        r"""^[ ]*(?:from[ ])?(?P<file>[^ :]+\.(?:rb|erb|rake|ru|gemspec)):\d+:in[ ][`'](?P<function>[^'`]+)'[ ]*$"""
    ),
    expression(r"^[ ]*\#\d+[ ](?P<file>[^ (]+\.php)\(\d+\):[ ](?P<function>[^(]+)"),  # PHP
    expression(
        r"^[ ]*\#\d+[ ]+(?:0x[0-9a-f]+[ ](?:in[ ])?)?(?P<function>[\w:~<>.$ ,&*@()-]+?)(?:[ ]at[ ](?P<file>[^ ]+):\d+)?[ ]*$"
    ),
)
_ANY = any_of(_FRAMES)


def is_frame(line: str) -> bool:
    """Tell whether a line is a frame of a stack trace."""
    return _ANY.match(line.strip()) is not None
