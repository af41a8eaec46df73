"""Fetches single pages of websites within bounds on size, time, redirects and types; unpacks compressed ones."""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx
from typing_extensions import Self

from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line
from repertoire.sources.public_hosts import PublicHosts

AGENT = "repertoire-pack-builder/1"  # also the name that robots.txt may give rules to
_REDIRECTS = 5
_TIMEOUT = httpx.Timeout(15.0, connect=10.0)
_TEXT = ("text/html", "application/xhtml+xml", "text/markdown", "text/plain", "text/xml", "application/xml")
_BUSY = frozenset((429, 502, 503, 504))


class PageFailed(SourceError):
    """A page was not fetched; `again` tells after how many seconds to try once more, or None: never."""

    def __init__(self, message: str, *, again: float | None = None, status: int = 0, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind  # the type of a page that is not read
        self.again = again
        self.status = status


@dataclass(frozen=True)
class Page:
    """A page as it came: the address after redirects, its type, its character set (perhaps empty), and its bytes."""

    url: str
    kind: str
    charset: str
    body: bytes
    modified: str = ""  # the header Last-Modified


@dataclass(frozen=True)
class PageLimits:
    """The bounds of one page."""

    size: int = 1_000_000  # bytes, after unpacking
    seconds: float = 30.0  # from the first byte to the last


@dataclass
class WebClient:
    """Fetches pages; each connection goes to the IP address that was checked, whatever its name says by then."""

    hosts: PublicHosts
    limits: PageLimits = field(default_factory=PageLimits)
    kinds: tuple[str, ...] = _TEXT  # types of pages that are read; empty: any
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    # the authorities of SSL_CERT_FILE too, which a company's network may need
    _trust: ssl.SSLContext = field(default_factory=httpx.create_ssl_context)
    _clients: dict[tuple[str, str, int | None], httpx.Client] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def fetch(self, url: str, *, within: Callable[[str], bool] = lambda _: True) -> Page:
        """Fetch a page; a redirect is followed only to an address for which `within` is true.

        Raises:
            PageFailed: it cannot be fetched, exceeds a bound, or is of another type.
            SourceRefused: an address on the way must not be connected to.
        """
        for _ in range(_REDIRECTS + 1):
            found = self._get(url)
            if isinstance(found, Page):
                return found
            if not within(found):
                message = f"{clean_line(url, 200)} redirects to {clean_line(found, 200)}, which is another site"
                raise PageFailed(message)
            url = found
        message = f"{clean_line(url, 200)} redirects more than {_REDIRECTS} times"
        raise PageFailed(message)

    def _get(self, url: str) -> Page | str:
        """Return the page at an address, or the address to which it redirects."""
        parts, ip = self.hosts.address_of(url)
        host = f"[{ip}]" if ":" in ip else ip
        place = f"{host}:{parts.port}" if parts.port else host
        pinned = urlunsplit((parts.scheme, place, parts.path or "/", parts.query, ""))
        name = parts.hostname or ""
        if not name.isascii():
            name = name.encode("idna").decode()
        # TLS asks for the name and checks the certificate against it, though the connection goes to the number
        named = {"sni_hostname": name}
        shown = name if parts.port is None else f"{name}:{parts.port}"
        headers = {"Host": parts.netloc if parts.netloc.isascii() else shown}
        try:
            client = self._client(parts.scheme, name, parts.port)
            with client.stream("GET", pinned, headers=headers, extensions=named) as answer:
                return self._read(url, answer)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            message = (
                f"{clean_line(url, 200)} cannot be fetched ({clean_line(str(error) or type(error).__name__, 120)})"
            )
            raise PageFailed(message, again=1.0) from error

    def _client(self, scheme: str, host: str, port: int | None) -> httpx.Client:
        """Return the connections of one host: two hosts at one IP address must not share a connection."""
        key = (scheme, host, port)
        if key not in self._clients:
            client = httpx.Client(
                follow_redirects=False,
                timeout=_TIMEOUT,
                trust_env=False,  # a proxy would resolve the name again
                verify=self._trust,
                headers={
                    "User-Agent": AGENT,
                    "Accept": ", ".join(self.kinds) or "*/*",
                    "Accept-Encoding": "gzip, identity;q=0.5",
                },
            )
            self._clients[key] = self._stack.enter_context(client)
        return self._clients[key]

    def _read(self, url: str, answer: httpx.Response) -> Page | str:
        status, headers = answer.status_code, answer.headers
        if status in (301, 302, 303, 307, 308) and headers.get("Location"):
            try:
                return urljoin(url, headers["Location"])
            except ValueError as error:
                message = f"{clean_line(url, 200)} redirects to what is no address"
                raise PageFailed(message) from error
        if status != 200:
            again = _seconds(headers.get("Retry-After", "")) if status in _BUSY else None
            message = f"{clean_line(url, 200)} answers {status}"
            raise PageFailed(message, again=again, status=status)
        kind, charset = _content_type(headers.get("Content-Type", ""))
        if self.kinds and kind not in self.kinds:
            message = f"{clean_line(url, 200)} is of type {clean_line(kind, 60) or 'unknown'}, which is not read"
            raise PageFailed(message, kind=kind)
        body = b"".join(self._body(url, answer))
        return Page(url, kind, charset, body, headers.get("Last-Modified", ""))

    def _body(self, url: str, answer: httpx.Response) -> Iterator[bytes]:
        """Yield the bytes of a body, unpacked here: the library would unpack a piece of any size at once."""
        coding = answer.headers.get("Content-Encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", "x-gzip", ""):
            message = f"{clean_line(url, 200)} is compressed as {clean_line(coding, 40)}, which was not asked for"
            raise PageFailed(message)
        unpack = zlib.decompressobj(wbits=31) if "gzip" in coding else None
        room, end = self.limits.size, self.clock() + self.limits.seconds
        for raw in answer.iter_raw(65_536):
            try:
                piece = unpack.decompress(raw, room + 1) if unpack else raw
            except zlib.error as error:
                message = f"{clean_line(url, 200)} is not compressed as it says"
                raise PageFailed(message) from error
            room -= len(piece)
            if room < 0 or (unpack and unpack.unconsumed_tail):
                message = f"{clean_line(url, 200)} is larger than {self.limits.size:,} bytes"
                raise PageFailed(message)
            if self.clock() > end:
                message = f"{clean_line(url, 200)} takes longer than {self.limits.seconds:.0f} s"
                raise PageFailed(message)
            yield piece


def _content_type(text: str) -> tuple[str, str]:
    kind, _, rest = text.partition(";")
    charset = rest.lower().partition("charset=")[2].strip(" \"'").partition(";")[0]
    return kind.strip().lower(), charset[:40]


def _seconds(retry_after: str) -> float:
    asked = retry_after.strip()
    return float(asked) if asked.isdecimal() and len(asked) < 10 else 2.0


def origin_of(url: str) -> tuple[str, str]:
    """Return what tells one site from another: scheme, and host with port; nothing for what is no address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme, parts.netloc.lower()
