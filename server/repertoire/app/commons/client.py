"""Speaks to the server of a commons: timeouts, retries with jitter, and answers that are bounded and checked."""

from __future__ import annotations

import ipaddress
import json
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import httpx
from jsonschema import Draft202012Validator

from repertoire import __version__
from repertoire.app.commons.errors import CommonsError, CommonsRefused, KeyRefused, LimitReached, NotThere, ScopeMissing
from repertoire.app.commons.retry_after import retry_after
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.text import clean_line
from repertoire.domain.trace import COMPLAINTS, NOTE, PLACES
from repertoire.learning.shared_use import OwnUse, TeamUse

_TIMEOUT = httpx.Timeout(10.0, connect=3.0)
_DEADLINE_S = 60.0  # of an answer: the timeout above begins anew with every byte
_FILE_DEADLINE_S = 600.0  # of the file of a pack
_UPLOAD = httpx.Timeout(120.0, connect=3.0)  # a commons checks a pack before it answers
_ATTEMPTS, _PAUSE_S = 3, 0.4
_MOST_BYTES = 32_000_000  # of an answer: the largest pack, or texts of 4 MB, each character escaped
_AGAIN = frozenset((429, 502, 503, 504))
_PATIENCE_S = 5.0  # a server that asks for a longer wait is left to the next sync
_REFUSALS = frozenset((400, 404, 409, 413, 422))  # the same request again would be refused again
_SAID = 200

_LINE = {"type": "string", "maxLength": 200}
_CHANGES: Mapping[str, Any] = {
    "type": "object",
    "required": ["traces", "votes", "removed", "cursor", "more"],
    "properties": {
        "traces": {"type": "array", "items": {"type": "object", "required": ["id"]}},
        "votes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["trace", "voter", "up", "at", "tag", "note", "environment"],
                "properties": {
                    "trace": _LINE,
                    "voter": _LINE,
                    "up": {"type": "boolean"},
                    "withdrawn": {"type": "boolean"},
                    "at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
                    "tag": {"enum": ["", *COMPLAINTS]},
                    "note": {"type": "string", "maxLength": NOTE},
                    "environment": {"type": "object", "propertyNames": {"enum": list(PLACES)}},
                },
            },
        },
        "removed": {"type": "array", "items": _LINE},
        "cursor": {"type": "integer", "minimum": 0},
        "more": {"type": "boolean"},
    },
}
_MEMBERS: Mapping[str, Any] = {"type": "integer", "minimum": 0}
_ONE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "used": _MEMBERS,
        "offered": _MEMBERS,
        "worked": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    },
}
_PACKS: Mapping[str, Any] = {
    "type": "array",
    "maxItems": 10_000,
    "items": {
        "type": "object",
        "required": ["hash", "name", "version", "description", "licence", "bytes", "member", "at"],
        "properties": {
            "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "name": _LINE,
            "version": _LINE,
            "description": {"type": "string", "maxLength": 1_000},
            "licence": _LINE,
            "bytes": {"type": "integer", "minimum": 0},
            "member": _LINE,
            "at": _LINE,
        },
    },
}


def _told(of_one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of what is told of components, each as `of_one` says."""
    return {
        "type": "object",
        "required": ["components"],
        "properties": {
            "components": {
                "type": "object",
                "maxProperties": 10_000,
                "propertyNames": {"maxLength": 500},
                "additionalProperties": of_one,
            }
        },
    }


class HttpClient:
    """A client over HTTP. Every call may be sent twice: the server gives the same answer to the same call."""

    def __init__(self, url: str, key: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
        headers = {"Authorization": f"Bearer {key}", "User-Agent": f"repertoire/{__version__}"}
        self._client = httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=_TIMEOUT)
        self._url, self._sleep = url, sleep

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def whoami(self) -> Mapping[str, Any]:
        """Return the community, the member and the scopes of the key."""
        found = self._call("GET", "/keys/self")
        if not isinstance(found, dict) or not {"community", "member", "scopes"} <= set(found):
            message = f"{self._url} is no commons: it does not say whose the key is"
            raise CommonsError(message)
        return found

    def contribute(self, told: Mapping[str, Any]) -> None:
        """Send a trace; the same words again change nothing."""
        self._call("POST", "/traces", told)

    def vote(self, trace: str, told: Mapping[str, Any]) -> None:
        """Send a vote in place of the member's last one."""
        self._call("POST", f"/traces/{trace}/votes", told)

    def changes(self, cursor: int) -> Mapping[str, Any]:
        """Return what changed after a cursor."""
        found = self._call("GET", f"/changes?cursor={cursor}")
        wrong = next(Draft202012Validator(_CHANGES).iter_errors(found), None)
        if wrong is not None:
            message = f"{self._url} sent changes that cannot be read: {clean_line(wrong.message, _SAID)}"
            raise CommonsError(message)
        changes: Mapping[str, Any] = found
        return changes

    def report_use(self, told: OwnUse) -> bool:
        """Report what the member tells of components, in place of its last report; tell whether all of it was taken.

        A commons of the version before takes the used components alone.
        """
        try:
            self._call("PUT", "/statistics/components/own", asdict(told))
        except ScopeMissing:
            raise
        except CommonsRefused:
            self._call("PUT", "/use/own", {"components": list(told.used)})
            return False
        return True

    def withdraw_use(self) -> None:
        """Delete the components that the member reported to use."""
        self._call("DELETE", "/use/own")

    def withdraw_all_use(self) -> None:
        """Delete all that the member reported of components."""
        self._call("DELETE", "/statistics/components/own")

    def team_use(self) -> Mapping[str, TeamUse]:
        """Return what is told of the components that the team uses."""
        try:
            found = self._call("GET", "/statistics/components")
        except ScopeMissing:
            raise
        except CommonsRefused:  # a commons of the version before
            return {key: TeamUse(count) for key, count in self._components("/use", self._call("GET", "/use"), _MEMBERS)}
        return {
            key: TeamUse(int(one.get("used", 0)), int(one.get("offered", 0)), one.get("worked"))
            for key, one in self._components("/statistics/components", found, _ONE)
        }

    def _components(self, path: str, found: Any, of_one: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        wrong = next(Draft202012Validator(_told(of_one)).iter_errors(found), None)
        if wrong is not None:
            message = f"{self._url}{path} told what cannot be read: {clean_line(wrong.message, _SAID)}"
            raise CommonsError(message)
        components: Mapping[str, Any] = found["components"]
        return components.items()

    def packs(self) -> Sequence[Mapping[str, Any]]:
        """Return what the community's packs are called, the newest of each name first."""
        found = self._call("GET", "/packs")
        wrong = next(Draft202012Validator(_PACKS).iter_errors(found), None)
        if wrong is not None:
            message = f"{self._url} sent a list of packs that cannot be read: {clean_line(wrong.message, _SAID)}"
            raise CommonsError(message)
        packs: Sequence[Mapping[str, Any]] = found
        return packs

    def upload_pack(self, told: str, content: bytes) -> None:
        """Send the file of a pack under its SHA-256; the same file again changes nothing."""
        self._call("PUT", f"/packs/{told}", content)

    def pack(self, told: str) -> bytes:
        """Return the file of a pack by its SHA-256; whether it has this hash is for the caller to check."""
        status, data = self._exchange("GET", f"/packs/{told}", None, _FILE_DEADLINE_S)
        return data if status < 300 else bytes(self._answer(status, data))

    def _call(self, method: str, path: str, body: Mapping[str, Any] | bytes | None = None) -> Any:
        seconds = _FILE_DEADLINE_S if isinstance(body, bytes) else _DEADLINE_S
        return self._answer(*self._exchange(method, path, body, seconds))

    def _exchange(
        self, method: str, path: str, body: Mapping[str, Any] | bytes | None, seconds: float
    ) -> tuple[int, bytes]:
        """Return the status and the bytes of an answer; what fails for a moment is asked again."""
        trouble, asked = "", 0.0
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._sleep(max(asked, _PAUSE_S * 2**attempt * random.uniform(0.5, 1.5)))  # noqa: S311 - jitter
            try:
                status, data, asked = self._send(method, path, body, seconds)
            except httpx.HTTPError as error:
                trouble, asked = type(error).__name__, 0.0
                continue
            if status not in _AGAIN:
                return status, data
            if asked > _PATIENCE_S:
                kind, says = (LimitReached, "takes no more for") if status == 429 else (CommonsError, "asks to wait")
                message = f"the commons at {self._url} {says} {asked:.0f} s; the next sync goes on"
                raise kind(message)
            trouble = f"status {status}"
        message = (
            f"the commons at {self._url} does not answer ({trouble}); check address and network, or try again later: "
            "what waits to be sent is kept"
        )
        raise CommonsError(message)

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | bytes | None, seconds: float
    ) -> tuple[int, bytes, float]:
        end = time.monotonic() + seconds
        sent: dict[str, Any] = {"json": body}
        if isinstance(body, bytes):
            sent = {"content": body, "headers": {"Content-Type": "application/octet-stream"}, "timeout": _UPLOAD}
        with self._client.stream(method, path, **sent) as answer:
            parts, size = [], 0
            for part in answer.iter_bytes():
                parts.append(part)
                if time.monotonic() > end:
                    message = f"the commons at {self._url} took longer than {seconds:.0f} s for one answer"
                    raise CommonsError(message)
                size += len(part)
                if size > _MOST_BYTES:
                    message = f"the commons at {self._url} sent more than {_MOST_BYTES // 1_000_000} MB"
                    raise CommonsError(message)
            return answer.status_code, b"".join(parts), retry_after(answer.headers)

    def _answer(self, status: int, data: bytes) -> Any:
        text = data.decode("utf-8", "replace")
        try:
            found = json.loads(text) if text else {}
        except (ValueError, RecursionError) as error:
            message = f"{self._url} answered with status {status} and no JSON; is it the address of a commons?"
            raise CommonsError(message) from error
        if status < 300:
            return found
        detail = clean_line(str(found.get("detail", "")) if isinstance(found, dict) else "", _SAID)
        if status == 401:
            message = f"the commons refused the key: {detail}"
            raise KeyRefused(message)
        if status == 403:
            message = f"the key may not do this: {detail}"
            raise ScopeMissing(message)
        message = f"the commons refused it ({status}): {detail}"
        if status == 404:
            raise NotThere(message)
        raise CommonsRefused(message) if status in _REFUSALS else CommonsError(message)


def address(url: str) -> str:
    """Normalise the address of a commons; refuse one that would send the key in the clear.

    Raises:
        InvalidRequest: it is none, or the key would travel over the network unencrypted.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
        message = f"{clean_line(url, _SAID)!r} is no address of a commons; send one as https://commons.example.org"
        raise InvalidRequest(message)
    if parts.scheme == "http" and not _is_here(parts.hostname):
        message = f"{parts.hostname} is another machine: use https, or the key can be read on the way"
        raise InvalidRequest(message)
    return url.strip().rstrip("/")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
