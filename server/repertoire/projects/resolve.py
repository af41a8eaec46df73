"""Resolves what programs say of each other: imports, calls and bases become edges between files and symbols."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True)
class _Module:
    """A file as a value: its names are reached through a dot."""

    paths: tuple[str, ...]


_Value = Definition | _Module | None


class Resolver:
    """Resolves the names of programs to definitions of the same project."""

    def __init__(self, definitions: Iterable[Definition], facts: Mapping[str, tuple[str, CodeFacts]]) -> None:
        self._facts = {path: told for path, (_, told) in facts.items()}
        self._languages = {path: language for path, (language, _) in facts.items()}
        self._of: dict[str, dict[str, Definition]] = defaultdict(dict)
        self._methods: dict[tuple[str, str], list[Definition]] = defaultdict(list)
        self._types: dict[tuple[str, str], list[Definition]] = defaultdict(list)
        for one in definitions:
            if one.kind in (MODULE, LINES):
                continue
            # the last of several definitions of a name is the one that is called
            self._of[one.path][one.qualname] = self._of[one.path][one.qualname.partition("#")[0]] = one
            language = _family(self._languages.get(one.path, ""))
            if one.kind == METHOD:
                self._methods[language, one.name].append(one)
            elif one.kind in (CLASS, TYPE):
                self._types[language, one.name].append(one)
        self._modules = Modules(self._languages)
        self._bases: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
        self._members: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
        self._aliases: dict[str, dict[str, tuple[str, str]]] = {}
        self._depth = 0
        for path, told in self._facts.items():
            self._take(path, told)

    def _take(self, path: str, told: CodeFacts) -> None:
        """Remember the bases, imported names and types of attributes of a file."""
        for base in told.bases:
            self._bases[path, base.symbol].append(base.target)
        self._aliases[path] = {one.alias: (one.module, one.name) for one in told.imports if one.alias != _STAR}
        for where, target in told.types.items():
            scope, _, name = where.rpartition(" ")
            if name.startswith("self.") and "." in scope:
                self._members.setdefault((path, f"{scope.rpartition('.')[0]}.{name[5:]}"), (scope, target))
            elif self._kind(path, scope) == CLASS:
                self._members.setdefault((path, f"{scope}.{name}"), (scope, target))

    def _kind(self, path: str, qualname: str) -> str:
        found = self._of[path].get(qualname) if path in self._of else None
        return found.kind if found is not None else ""

    def concerned(self, changed: Collection[str]) -> set[str]:
        """Return the files whose names may lead elsewhere since some files changed: these, and who imports them."""
        return {
            path
            for path, told in self._facts.items()
            if path in changed
            or any(
                target in changed
                for module in {one.module for one in told.imports}
                for target in self._modules.of(path, module)
            )
        }

    def edges(self, path: str) -> list[Edge]:
        """Return where the names in a file lead to: imported files, called symbols, bases."""
        told = self._facts.get(path)
        if told is None:
            return []
        found = [
            Edge(file_key(path), file_key(target), IMPORTS)
            for module in {one.module for one in told.imports}
            for target in self._modules.of(path, module)
        ]
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
        only = self._methods.get((language, name), ()) if len(call.target) > 1 else ()
        if found is None and len(only) == 1 and len(name) >= _COMMON and self._may_guess(path, call.target):
            return only[0], _LIKELY
        return None, 0.0

    def _may_guess(self, path: str, target: tuple[str, ...]) -> bool:
        """Tell whether the receiver of a call is unknown, rather than known to lie outside of the project."""
        return target[-1] not in _OF_BUILT_IN_TYPES and target[0] not in self._aliases.get(path, {})

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
            told = self._facts[path].types.get(f"{outer} {first}") if path in self._facts else None
            if told is not None and len(names) > 1 and told != names:
                found = self._made(path, outer, told)
                return found, names[1:] if found is not None else ()
            here = self._of[path].get(f"{outer}.{first}" if outer else first) if path in self._of else None
            # a method is no name in the scopes inside its class
            if here is not None and (here.kind != METHOD or self._languages.get(path) == syntax.JAVA):
                return here, names[1:]
        return self._imported(path, names)

    def _imported(self, path: str, names: tuple[str, ...]) -> tuple[_Value, tuple[str, ...]]:
        for length in range(len(names), 0, -1):  # `import a.b` is used as `a.b.c`
            known = self._aliases.get(path, {}).get(".".join(names[:length]))
            if known is not None:
                return self._exported(path, *known, hops=_HOPS), names[length:]
        for one in self._modules.beside(path):
            if names[0] in self._of.get(one, {}):
                return self._of[one][names[0]], names[1:]
        found = self._by_star(path, names[0], _HOPS)
        if found is None and self._languages.get(path) == syntax.RUST:
            return self._rust(path, names)
        return found, names[1:]

    def _rust(self, path: str, names: tuple[str, ...]) -> tuple[_Value, tuple[str, ...]]:
        """Return what a path means that no `use` brought: a module of the crate, else the only type of that name."""
        if len(names) > 1:
            files = self._modules.of(path, "::".join(names[:-1]))
            if files and names[-1] in self._of.get(files[0], {}):
                return self._of[files[0]][names[-1]], ()
            if len(names) > 2 and files and names[-2] in self._of.get(files[0], {}):
                return self._of[files[0]][names[-2]], names[-1:]
        only = self._types.get((syntax.RUST, names[0]), ())
        return (only[0], names[1:]) if len(only) == 1 else (None, ())

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
        found = self._of.get(path, {}).get(name)
        if found is None and name == "default":
            found = self._default(path)
        if found is not None or hops <= 0:
            return found
        known = self._aliases.get(path, {}).get(name)
        if known is not None:
            return self._exported(path, *known, hops=hops - 1)
        return self._by_star(path, name, hops - 1)

    def _default(self, path: str) -> Definition | None:
        """Return the only definition at the top of a file, which a default import most likely means."""
        tops = {one for one in self._of.get(path, {}).values() if not one.container}
        return tops.pop() if len(tops) == 1 else None

    def _by_star(self, path: str, name: str, hops: int) -> _Value:
        told = self._facts.get(path)
        if told is None or hops <= 0:
            return None
        for one in told.imports:
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
            found = self._of.get(path, {}).get(f"{owner.qualname}.{name}")
            if found is not None:
                return found
        known = self._members.get((owner.path, f"{owner.qualname}.{name}"))
        if known is not None:
            return self._made(owner.path, *known)
        for target in self._bases.get((owner.path, owner.qualname), ()) if hops else ():
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
        returned = self._facts[maker.path].types.get(f"{maker.qualname} {RETURNED}")
        if returned is None or returned == told:
            return None
        if returned in (("Self",), ("self",)) and maker.container:
            return self._of[maker.path].get(maker.container)
        return self._made(maker.path, maker.qualname, returned) if returned[-1] != RETURNED else None

    def _class_around(self, path: str, scope: str) -> Definition | None:
        """Return the class that a scope lies in."""
        for outer in _scopes(scope):
            found = self._of[path].get(outer) if path in self._of else None
            if found is not None and found.kind in (CLASS, TYPE):
                return found
        around = scope.rpartition(".")[0]  # the `impl` or the methods of a type that another file defines
        known = self._types.get((_family(self._languages.get(path, "")), around), ())
        return known[0] if len(known) == 1 else None

    def _above(self, path: str, scope: str, names: tuple[str, ...]) -> _Value:
        """Return the method of a base of the class around a scope."""
        around = self._class_around(path, scope)
        if around is None or len(names) != 1:
            return None
        for target in self._bases.get((around.path, around.qualname), ()):
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
