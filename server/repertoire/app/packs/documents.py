"""Reads the documents of an opened source into articles; what cannot be read becomes a row with its reason."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.app.current_project import project_folder
from repertoire.app.packs.website import WEBSITE, SiteBounds, fetch_site, is_website
from repertoire.app.sources.cpu_limit import cpu_limit
from repertoire.app.sources.opening import OpenedSource, Surroundings, open_address
from repertoire.documentation.docstrings import module_to_markdown, modules_of
from repertoire.documentation.facts import find_knowledge
from repertoire.documentation.formats import PAGES, SUFFIXES, to_markdown
from repertoire.documentation.includes import INCLUDED_BYTES, fill_in
from repertoire.documentation.manifest import PackSource
from repertoire.documentation.markdown import read_markdown
from repertoire.domain.component import SKILL, Component, SourceInfo
from repertoire.domain.errors import PackRefused, TooSlow
from repertoire.domain.pack import PackArticle
from repertoire.domain.text import clean_line
from repertoire.domain.trust import HIGH, rank
from repertoire.ingestion import front_matter, licences
from repertoire.ingestion.install import Site
from repertoire.ingestion.parts import SourceLayout
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources import crawl, installed
from repertoire.sources.address import ARCHIVE, PYPI
from repertoire.sources.archives import is_archive
from repertoire.sources.crawl import CrawlLimits, FoundFile, Mount
from repertoire.sources.public_hosts import PublicHosts
from repertoire.trust import prompt_injection
from repertoire.trust.document_redaction import redact_document
from repertoire.trust.scan import scan

Report = Callable[[str, int, int], None]  # a label, the amount done, and the total
FORMATS_READ = "Markdown, MDX, reStructuredText, notebooks, HTML"
_NAVIGATION = frozenset(("summary.md", "_sidebar.md", "_navbar.md"))  # lists of links to the other documents
_BESIDE = "a page beside other documents, which it is built from"
_A_FILE_S = 15.0  # processor time for one document


@dataclass(frozen=True)
class Documents:
    """The documents of a source: its articles in the order of their paths, skipped files with reasons, and origin."""

    articles: tuple[PackArticle, ...]
    skipped: dict[str, str]
    source: PackSource


def open_source(
    home: Path, origin: str, *, settings: Settings, report: Report, site: SiteBounds | None = None
) -> OpenedSource:
    """Open a file, a folder, a repository, an archive, a package or a website that a person named.

    Raises:
        SourceError: the source cannot be fetched or unpacked.
        PackRefused: it is a file in a format that is not read.
    """
    file = Path(origin).expanduser()
    if file.suffix.lower() in SUFFIXES and file.is_file():
        info = SourceInfo(f"file:{file}", "file", str(file))
        mounts = (Mount(file.resolve(), file.name),)
        return OpenedSource(info, mounts, Site(), SourceLayout(name=file.stem), limits=CrawlLimits(files=1))
    if file.is_file() and not is_archive(file):
        message = f"{clean_line(origin, 120)} is no document that can be read ({FORMATS_READ}), and no archive"
        raise PackRefused(message)
    bounds = site or SiteBounds()
    if is_website(origin, PublicHosts(bounds.allowed)):
        return fetch_site(home, origin, bounds, max_bytes=settings.max_source_mb * 1_000_000, report=report)
    project = project_folder()
    address = addresses.parse(origin, trusted=True, project=project)
    around = Surroundings(home, settings, installed.look(os.environ, project=project))
    return open_address(address, around, tick=lambda: report("fetch", 0, 0))


def read_documents(opened: OpenedSource, *, report: Report, docstrings: bool = False) -> Documents:
    """Read every document of a source within the limits on files, bytes and processor time.

    The docstrings of Python packages are read where they are asked for, and where the source is such a package.
    """
    listing = crawl.walk(opened.mounts, limits=opened.limits)
    skipped = {item.path: item.reason for item in listing.refused}
    skipped.update(opened.refused)
    if listing.truncated:
        skipped["."] = listing.truncated
    files = {entry.path: entry for entry in listing.entries}
    found = [entry for entry in listing.entries if entry.path.lower().endswith(SUFFIXES)]
    # Pages are read only where nothing else is: beside other documents they are what was built from them.
    documents = [entry for entry in found if not entry.path.lower().endswith(PAGES)]
    modules = _modules(opened, files) if docstrings or _is_python_package(opened, files) else {}
    texts = found if opened.info.kind == WEBSITE else documents or (found if not modules else [])
    skipped.update(dict.fromkeys({entry.path for entry in found} - {entry.path for entry in texts}, _BESIDE))
    entries = sorted([*texts, *(files[path] for path in modules)], key=lambda entry: entry.path)
    articles, state, room = list[PackArticle](), hashlib.sha256(), opened.limits.text_bytes
    for number, entry in enumerate(entries, 1):
        data = _bytes(entry, room)
        room -= len(data) if isinstance(data, bytes) else 0
        read = _article(entry.path, data, files, modules.get(entry.path, "")) if isinstance(data, bytes) else data
        if isinstance(read, str):
            skipped[entry.path] = read
        else:
            articles.append(read)
            state.update(f"{read.path}\0{read.content_hash}\0".encode("utf-8", "replace"))
        report("documents", number, len(entries))
    return Documents(tuple(articles), skipped, _source(opened, state.hexdigest(), articles))


def _bytes(entry: FoundFile, room: int) -> bytes | str:
    """Return the bytes of a document, or the reason why it is not read."""
    if entry.path.rpartition("/")[2].lower() in _NAVIGATION:
        return "navigation: it lists the other documents"
    return crawl.read(entry) if room > 0 else "the source holds more text than is read"


def _is_python_package(opened: OpenedSource, files: Mapping[str, FoundFile]) -> bool:
    return opened.info.location.startswith(f"{PYPI}:") or "__init__.py" in files


def _modules(opened: OpenedSource, files: Mapping[str, FoundFile]) -> dict[str, str]:
    """Return the names of the Python modules in a source by their paths."""
    local = opened.info.kind == "folder"
    return modules_of(files.keys(), Path(opened.info.location).name if local else "")


def _article(path: str, data: bytes, files: Mapping[str, FoundFile], module: str = "") -> PackArticle | str:
    """Return the article in a document's bytes, or the reason why there is none."""
    text = crawl.decode(data)
    if text is None:
        return "not UTF-8 text"
    try:
        with cpu_limit(_A_FILE_S):
            read = module_to_markdown(module, text) if module else to_markdown(path, text)
            whole = fill_in(path, read, lambda other: _text(other, files))
            same = whole == text
            content_hash = hashlib.sha256(data if same else whole.encode("utf-8", "replace")).hexdigest()
            return order_in(path, whole) or _read(path, whole, content_hash)
    except TooSlow:
        return f"took longer than {_A_FILE_S:.0f} s to read"
    except PackRefused as error:
        return str(error)


def _text(path: str, files: Mapping[str, FoundFile]) -> str | None:
    """Return the text of a file of the source that a document includes."""
    data = crawl.read(files[path]) if path in files else None
    return crawl.decode(data) if isinstance(data, bytes) and len(data) <= INCLUDED_BYTES else None


def order_in(path: str, text: str) -> str:
    """Return why a document must not reach a model: it holds an order to one, or hides text; empty if it may."""
    document = Component(path, path, SKILL, body=text, path="document.md")
    steering = (flag for flag in scan(document, text) if flag.rule in prompt_injection.STEERING)
    grave = [flag for flag in steering if rank(flag.severity) >= rank(HIGH)]
    return f"line {grave[0].line} {grave[0].reason}" if grave else ""


def _read(path: str, text: str, content_hash: str) -> PackArticle | str:
    whole = redact_document(text.replace("\r\n", "\n").replace("\r", "\n"))
    document = front_matter.split_toml(whole) or front_matter.split(whole)
    article = read_markdown(path, document.body, document.front_matter, content_hash=content_hash)
    return replace(article, knowledge=find_knowledge(article)) if article.sections else "empty"


def _source(opened: OpenedSource, state: str, articles: list[PackArticle]) -> PackSource:
    info, dates = opened.info, opened.history.dates
    if info.kind == "git" and info.repository:
        address = addresses.without_password(info.location)
    elif info.repository or info.kind not in ("file", "folder", "git", ARCHIVE):
        address = info.repository or info.key
    else:  # a name stands for its path: a pack is shared, and where it was built is nobody's business
        address = Path(info.location).name
    newest = max((dates[article.path][1] for article in articles if article.path in dates), default="")
    return PackSource(address, info.commit, newest, state)


def addresses_of(opened: OpenedSource, read: Documents) -> list[str]:
    """Return where each document comes from: its own address on a website, else its path in the source's address."""
    if opened.info.kind == WEBSITE:
        return sorted(opened.documents.values())
    if opened.info.kind == "file":
        return [read.source.address]
    return [clean_line(f"{read.source.address}/{article.path}", 2_000) for article in read.articles]


def licence_of(opened: OpenedSource) -> str:
    """Return the SPDX id of the licence at the top of a source; empty if there is none, or an unknown one."""
    for mount in opened.mounts:
        for entry in crawl.walk((mount,), limits=CrawlLimits(depth=0)).entries:
            data = crawl.read(entry) if licences.is_licence_file(entry.path) else ""
            text = crawl.decode(data) if isinstance(data, bytes) else None
            if text is not None:
                return licences.recognise(text)
    return ""
