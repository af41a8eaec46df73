"""Finds the file of the project that an import means, in the way of each language."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from repertoire import syntax

_SCRIPT_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_MODULE_FILES = ("mod.rs", "lib.rs", "main.rs")


class Modules:
    """The files of a project as modules: which of them a name in an import means."""

    def __init__(self, languages: Mapping[str, str]) -> None:
        self._files = languages
        self._python = self._python_modules()
        self._folders: dict[str, list[str]] = defaultdict(list)
        for path in languages:
            self._folders[posixpath.dirname(path)].append(path)
        self._java = self._java_packages()

    def _python_modules(self) -> dict[str, list[str]]:
        """Map every name under which a Python file may be imported to such files."""
        found: dict[str, list[str]] = defaultdict(list)
        packages = {posixpath.dirname(path) for path in self._files if posixpath.basename(path) == "__init__.py"}
        for path, language in self._files.items():
            if language == syntax.PYTHON:
                for name in _python_names(path, packages):
                    found[name].append(path)
        return found

    def _java_packages(self) -> dict[str, list[str]]:
        """Map every end of the folder of a Java file, the path of its package among them, to such files."""
        found: dict[str, list[str]] = defaultdict(list)
        for folder, paths in self._folders.items():
            files = [path for path in paths if self._files[path] == syntax.JAVA]
            parts = folder.split("/") if files else ()
            for begin in range(len(parts)):
                found["/".join(parts[begin:])].extend(files)
        return found

    def of(self, importer: str, module: str) -> tuple[str, ...]:
        """Return the files that an import in a file means; none where it is no part of the project."""
        language = self._files.get(importer, "")
        if language == syntax.PYTHON:
            return self._python_module(importer, module)
        if language in syntax.NODE:
            return self._script_module(importer, module)
        if language == syntax.GO:
            return self._go_package(module)
        if language == syntax.RUST:
            return self._rust_module(importer, module)
        if language == syntax.JAVA:
            return tuple(self._java.get(module.replace(".", "/"), ()))
        return ()

    def beside(self, path: str) -> tuple[str, ...]:
        """Return the files whose names are known without an import: those of the same package in Go and Java."""
        language = self._files.get(path, "")
        if language not in (syntax.GO, syntax.JAVA):
            return ()
        return tuple(
            one for one in self._folders[posixpath.dirname(path)] if one != path and self._files[one] == language
        )

    def _python_module(self, importer: str, module: str) -> tuple[str, ...]:
        if module.startswith("."):
            name = module.lstrip(".")
            folder = posixpath.dirname(importer)
            for _ in range(len(module) - len(name) - 1):
                folder = posixpath.dirname(folder)
            base = posixpath.join(folder, *name.split(".")) if name else folder
            wanted = (f"{base}.py", posixpath.join(base, "__init__.py"), f"{base}.pyi")
            return tuple(path for path in wanted if path in self._files)[:1]
        return _nearest(importer, self._python.get(module, ()))

    def _script_module(self, importer: str, module: str) -> tuple[str, ...]:
        if module.startswith("."):
            bases = [posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))]
        elif module.startswith(("@/", "~/")):  # the alias that most build tools set for the folder of sources
            bases = [posixpath.join(folder, module[2:]) for folder in ("src", "", "app")]
        else:
            return ()
        for base in bases:
            stem, suffix = posixpath.splitext(base)
            stems = (base, stem) if suffix in _SCRIPT_SUFFIXES else (base,)
            wanted = [base, *(f"{one}{end}" for one in stems for end in _SCRIPT_SUFFIXES)]
            wanted += [posixpath.join(base, f"index{end}") for end in _SCRIPT_SUFFIXES]
            found = next((path for path in wanted if path in self._files), None)
            if found is not None:
                return (found,)
        return ()

    def _go_package(self, module: str) -> tuple[str, ...]:
        """Return the files of the folder whose path ends the import: the longest such folder."""
        parts = module.split("/")
        for begin in range(len(parts)):
            folder = "/".join(parts[begin:])
            files = tuple(one for one in self._folders.get(folder, ()) if self._files[one] == syntax.GO)
            if files:
                return files
        return ()

    def _rust_module(self, importer: str, module: str) -> tuple[str, ...]:
        parts = [part for part in module.split("::") if part]
        folder = posixpath.dirname(importer)
        own = folder if posixpath.basename(importer) in _MODULE_FILES else posixpath.splitext(importer)[0]
        if parts[:1] == ["crate"]:
            own, parts = _crate(importer), parts[1:]
        while parts and parts[0] in ("super", "self"):
            own = posixpath.dirname(own) if parts[0] == "super" else own
            parts = parts[1:]
        roots = (own, folder, _crate(importer))
        for depth in range(len(parts), 0, -1):  # the last parts may be names inside the module
            for root in dict.fromkeys(roots):
                base = posixpath.join(root, *parts[:depth])
                for path in (f"{base}.rs", posixpath.join(base, "mod.rs")):
                    if path in self._files:
                        return (path,)
        base = f"{own}.rs" if not parts else ""
        wanted = (base, *(posixpath.join(own, name) for name in _MODULE_FILES))
        return tuple(path for path in wanted if path in self._files)[:1]


def _crate(path: str) -> str:
    """Return the folder of sources of the crate that a file belongs to."""
    parts = path.split("/")
    at = max((place for place, part in enumerate(parts[:-1]) if part == "src"), default=-1)
    return "/".join(parts[: at + 1])


def _python_names(path: str, packages: Collection[str]) -> list[str]:
    """Return the names under which a Python file may be imported: from its package's root, and from the project's."""
    stem = posixpath.splitext(path)[0]
    stem = posixpath.dirname(stem) if posixpath.basename(stem) == "__init__" else stem
    folder = posixpath.dirname(path)
    while folder in packages and folder:
        folder = posixpath.dirname(folder)
    whole = stem.replace("/", ".")
    names = {whole, stem[len(folder) :].strip("/").replace("/", ".")}
    for root in ("src", "lib", "python"):
        names.add(whole.removeprefix(f"{root}."))
    return [name for name in names if name]


def _nearest(importer: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the path that shares the longest beginning with the importer's."""
    best = max(paths, key=lambda path: (len(posixpath.commonprefix((path, importer))), -len(path)), default=None)
    return () if best is None else (best,)
