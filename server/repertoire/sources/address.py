"""Parses a source's address (folder, archive, repository or package), and refuses those that must not be read."""

from __future__ import annotations

import contextlib
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from repertoire.domain.errors import SourceError, SourceRefused, UnknownSource
from repertoire.domain.text import clean_line, sendable

FOLDER, GIT, INSTALLED, CATALOGUE = "folder", "git", "installed", "catalogue"
ARCHIVE, PACKAGE = "archive", "package"
NPM, PYPI = "npm", "pypi"
# Only names and versions match, because npm and pip would also accept paths, addresses and options.
_PACKAGE = {
    NPM: re.compile(
        r"(?P<name>(?:@[a-z0-9~-][\w.~-]*/)?[a-z0-9~-][\w.~-]*)(?:@(?P<version>[0-9a-z][\w.+-]*))?", re.ASCII
    ),
    PYPI: re.compile(r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?:==(?P<version>[0-9][\w.+!-]*))?", re.ASCII),
}
_BETWEEN_WORDS = re.compile(r"[-_.]+")  # separators in a Python package's name
_SCP = re.compile(r"^(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+\.[\w-]+|[\w-]+):(?!//)(?P<path>[\w./~+%-]+)$")
_SHORT = re.compile(r"^[\w-]+/[\w.-]+$")
_HOSTED = re.compile(r"^(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/[\w./-]+$")
_AT_REF = re.compile(r"^([\w-]+/[\w.-]+|[\w.-]+@[\w.-]+:[\w./~+%-]+)[@#][\w./-]+$")
_HOST = re.compile(
    r"^(?:[\w](?:[\w.-]*[\w])?\.?|[0-9a-f:.]+)$", re.ASCII | re.IGNORECASE
)  # strict, because the host becomes a word of ssh's command line
_PLAIN = re.compile(r"[A-Za-z0-9][\w.~%+@:/\[\]-]*", re.ASCII)  # what can stand in an install line as it is
_TWO_NAMES = frozenset(("github.com", "bitbucket.org", "codeberg.org"))  # hosts without groups below groups
_WAY_OUT = "send a folder, owner/name on GitHub, or an https or ssh address of a git repository"
_PACKAGE_FORMS = "send npm:NAME, npm:@SCOPE/NAME@VERSION, pypi:NAME or pypi:NAME==VERSION"


@dataclass(frozen=True)
class Address:
    """The address of a source: `kind` is a constant above; `text` a path, a git address, or `npm:NAME@VERSION`."""

    kind: str
    text: str
    key: str = ""
    repository: str = ""
    pinned: str = ""  # `host:port:ip` that git must connect to, if the host was checked
    note: str = ""  # what a person should know of what is read


def parse(argument: str, *, trusted: bool, project: Path | None = None) -> Address:
    """Parse an argument into an address; an untrusted caller (the model) may read only public hosts and its project.

    Raises:
        SourceRefused: the source may not be read from here.
        SourceError: the argument names no source.
    """
    text = argument.strip()
    if text in (INSTALLED, CATALOGUE):
        return Address(text, text, key=text)
    if not text or text.startswith("-") or any(ord(character) < 32 for character in text):
        message = f"{clean_line(argument, 80)!r} names no source; {_WAY_OUT}"
        raise SourceRefused(message)
    registry, _, package = text.partition(":")
    if registry in _PACKAGE:
        return _package(registry, package, trusted=trusted)
    folder = None if "://" in text else _existing(text)
    if folder is not None:
        return _local(folder, trusted=trusted, project=project)
    if "::" in text and "://" not in text:  # git's own `transport::address`
        message = f"{clean_line(text.partition('::')[0], 20)} addresses are not read; {_WAY_OUT}"
        raise SourceRefused(message)
    if "://" not in text and not _SCP.match(text):
        if _HOSTED.match(text):
            text = f"https://{text}"
        elif _SHORT.match(text):
            text = f"https://github.com/{text}"
        else:
            raise _unknown(text)
    if text.startswith("file://"):
        from urllib.request import url2pathname  # noqa: PLC0415 - takes longer to import than all else here

        parts = urlsplit(text)
        found = _local(Path(url2pathname(parts.path)), trusted=trusted, project=project, clone=True)
        return replace(found, note=_whole(parts.fragment)) if parts.fragment else found
    return _remote(text, trusted=trusted)


def _unknown(text: str) -> UnknownSource:
    if named := _AT_REF.match(text):
        return UnknownSource(f"no branch or tag can be chosen; {named[1]} reads the default branch")
    return UnknownSource(f"there is no folder {clean_line(text, 120)!r}; {_WAY_OUT}")


def package_of(address: Address) -> tuple[str, str, str]:
    """Return the registry, the name and the version (perhaps empty) in a package's address."""
    registry, _, text = address.text.partition(":")
    found = _PACKAGE[registry].fullmatch(text)
    return (registry, found["name"], found["version"] or "") if found else (registry, text, "")


def _package(registry: str, text: str, *, trusted: bool) -> Address:
    found = _PACKAGE[registry].fullmatch(text)
    if not found:
        message = f"{clean_line(text, 80)!r} names no package; {_PACKAGE_FORMS}"
        raise UnknownSource(message)
    if not trusted:
        message = f"a person can run `repertoire ingest {registry}:{text}`: packages are fetched for a person alone"
        raise SourceRefused(message)
    name = found["name"] if registry == NPM else _BETWEEN_WORDS.sub("-", found["name"]).lower()
    return Address(PACKAGE, f"{registry}:{text}", key=f"{registry}:{name}")


def _existing(text: str) -> Path | None:
    with contextlib.suppress(OSError, RuntimeError, ValueError):  # too long a name, no such user, an odd character
        folder = Path(text).expanduser()
        return folder if folder.exists() else None
    return None


def key_of(address: str) -> str:
    """Return the stable key of a remote address: `host/owner/name` without user, port and `.git`, or empty."""
    scp = None if "://" in address else _SCP.match(address)
    if scp is not None:
        host, path = scp["host"], scp["path"]
    else:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        host, path = (parts.hostname or ""), parts.path
    names = _names(path)
    host = host.lower().removeprefix("www.")
    names = names[: _length(host, names)]
    if not host or not names:
        return ""
    names[-1] = names[-1].removesuffix(".git")
    return "/".join((host, *names))


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name and name not in (".", "..")]


def _length(host: str, names: Sequence[str]) -> int:
    """Return how many names of an address's path are a repository's; the others name a place in it."""
    if host in _TWO_NAMES:
        return 2
    if "_git" in names:  # Azure DevOps
        return names.index("_git") + 2
    for at, name in enumerate(names[2:-1], 2):
        gitea = name == "src" and names[at + 1] in ("branch", "tag", "commit")
        if name in ("-", "tree", "blob") or gitea:  # no repository or group can have these names
            return at
    return len(names)


def client_address(address: str) -> str:
    """Return a repository's address as Claude Code adds a marketplace from it; empty if it takes none like it.

    The client takes ssh only as `user@host:path`, and an https address that ends in neither `.git` nor
    `/_git/NAME` for that of a file.
    """
    scp = None if "://" in address else _SCP.match(address)
    found = (address if scp["user"] else "") if scp is not None else _client_address(without_password(address))
    if (key := key_of(address)).startswith("github.com/"):
        found = key.partition("/")[2]
    return found if _PLAIN.fullmatch(found) else ""


def _client_address(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme == "ssh":
        return f"{parts.netloc}:{parts.path}" if parts.username and ":" not in parts.netloc else ""
    if parts.scheme != "https" or address.startswith("https://git-codecommit."):  # which knows no `.git`
        return ""
    return address if "/_git/" in address else f"{address.rstrip('/').removesuffix('.git')}.git"


def without_password(address: str) -> str:
    """Return the address of a repository without what only one person may know: the user of https, any password."""
    if "://" not in address:
        return address
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0] if parts.scheme == "ssh" else ""
    return parts._replace(netloc=f"{name}@{host}" if name else host, query="", fragment="").geturl()


def _local(folder: Path, *, trusted: bool, project: Path | None, clone: bool = False) -> Address:
    place = folder.resolve()
    if str(place) != sendable(str(place)):
        message = f"the name {str(place)!r} is not UTF-8, as a source's must be; rename it"
        raise SourceError(message)
    inside = project is not None and place.is_relative_to(project.resolve())
    if not trusted and not inside:
        message = f"{clean_line(str(folder), 120)} lies outside the project; a person can run `repertoire ingest` on it"
        raise SourceRefused(message)
    if place.is_file() and _is_archive(place):
        return Address(ARCHIVE, str(place), key=f"archive:{place}")
    if not place.is_dir():
        message = f"{clean_line(str(folder), 120)} is not a folder, nor a .zip, .tar, .tar.gz or .tgz; {_WAY_OUT}"
        raise UnknownSource(message)
    bare = (place / "HEAD").is_file() and (place / "objects").is_dir() and not (place / ".git").exists()
    if clone or bare:
        return Address(GIT, str(place), key=f"folder:{place}")
    return Address(FOLDER, str(place), key=f"folder:{place}")


def _remote(text: str, *, trusted: bool) -> Address:
    scp = None if "://" in text else _SCP.match(text)
    try:
        parts = urlsplit(text if scp is None else f"ssh://{scp['host']}/{scp['path']}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if parts.scheme not in ("https", "ssh") or not _HOST.match(host):
        scheme = clean_line(parts.scheme or text.partition(":")[0], 20)
        message = f"{scheme} addresses are not read; {_WAY_OUT}"
        raise SourceRefused(message)
    pinned = "" if trusted else _pin(host, port or (443 if parts.scheme == "https" else 22))
    key = key_of(text)
    if not key:
        message = f"{clean_line(without_password(text), 120)!r} names no repository; {_WAY_OUT}"
        raise UnknownSource(message)
    names = _names(parts.path)
    kept = names[: key.count("/")]
    inner = "/".join(names[len(kept) :]) or parts.fragment or parts.query
    if scp is not None or not inner:
        return Address(GIT, text, key=key, repository=key, pinned=pinned)
    address = f"{parts.scheme}://{parts.netloc}/{'/'.join(kept)}"  # a link to a folder or file names the repository
    return Address(GIT, address, key=key, repository=key, pinned=pinned, note=_whole(inner))


def _whole(named: str) -> str:
    """Say that more is read than an address names."""
    return f"the whole repository is read, at its default branch, and not {clean_line(named, 80)} alone"


def _is_archive(place: Path) -> bool:
    from repertoire.sources.archives import is_archive  # noqa: PLC0415 - what unpacks takes longer than all else here

    return is_archive(place)


def _pin(host: str, port: int) -> str:
    """Check that all IP addresses of a host are public; return the one to connect to, as `host:port:ip`.

    git resolves the name again; without the pin, a name server could answer with a private address the second time.
    """
    if ":" in host:
        message = f"{host} is no name of a host; {_WAY_OUT}"
        raise SourceRefused(message)
    import socket  # noqa: PLC0415 - a session's start asks for keys alone

    try:
        found = {str(item[4][0]) for item in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        message = f"host {clean_line(host, 80)} cannot be resolved; check the address, or let a person run it"
        raise SourceRefused(message) from None
    for text in sorted(found):
        if not is_public(text):
            message = f"host {clean_line(host, 80)} is not public ({text}); a person can run `repertoire ingest` on it"
            raise SourceRefused(message)
    chosen = min(found, key=lambda text: (":" in text, text))
    return f"{host}:{port}:{chosen}"


def is_public(text: str) -> bool:
    """Tell whether an IP address is one of the internet: not private, of this machine, of a link, or a cloud's own."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if mapped is not None:
        address = mapped
    return address.is_global and not address.is_multicast
