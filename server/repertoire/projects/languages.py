"""Names the language of a file by its path, and tells which files are read how."""

from __future__ import annotations

import posixpath

MARKDOWN = "markdown"
_TEXT, _LONGEST_TEXT = "text", 200_000  # bytes of a text that is searched; what is longer is data, such as a word list
# The names of the grammars in `syntax`, which is not imported here: it loads the parser.
_PYTHON, _JAVASCRIPT, _TYPESCRIPT, _TSX = "python", "javascript", "typescript", "tsx"
_GO, _RUST, _JAVA = "go", "rust", "java"
# Languages whose definitions are read with a grammar.
PARSED = frozenset((_PYTHON, _JAVASCRIPT, _TYPESCRIPT, _TSX, _GO, _RUST, _JAVA))
READING_RULES = "2"  # raise it with every change of what is read from programs and texts: memories read them again
READ_BY_RULES = (*sorted(PARSED), _TEXT)
_BY_SUFFIX = {
    **dict.fromkeys(("md", "markdown", "mdx"), MARKDOWN),
    **dict.fromkeys(("py", "pyi"), _PYTHON),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), _JAVASCRIPT),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": _TSX,
    "go": _GO,
    "rs": _RUST,
    "java": _JAVA,
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), "c++"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("html", "htm"), "html"),
    **dict.fromkeys(("css", "scss", "less"), "css"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    **dict.fromkeys(("rst", "txt", "adoc"), _TEXT),
    **{
        name: name
        for name in (
            *("bat", "clj", "csv", "dart", "ex", "exs", "graphql", "groovy", "hcl", "ini", "json", "jsonc", "jsonl"),
            *("lua", "nix", "php", "proto", "r", "scala", "sql", "svelte", "svg", "swift", "tf", "toml", "vue", "xml"),
            "zig",
        )
    },
    "cs": "c#",
    "rb": "ruby",
    "pl": "perl",
    "ps1": "powershell",
    "erl": "erlang",
    "hs": "haskell",
    "ml": "ocaml",
}
_BY_NAME = {
    "dockerfile": "dockerfile",
    "makefile": "make",
    "justfile": "make",
    "cmakelists.txt": "cmake",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "jenkinsfile": "groovy",
}
# Data that nobody asks about as code, thousands of translations among it: a row for the file is enough.
_LISTED = frozenset(("csv", "json", "jsonc", "jsonl", "svg", "xml"))
_GENERATED = (".min.js", ".min.css", ".map", "-lock.json", ".lock", "_pb2.py", ".pb.go", "-lock.yaml", "go.sum")
_SECRET_NAMES = frozenset(
    (".env", ".netrc", ".npmrc", ".pypirc", ".pgpass", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials")
)
_UNQUOTED_ENDS = tuple(".bash .cfg .cnf .conf .env .ini .properties .sh .yaml .yml .zsh".split())
_SECRET_ENDS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg")


def language_of(path: str) -> str:
    """Return the language of a file by its name; empty if it is unknown."""
    name = posixpath.basename(path).lower()
    return _BY_NAME.get(name) or _BY_SUFFIX.get(name.rpartition(".")[2] if "." in name else "", "")


def holds_secrets(path: str) -> bool:
    """Tell whether a file is made to hold secrets, so that it is not even opened."""
    name = posixpath.basename(path).lower()
    if name.endswith((".example", ".sample", ".template")):
        return False
    return name in _SECRET_NAMES or name.startswith(".env.") or name.endswith(_SECRET_ENDS)


def quotes_nothing(path: str) -> bool:
    """Tell whether values need no quotes in a file's format, so that a secret in it may have none."""
    name = posixpath.basename(path).lower()
    return name.endswith(_UNQUOTED_ENDS) or name.startswith("dockerfile")


def is_generated(path: str) -> bool:
    """Tell whether a program wrote the file, by its name: nobody asks what it says."""
    return posixpath.basename(path).lower().endswith(_GENERATED)


def is_cut_by_lines(language: str, size: int) -> bool:
    """Tell whether a file of this language and size is searched by stretches of lines, for want of a grammar."""
    if language == _TEXT:
        return size <= _LONGEST_TEXT
    return bool(language) and language not in PARSED and language not in _LISTED and language != MARKDOWN
