"""Reads pages of a website: which others they link to, what a sitemap lists, and what links become in a folder."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from repertoire import linear
from repertoire.documentation.formats import PAGES, SUFFIXES
from repertoire.domain.digest import digest_of

_LINKS = 5_000  # of a page
_LISTED = 50_000  # pages of a sitemap, as the protocol allows
_PART, _PARTS = 80, 12  # characters of a folder's name, and folders within one another
_UNSAFE = linear.compile(r"[^A-Za-z0-9._~+-]")
_LOCATION = linear.compile(r"(?is)<loc>\s*(?:<!\[CDATA\[)?\s*([^<>\s]+)\s*(?:\]\]>)?\s*</loc>")
_INDEX = linear.compile(r"(?is)<sitemapindex[\s>]")
_SITEMAP = linear.compile(r"(?is)<(?:urlset|sitemapindex)[\s>]")


def normal(url: str, base: str = "") -> str:
    """Return an address as it is fetched, without its fragment; empty if it is none of a page."""
    try:
        whole = urldefrag(urljoin(base, url.strip())).url
        parts = urlsplit(whole)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl().replace(" ", "%20")


def file_of(url: str) -> str:
    """Return the path in a folder for a page; a path that names no format is one of HTML."""
    parts = urlsplit(url)
    names = [_UNSAFE.sub("_", unquote(name))[:_PART].strip(".") or "_" for name in parts.path.split("/")[1:]]
    path = "/".join([*names[: _PARTS - 1], *names[-1:]] if len(names) > _PARTS else names)
    path = f"{path.removesuffix('_')}index.html" if parts.path.endswith("/") or not path else path
    stem, suffix = posixpath.splitext(path)
    query = f"-{digest_of(parts.query)[:8]}" if parts.query else ""
    return f"{stem}{query}{suffix}" if suffix.lower() in SUFFIXES else f"{path}{query}.html"


def is_sitemap(text: str) -> bool:
    """Tell whether a document is a sitemap, or lists sitemaps."""
    return _SITEMAP.search(text[:5_000]) is not None


def listed(text: str) -> tuple[list[str], list[str]]:
    """Return the pages that a sitemap lists, and the sitemaps that an index of sitemaps lists."""
    found = [
        normal(html.unescape(match[1])) for _, match in zip(range(_LISTED), _LOCATION.finditer(text), strict=False)
    ]
    kept = list(dict.fromkeys(url for url in found if url))
    return ([], kept) if _INDEX.search(text[:5_000]) else (kept, [])


def decoded(body: bytes, charset: str) -> str:
    """Return the text of a page, by the character set of its header or of the page itself."""
    try:
        return body.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return str(BeautifulSoup(body, "html.parser"))


def links_in(text: str, url: str) -> tuple[list[str], str]:
    """Return the addresses that a page links to, each once, and why the page must not be read (empty: it may)."""
    page = BeautifulSoup(text, "html.parser")
    wishes = {
        wish.strip().lower()
        for meta in page.select("meta[name=robots]")
        for wish in str(meta.get("content") or "").split(",")
    }
    if wishes & {"noindex", "none"}:
        return [], "it asks not to be indexed"
    if "nofollow" in wishes:
        return [], ""
    followed = (link for link in _anchors(page) if "nofollow" not in (link.get("rel") or ()))
    found = (normal(str(link["href"]), _base(page, url)) for link in followed)
    return list(dict.fromkeys(one for one in found if one)), ""


def localised(text: str, url: str, files: Mapping[str, str]) -> str:
    """Return a page whose links to fetched pages lead to their files; `files` are these by their addresses."""
    page = BeautifulSoup(text, "html.parser")
    base, own = _base(page, url), posixpath.dirname(files[url])
    for link in _anchors(page):
        target, _, fragment = str(link["href"]).partition("#")
        file = files.get(normal(target, base)) if target else None
        if file is not None:
            link["href"] = posixpath.relpath(file, own or ".") + (f"#{fragment}" if fragment else "")
    return str(page)


def is_page(file: str) -> bool:
    """Tell whether a file holds HTML."""
    return file.lower().endswith(PAGES)


def _anchors(page: BeautifulSoup) -> Iterator[Tag]:
    yield from page.select("a[href]", limit=_LINKS)


def _base(page: BeautifulSoup, url: str) -> str:
    base = page.select_one("base[href]")
    return normal(str(base["href"]), url) or url if base is not None else url
