"""Resolves what programs say of each other: imports, calls and bases become edges between files and symbols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from repertoire import syntax
from repertoire.domain.component import Edge
from repertoire.domain.project import (
    CALLS,
    CLASS,
    EXTENDS,
    IMPLEMENTS,
    IMPORTS,
    LINES,
    METHOD,
    MODULE,
    TYPE,
    CallSite,
    CodeFacts,
    Definition,
    file_key,
    symbol_key,
    unnumbered,
)
from repertoire.projects.modules import Modules
from repertoire.projects.names import UNKNOWN
from repertoire.projects.types import RETURNED

_SURE, _LIKELY = 1.0, 0.5  # weights of edges: the name leads there; it is the only definition of that name
_HOPS = 8  # imports that lead to another, and bases above a class
_DEEPEST = 24  # names that a name is explained by: two attributes may be made from each other
_STAR: Final = "*"
_SELF = ("self", "cls", "this", "Self")
_OF_BUILT_IN_TYPES = frozenset(name for kind in (str, bytes, list, dict, set, int) for name in dir(kind))
_COMMON = 5  # characters of a name below which the only definition in a project is no evidence


class Programs(Protocol):
    """What is known of the programs of a project."""

    @property
    def languages(self) -> Mapping[str, str]:
        """Map every file to its language."""

    def facts(self, path: str) -> CodeFacts:
        """Return what a file says of others."""

    def definitions(self, path: str) -> Sequence[Definition]:
        """Return the symbols of a file, in its order."""

    def named(self, kinds: Sequence[str], name: str) -> Sequence[Definition]:
        """Return all symbols of some kinds with a name, in the order in which they were stored."""


@dataclass(frozen=True)
class _Module:
    """A file as a value: its names are reached through a dot."""

    paths: tuple[str, ...]


_Value = Definition | _Module | None


@dataclass
class _File:
    """What is known of one file: its definitions by qualified name, what it says, what its names stand for."""

    told: CodeFacts
    names: dict[str, Definition] = field(default_factory=dict)
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)
    bases: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    members: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)


def _read(programs: Programs, path: str) -> _File:
    found = _File(programs.facts(path))
    for one in programs.definitions(path):
        if one.kind not in (MODULE, LINES):
            # the last of several definitions of a name is the one that is called
            found.names[one.qualname] = found.names[unnumbered(one.qualname)] = one
    for base in found.told.bases:
        found.bases.setdefault(base.symbol, []).append(base.target)
    found.aliases = {one.alias: (one.module, one.name) for one in found.told.imports if one.alias != _STAR}
    for where, target in found.told.types.items():
        scope, _, name = where.rpartition(" ")
        around = found.names.get(scope)
        if name.startswith("self.") and "." in scope:
            found.members.setdefault(f"{scope.rpartition('.')[0]}.{name[5:]}", (scope, target))
        elif around is not None and around.kind == CLASS:
            found.members.setdefault(f"{scope}.{name}", (scope, target))
    return found


class Resolver:
    """Resolves the names of programs to definitions of the same project."""

    def __init__(self, programs: Programs, modules: Modules | None = None) -> None:
        self._programs = programs
        self._languages = programs.languages
        self._modules = modules or Modules(self._languages)
        self._files: dict[str, _File] = {}
        self._named: dict[tuple[str, str, bool], list[Definition]] = {}
        self._depth = 0

    def _file(self, path: str) -> _File:
        """Return what is known of a file, asked once."""
        if path not in self._files:
            self._files[path] = _read(self._programs, path)
        return self._files[path]

    def _only(self, language: str, name: str, *, method: bool) -> Definition | None:
        """Return the only method, or the only type, of a name in the files of a language and those that it calls."""
        key = (language, name, method)
        if key not in self._named:
            found = self._programs.named((METHOD,) if method else (CLASS, TYPE), name)
            self._named[key] = [one for one in found if _family(self._languages.get(one.path, "")) == language]
        known = self._named[key]
        return known[0] if len(known) == 1 else None

    def imports(self, path: str, modules: Iterable[str]) -> set[str]:
        """Return the files that modules mean where a file imports them."""
        return {target for module in modules for target in self._modules.of(path, module)}

    def edges(self, path: str) -> list[Edge]:
        """Return where the names in a file lead to: imported files, called symbols, bases."""
        told = self._file(path).told
        imported = self.imports(path, {one.module for one in told.imports})
        found = [Edge(file_key(path), file_key(target), IMPORTS) for target in imported]
        for base in told.bases:
            target = self.value(path, base.symbol, base.target)
            relation = IMPLEMENTS if base.implements else EXTENDS
            if isinstance(target, Definition) and target.kind in (CLASS, TYPE):
                found.append(Edge(symbol_key(path, base.symbol), symbol_key(target.path, target.qualname), relation))
        found.extend(self._calls(path, told))
        return found

    def _calls(self, path: str, told: CodeFacts) -> Iterator[Edge]:
        best: dict[tuple[str, str], tuple[float, int]] = {}
        for call in told.calls:
            target, weight = self.called(path, call)
            if target is not None:
                ends = (symbol_key(path, call.caller), symbol_key(target.path, target.qualname))
                if ends not in best or weight > best[ends][0]:
                    best[ends] = (weight, call.line)
        for (source, called), (weight, line) in best.items():
            yield Edge(source, called, CALLS, weight=weight, evidence=f"line {line}")

    def called(self, path: str, call: CallSite) -> tuple[Definition | None, float]:
        """Return the definition that a call reaches, and how sure that is."""
        found = self.value(path, call.caller, call.target)
        if isinstance(found, Definition):
            return found, _SURE
        name = call.target[-1]
        language = _family(self._languages.get(path, ""))
        if found is not None or len(call.target) < 2 or len(name) < _COMMON or not self._may_guess(path, call.target):
            return None, 0.0
        only = self._only(language, name, method=True)
        return (only, _LIKELY) if only is not None else (None, 0.0)

    def _may_guess(self, path: str, target: tuple[str, ...]) -> bool:
        """Tell whether the receiver of a call is unknown, rather than known to lie outside of the project."""
        return target[-1] not in _OF_BUILT_IN_TYPES and target[0] not in self._file(path).aliases

    def value(self, path: str, scope: str, names: tuple[str, ...]) -> _Value:
        """Return what a dotted name means in a scope of a file."""
        if self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            found, rest = self._first(path, scope, names)
            for name in rest:
                found = self._inside(found, name) if found is not None else None
        finally:
            self._depth -= 1
        return found

    def _first(self, path: str, scope: str, names: tuple[str, ...]) -> tuple[_Value, tuple[str, ...]]:
        """Return the value of the longest beginning of a dotted name that is known, and the names after it."""
        first = names[0]
        if first == UNKNOWN:
            return None, ()
        if first in _SELF:
            around = self._class_around(path, scope)
            return (around, names[1:]) if around is not None else (None, ())
        if first == "super":
            return self._above(path, scope, names[1:]), ()
        for outer in _scopes(scope):
            told = self._file(path).told.types.get(f"{outer} {first}")
            if told is not None and len(names) > 1 and told != names:
                found = self._made(path, outer, told)
                return found, names[1:] if found is not None else ()
            here = self._file(path).names.get(f"{outer}.{first}" if outer else first)
            # a method is no name in the scopes inside its class
            if here is not None and (here.kind != METHOD or self._languages.get(path) == syntax.JAVA):
                return here, names[1:]
        return self._imported(path, names)

    def _imported(self, path: str, names: tuple[str, ...]) -> tuple[_Value, tuple[str, ...]]:
        for length in range(len(names), 0, -1):  # `import a.b` is used as `a.b.c`
            known = self._file(path).aliases.get(".".join(names[:length]))
            if known is not None:
                return self._exported(path, *known, hops=_HOPS), names[length:]
        for one in self._modules.beside(path):
            if names[0] in self._file(one).names:
                return self._file(one).names[names[0]], names[1:]
        found = self._by_star(path, names[0], _HOPS)
        if found is None and self._languages.get(path) == syntax.RUST:
            return self._rust(path, names)
        return found, names[1:]

    def _rust(self, path: str, names: tuple[str, ...]) -> tuple[_Value, tuple[str, ...]]:
        """Return what a path means that no `use` brought: a module of the crate, else the only type of that name."""
        if len(names) > 1:
            files = self._modules.of(path, "::".join(names[:-1]))
            known = self._file(files[0]).names if files else {}
            if names[-1] in known:
                return known[names[-1]], ()
            if len(names) > 2 and names[-2] in known:
                return known[names[-2]], names[-1:]
        only = self._only(syntax.RUST, names[0], method=False)
        return (only, names[1:]) if only is not None else (None, ())

    def _exported(self, importer: str, module: str, name: str, *, hops: int) -> _Value:
        """Return what an import brings: a module, or a definition, also where it is passed on by several files."""
        paths = self._modules.of(importer, module)
        if not name:
            return _Module(paths) if paths else None
        for path in paths:
            found = self._in_module(path, name, hops)
            if found is not None:
                return found
        # the name may be a module itself: `from package import module`, `use crate::module`
        separator = "::" if "::" in module or module == "crate" else "."
        joined = f"{module}{name}" if module.endswith(".") else f"{module}{separator}{name}"
        inner = self._modules.of(importer, joined)
        return _Module(inner) if inner and inner != paths else None

    def _in_module(self, path: str, name: str, hops: int) -> _Value:
        found = self._file(path).names.get(name)
        if found is None and name == "default":
            found = self._default(path)
        if found is not None or hops <= 0:
            return found
        known = self._file(path).aliases.get(name)
        if known is not None:
            return self._exported(path, *known, hops=hops - 1)
        return self._by_star(path, name, hops - 1)

    def _default(self, path: str) -> Definition | None:
        """Return the only definition at the top of a file, which a default import most likely means."""
        tops = {one for one in self._file(path).names.values() if not one.container}
        return tops.pop() if len(tops) == 1 else None

    def _by_star(self, path: str, name: str, hops: int) -> _Value:
        for one in self._file(path).told.imports if hops > 0 else ():
            if one.alias == _STAR:
                for target in self._modules.of(path, one.module):
                    found = self._in_module(target, name, hops - 1) if target != path else None
                    if found is not None:
                        return found
        return None

    def _inside(self, value: Definition | _Module, name: str) -> _Value:
        if isinstance(value, _Module):
            found = (self._in_module(path, name, _HOPS) for path in value.paths)
            return next((one for one in found if one is not None), None)
        if value.kind in (CLASS, TYPE):
            return self._member(value, name, _HOPS)
        return None

    def _member(self, owner: Definition, name: str, hops: int) -> _Value:
        """Return a method or attribute of a class, its own or that of a base; an attribute stands for its type."""
        files = (owner.path, *self._modules.beside(owner.path))
        for path in files:  # in Go the methods of a type lie in any file of its package
            found = self._file(path).names.get(f"{owner.qualname}.{name}")
            if found is not None:
                return found
        known = self._file(owner.path).members.get(f"{owner.qualname}.{name}")
        if known is not None:
            return self._made(owner.path, *known)
        for target in self._file(owner.path).bases.get(owner.qualname, ()) if hops else ():
            base = self.value(owner.path, "", target)
            if isinstance(base, Definition) and base.kind in (CLASS, TYPE) and base != owner:
                inherited = self._member(base, name, hops - 1)
                if inherited is not None:
                    return inherited
        return None

    def _made(self, path: str, scope: str, told: tuple[str, ...]) -> _Value:
        """Return the class that a type's names mean; of a call, the class that it makes or is said to return."""
        if told[-1] != RETURNED:
            found = self.value(path, scope.rpartition(".")[0] if told[0] not in _SELF else scope, told)
            return found if isinstance(found, Definition) and found.kind in (CLASS, TYPE) else None
        maker = self.value(path, scope, told[:-1])
        if not isinstance(maker, Definition) or maker.kind in (CLASS, TYPE):
            return maker if isinstance(maker, Definition) else None
        returned = self._file(maker.path).told.types.get(f"{maker.qualname} {RETURNED}")
        if returned is None or returned == told:
            return None
        if returned in (("Self",), ("self",)) and maker.container:
            return self._file(maker.path).names.get(maker.container)
        return self._made(maker.path, maker.qualname, returned) if returned[-1] != RETURNED else None

    def _class_around(self, path: str, scope: str) -> Definition | None:
        """Return the class that a scope lies in."""
        for outer in _scopes(scope):
            found = self._file(path).names.get(outer)
            if found is not None and found.kind in (CLASS, TYPE):
                return found
        around = scope.rpartition(".")[0]  # the `impl` or the methods of a type that another file defines
        return self._only(_family(self._languages.get(path, "")), around, method=False) if around else None

    def _above(self, path: str, scope: str, names: tuple[str, ...]) -> _Value:
        """Return the method of a base of the class around a scope."""
        around = self._class_around(path, scope)
        if around is None or len(names) != 1:
            return None
        for target in self._file(around.path).bases.get(around.qualname, ()):
            base = self.value(around.path, "", target)
            if isinstance(base, Definition):
                return self._member(base, names[0], _HOPS)
        return None


def _scopes(scope: str) -> Iterator[str]:
    """Yield a scope and those around it, the module's (empty) last."""
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]
    yield ""


def _family(language: str) -> str:
    """Return one name for the languages that call each other."""
    return "script" if language in syntax.NODE else language
