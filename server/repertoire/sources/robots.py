"""Obeys robots.txt: which pages of a site may be fetched, how fast, and where its sitemaps are."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from repertoire.domain.text import clean_line
from repertoire.sources.web import AGENT, PageFailed, WebClient

_LINES = 5_000
_SLOWEST = 30.0  # seconds between two pages; who asks for more is not read


@dataclass(frozen=True)
class Robots:
    """The rules of one site."""

    rules: RobotFileParser | None  # None: there are none
    forbidden: str = ""  # why nothing may be fetched

    def refusal(self, url: str) -> str:
        """Return why a page must not be fetched; empty if it may."""
        if self.forbidden:
            return self.forbidden
        if self.rules is not None and not self.rules.can_fetch(AGENT, url):
            return "its robots.txt forbids it"
        return ""

    def delay(self, least: float) -> float:
        """Return the seconds between two pages: what the site asks for, and not less than this."""
        asked = self.rules.crawl_delay(AGENT) if self.rules is not None else None
        return max(least, float(asked or 0))


def read_robots(client: WebClient, url: str) -> Robots:
    """Fetch the rules of the site of a page; a site whose rules cannot be read is not read (RFC 9309).

    Raises:
        SourceRefused: the site must not be connected to.
    """
    parts = urlsplit(url)
    place = urlunsplit((parts.scheme, parts.netloc, "/robots.txt", "", ""))
    try:
        page = client.fetch(place)
    except PageFailed as error:
        if 400 <= error.status < 500 and error.status != 429:
            return Robots(None)
        return Robots(None, f"its robots.txt cannot be read ({error})")
    if page.kind != "text/plain" and b"<" in page.body[:200]:
        return Robots(None)  # a page in place of the file
    rules = RobotFileParser(place)
    try:
        rules.parse(page.body.decode("utf-8", "replace").splitlines()[:_LINES])
        slow = Robots(rules).delay(0.0) > _SLOWEST
    except (ValueError, OverflowError) as error:  # `Crawl-delay: ²`, one of a thousand digits, a path with half an IPv6
        return Robots(None, f"its robots.txt cannot be read ({clean_line(str(error), 120)})")
    return Robots(rules, "its robots.txt asks for more than 30 s between pages" if slow else "")
