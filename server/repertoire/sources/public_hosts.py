"""Resolves the hosts of addresses once, and refuses those that are not public, so that no name can change its mind."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from repertoire.domain.errors import SourceRefused
from repertoire.domain.text import clean_line
from repertoire.sources.address import is_public

Resolve = Callable[[str, int], Iterable[str]]  # returns the IP addresses of a host

_PORTS = {"https": 443, "http": 80}
_ADDRESS = 2_000  # characters


def resolve(host: str, port: int) -> list[str]:
    """Ask the operating system for the IP addresses of a host.

    Raises:
        OSError: there is none.
    """
    return [str(item[4][0]) for item in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@dataclass
class PublicHosts:
    """The hosts that may be connected to: public ones, and those that a person allowed by name.

    A host is resolved once; every later connection goes to the IP address of then.
    """

    allowed: frozenset[str] = frozenset()  # names or IP addresses of hosts that need not be public
    resolve: Resolve = resolve
    _known: dict[tuple[str, int], str] = field(default_factory=dict)

    def address_of(self, url: str) -> tuple[SplitResult, str]:
        """Return the parts of an address, and the IP address to connect to.

        Raises:
            SourceRefused: the protocol, port or host must not be used, or the host cannot be resolved.
        """
        parts, host, port = _split(url)
        free = host in self.allowed
        if parts.scheme not in _PORTS or (parts.scheme == "http" and not free):
            message = f"{clean_line(url, 120)} is not read: only https is; --allow-host {host or 'HOST'} allows http"
            raise SourceRefused(message)
        if "@" in parts.netloc or not host or (port != _PORTS[parts.scheme] and not free):
            message = f"{clean_line(url, 120)} is not read: it names a user, no host, or a port of its own"
            raise SourceRefused(message)
        if (host, port) not in self._known:
            self._known[host, port] = self._resolved(host, port, free=free)
        return parts, self._known[host, port]

    def _resolved(self, host: str, port: int, *, free: bool) -> str:
        try:
            found = {text.partition("%")[0] for text in self.resolve(host, port)}
        except (OSError, UnicodeError):
            found = set()
        if not found:
            message = f"host {clean_line(host, 80)} cannot be resolved; check the address"
            raise SourceRefused(message)
        private = sorted(text for text in found if not is_public(text))
        if private and not free:
            shown = clean_line(host, 80)
            message = f"host {shown} is not public ({private[0]}); --allow-host {shown} allows it"
            raise SourceRefused(message)
        return min(found, key=lambda text: (":" in text, text))


def _split(url: str) -> tuple[SplitResult, str, int]:
    if len(url) > _ADDRESS or any(ord(one) <= 32 or ord(one) == 127 for one in url) or "\\" in url:
        message = f"{clean_line(url, 120)} is no address of a page"
        raise SourceRefused(message)
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme, 0)
        ipaddress.ip_address(host) if ":" in host else host.encode("idna")
    except (ValueError, UnicodeError) as error:
        message = f"{clean_line(url, 120)} is no address of a page"
        raise SourceRefused(message) from error
    return parts, host, port
