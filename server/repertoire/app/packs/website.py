"""Fetches the pages of a website into a folder: politely, within bounds, and on from where a kill ended it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

from repertoire.app.clone_folder import clone_folder
from repertoire.app.packs import pages
from repertoire.app.packs.places import make_private, packs_folder
from repertoire.app.sources.opening import OpenedSource
from repertoire.boot.filelock import only_one
from repertoire.domain.component import SourceInfo
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.domain.text import clean_line
from repertoire.ingestion.addresses import FORGES
from repertoire.ingestion.install import Site
from repertoire.ingestion.parts import SourceLayout
from repertoire.sources.crawl import Mount
from repertoire.sources.git_dates import GitDates
from repertoire.sources.public_hosts import PublicHosts
from repertoire.sources.robots import Robots, read_robots
from repertoire.sources.scratch import remove
from repertoire.sources.site_state import CLAIMED, DISCOVERED, FAILED, PROCESSED, PageState, SiteState
from repertoire.sources.web import Page, PageFailed, WebClient, origin_of

WEBSITE = "website"  # the kind of such a source
_GIT = "application/x-git-upload-pack-advertisement"
_NOTHING = (400, 404, 405, 410)  # answers that say: there is no such thing here
_PLACE = ".pages"  # beside the packs: no pack has such a name
_RAW, _PAGES = "raw", "pages"
_TRIES = 3
_LONGEST_WAIT = 60.0  # seconds that a site may ask for before the fetch is left for later
_SITEMAPS = 20  # that an index lists and that are read
_KNOWN = 20  # pages that are known for each one that may be fetched

Report = Callable[[str, int, int], None]  # a label, the amount done, and the total


@dataclass(frozen=True)
class SiteBounds:
    """How much of a website is read: links to follow from the first page, pages, and seconds between two of them."""

    depth: int = 0
    pages: int = 200
    allowed: frozenset[str] = frozenset()  # hosts that need not be public
    urls: tuple[str, ...] = ()  # pages to read beside the first one
    interval: float = 1.0


@dataclass
class _Fetch:
    """A fetch under way."""

    start: str
    bounds: SiteBounds
    room: int  # bytes that may still be fetched
    folder: Path
    client: WebClient
    robots: Robots
    state: SiteState
    report: Report
    prefix: str = "/"
    last: float | None = None  # when the page before was asked for
    sitemaps: int = 0
    files: dict[str, str] = field(default_factory=dict)  # addresses by their files

    def may(self, url: str) -> bool:
        """Tell whether an address lies on the site and may be fetched."""
        return origin_of(url) == origin_of(self.start) and not self.robots.refusal(url)


def is_website(origin: str, hosts: PublicHosts) -> bool:
    """Tell whether a source is a website: an address that is no git repository."""
    parts = urlsplit(origin) if origin.startswith(("https://", "http://")) else None
    if parts is None or (parts.hostname or "").lower().removeprefix("www.") in FORGES or parts.path.endswith(".git"):
        return False
    if parts.scheme == "http" or parts.path in ("", "/") or parts.path.endswith(("/", ".html", ".htm", ".xml", ".md")):
        return True
    try:
        with WebClient(hosts) as client:
            client.fetch(f"{origin.rstrip('/')}/info/refs?service=git-upload-pack")
    except PageFailed as error:
        # Who asks for a password, or cannot be reached, may be a git server, and is left to git as ever.
        return error.kind != _GIT if error.kind else error.status in _NOTHING
    except SourceRefused:  # a repository within one's own network, as before
        return False
    return True


def site_folder(home: Path, origin: str, bounds: SiteBounds) -> Path:
    """Return the folder that holds the pages of a website while a pack is built from them."""
    kept = repr((bounds.depth, bounds.pages, sorted(bounds.allowed), bounds.urls))
    name = clone_folder(home, f"{origin}#{digest_of(kept)[:12]}").name
    return packs_folder(home) / _PLACE / name


def fetch_site(
    home: Path,
    origin: str,
    bounds: SiteBounds,
    *,
    max_bytes: int,
    report: Report,
    client: WebClient | None = None,
) -> OpenedSource:
    """Fetch a page or what a sitemap lists, and the pages that these link to within the site, unless they are here.

    Raises:
        SourceError: the site cannot be reached, forbids it, asks to wait long, or has no page that can be read.
    """
    start = pages.normal(origin)
    folder = site_folder(home, origin, bounds)
    make_private(packs_folder(home))
    (folder / _RAW).mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(folder / ".lock", lambda _: report("waiting for another fetch", 0, 0)):
        state = SiteState(folder)
        try:
            with client or WebClient(PublicHosts(bounds.allowed)) as web:
                robots = read_robots(web, start) if _is_unfinished(state, bounds) else Robots(None)
                run = _Fetch(start, bounds, max_bytes, folder, web, robots, state, report)
                _fetch_all(run)
            return _opened(run)
        finally:
            state.close()
            if not _held(state):  # nothing is here that a later fetch could go on with
                remove(folder)


def forget_site(home: Path, origin: str, bounds: SiteBounds) -> None:
    """Delete the fetched pages of a website, once a pack is built from them."""
    remove(site_folder(home, origin, bounds))


def _is_unfinished(state: SiteState, bounds: SiteBounds) -> bool:
    open_pages = any(page.state in (DISCOVERED, CLAIMED) for page in state.pages.values())
    return not state.pages or (open_pages and len(_held(state)) < bounds.pages)


def _held(state: SiteState) -> list[PageState]:
    return [page for page in state.of(PROCESSED) if page.file]


def _fetch_all(run: _Fetch) -> None:
    if not run.start.endswith(".xml"):
        run.prefix = urlsplit(run.start).path.rpartition("/")[0] + "/"
    for url in (run.start, *map(pages.normal, run.bounds.urls)):
        if url and url not in run.state.pages:
            run.state.put(PageState(url, 0))
    run.files = {page.file: page.url for page in _held(run.state)}
    run.room -= sum((run.folder / _RAW / _name(file)).stat().st_size for file in run.files)
    for page in run.state.waiting():
        held = len(run.files)
        if held >= run.bounds.pages or run.room <= 0:
            break
        run.report("pages", held, min(run.bounds.pages, len(run.state.pages)))
        _fetch_one(run, page)


def _fetch_one(run: _Fetch, page: PageState) -> None:
    refusal = "" if origin_of(page.url) == origin_of(run.start) else "it lies on another site"
    if refusal := refusal or run.robots.refusal(page.url):
        _fail(run, page, refusal)
        return
    run.state.put(replace(page, state=CLAIMED))
    now = run.client.clock()
    wait = run.robots.delay(run.bounds.interval) - (now - run.last) if run.last is not None else 0.0
    if wait > 0:
        run.client.pause(wait)
    run.last = run.client.clock()
    try:
        got = run.client.fetch(page.url, within=run.may)
    except SourceRefused as error:
        _fail(run, page, str(error))
    except PageFailed as error:
        _again_or_fail(run, page, error)
    else:
        _keep(run, page, got)


def _again_or_fail(run: _Fetch, page: PageState, error: PageFailed) -> None:
    tries = page.tries + 1
    if error.again is None or tries >= _TRIES:
        _fail(run, replace(page, tries=tries), str(error))
        return
    run.state.put(replace(page, state=DISCOVERED, tries=tries))
    if error.again > _LONGEST_WAIT:
        message = (
            f"{error}, and asks to wait {error.again:.0f} s; run the same command again then: "
            f"the {len(run.files)} pages that are here are kept"
        )
        raise SourceError(message)
    run.client.pause(error.again * 2**page.tries)


def _fail(run: _Fetch, page: PageState, reason: str) -> None:
    run.state.put(replace(page, state=FAILED, reason=clean_line(reason, 300)))


def _keep(run: _Fetch, page: PageState, got: Page) -> None:
    """Write a page beside the state, then record it, with the pages that it leads to."""
    url, text = pages.normal(got.url), pages.decoded(got.body, got.charset)
    run.room -= len(got.body)
    if "xml" in got.kind and pages.is_sitemap(text):
        _discover_listed(run, text)
        run.state.put(replace(page, state=PROCESSED, reason="sitemap"))
        return
    if "html" not in got.kind and not pages.file_of(url).endswith((".md", ".rst")):
        _fail(run, page, f"is of type {got.kind}, which is not read")
        return
    links, refusal = pages.links_in(text, url) if "html" in got.kind else ([], "")
    if refusal:
        _fail(run, page, refusal)
        return
    file = pages.file_of(url)
    if run.files.get(file, url) != url:  # two addresses that differ in what a file's name does not hold
        stem, _, suffix = file.rpartition(".")
        file = f"{stem}-{digest_of(url)[:8]}.{suffix}"
    raw = run.folder / _RAW / _name(file)
    draft = raw.with_suffix(".new")
    draft.write_text(text, encoding="utf-8", errors="replace", newline="")
    draft.replace(raw)
    run.files[file] = url
    if url != page.url:  # of a redirect, the page at its end
        run.state.put(replace(page, state=PROCESSED, reason=f"redirects to {url}"))
    done = PageState(url, page.depth, PROCESSED, page.tries, file, modified=_day(got.modified))
    if page.depth < run.bounds.depth:
        _discover(run, links, page.depth + 1)
    run.state.put(done)


def _discover(run: _Fetch, urls: list[str], depth: int) -> None:
    for url in urls:
        if len(run.state.pages) >= run.bounds.pages * _KNOWN:
            return
        inside = origin_of(url) == origin_of(run.start) and urlsplit(url).path.startswith(run.prefix)
        if inside and url not in run.state.pages:
            run.state.put(PageState(url, depth))


def _discover_listed(run: _Fetch, text: str) -> None:
    found, sitemaps = pages.listed(text)
    kept = sitemaps[: max(0, _SITEMAPS - run.sitemaps)]
    run.sitemaps += len(kept)
    _discover(run, [*kept, *found], 0)


def _name(file: str) -> str:
    """Return the flat name of a fetched page: no name of a stranger becomes a folder here."""
    return f"{digest_of(file)[:32]}.page"


def _opened(run: _Fetch) -> OpenedSource:
    """Write the pages as a folder of documents whose links lead to each other, and open it."""
    held = sorted(_held(run.state), key=lambda page: page.file)
    failed = {page.url: page.reason for page in run.state.of(FAILED)}
    if not held:
        why = failed.get(run.start) or next(iter(failed.values()), "it has no page that can be read")
        message = f"{clean_line(run.start, 200)} is not read: {why}"
        raise SourceError(message)
    place = run.folder / _PAGES
    remove(place)
    files = {page.url: page.file for page in held}
    for page in held:
        text = (run.folder / _RAW / _name(page.file)).read_text(encoding="utf-8")
        target = place / page.file
        whole = pages.localised(text, page.url, files) if pages.is_page(page.file) else text
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(whole, encoding="utf-8", newline="")
        except OSError as error:  # such as pages below a page whose name is that of a document
            failed[page.url] = f"its path cannot be a file here ({error.strerror})"
    left = len([page for page in run.state.pages.values() if page.state in (DISCOVERED, CLAIMED)])
    refused = {**failed, **({".": f"{left:,} more pages are known; --pages raises the bound"} if left else {})}
    dates = {page.file: (page.modified, page.modified) for page in held if page.modified}
    return OpenedSource(
        SourceInfo(run.start, WEBSITE, str(place)),
        (Mount(place),),
        Site(),
        SourceLayout(name=urlsplit(run.start).hostname or WEBSITE),
        GitDates(dates=dates),
        documents={page.file: page.url for page in held if page.url not in failed},
        refused=refused,
    )


def _day(modified: str) -> str:
    try:
        return parsedate_to_datetime(modified).date().isoformat() if modified else ""
    except (ValueError, TypeError, IndexError):
        return ""
