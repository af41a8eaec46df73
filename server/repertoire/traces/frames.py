"""Recognises the lines of a stack trace, and distinguishes frames of libraries from frames of a person's own code."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire import linear
from repertoire.traces.expressions import any_of, expression


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stack; `library` is the package it belongs to, empty for a person's own code."""

    function: str
    file: str  # the path within the library; for own code, the file's name alone
    library: str = ""

    @property
    def own(self) -> bool:
        """Tell whether the frame belongs to the person's own code."""
        return not self.library


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
_MARKER = expression(
    r"""(?:.*[/\\])?(?:site-packages|dist-packages|node_modules|bower_components|gems|vendor|registry/src|pkg/mod|\.m2/repository
    |hosted/pub\.dev|hosted/pub\.dartlang\.org|\.cargo/git/checkouts|Cellar|_pnpm)[/\\](?P<rest>.+)"""
)
_STANDARD = expression(
    r"""(?i)(?:.*[/\\])?(?:python[\d.]*[/\\](?:lib|python[\d.]*)?|lib[/\\]python[\d.]+|go[/\\]src|rustc[/\\][0-9a-f]+|lib[/\\]ruby[/\\][\d.]+
    |usr[/\\](?:include|lib))[/\\]?(?P<rest>.*)|<frozen[ ](?P<frozen>[^>]+)>|(?P<node>(?:node:)?internal[/\\:].+|node:.+)"""
)
_JVM = (
    """java javax jakarta jdk sun com.sun kotlin kotlinx scala groovy clojure android androidx dalvik com.android org.apache
    org.springframework org.hibernate org.junit org.gradle org.jetbrains org.eclipse org.slf4j org.postgresql org.mockito
    org.elasticsearch org.jboss org.codehaus com.google com.fasterxml com.mysql com.zaxxer com.squareup com.intellij ch.qos
    io.netty io.micronaut io.quarkus io.reactivex io.grpc io.ktor okhttp3 okio retrofit2 reactor System Microsoft"""
).split()
_BY_LENGTH = tuple(sorted((f"{name}." for name in _JVM), key=len, reverse=True))
_DIGITS = linear.compile(r"[@-]?v?\d+(?:\.\d+)+[\w.+-]*")
_DOTTED = linear.compile(r"^[\w$]+(?:\.[\w$<>`\[\],]+)+$")


def frame_of(line: str) -> Frame | None:
    """Return the frame in a line of a stack trace, or None."""
    line = line.strip()
    if not _ANY.match(line):
        return None
    for pattern in _FRAMES:
        if found := pattern.match(line):
            groups = found.groupdict()
            return _frame((groups.get("function") or "").strip(), groups.get("file") or "")
    return None


def library_of(path: str) -> tuple[str, str]:
    """Return the package of a file and the path within it; both empty for own code."""
    whole = path.replace("\\", "/")
    if found := _MARKER.match(whole):
        rest = _DIGITS.sub("", str(found["rest"]))
        parts = [part for part in rest.split("/") if part and part != "src"]
        if parts and parts[0].startswith(("index.crates.io", "github.com-")):
            parts = parts[1:]
        scoped = parts[0].startswith("@") or "." in parts[0] if parts else False
        return ("/".join(parts[:2]) if scoped and len(parts) > 2 else "".join(parts[:1])), "/".join(parts)
    if found := _STANDARD.match(whole):
        rest = found["rest"] or found["frozen"] or found["node"] or ""
        return "standard", str(rest)
    return "", ""


def _frame(function: str, file: str) -> Frame:
    library, inside = library_of(file) if file else ("", "")
    if not library and _DOTTED.match(function):
        library = next((name.rstrip(".") for name in _BY_LENGTH if function.startswith(name)), "")
    if not library and function.startswith(("std::", "core::", "alloc::", "runtime.", "rust_begin_unwind")):
        library = "standard"
    return Frame(function, inside or file.replace("\\", "/").rsplit("/", 1)[-1].split(":")[0], library)
