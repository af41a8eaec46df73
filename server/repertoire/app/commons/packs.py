"""Shares packs with a commons by the SHA-256 of their files: shows what would go, sends it, lists, and fetches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.commons import membership as memberships
from repertoire.app.commons.client import HttpClient
from repertoire.app.commons.errors import ScopeMissing
from repertoire.app.packs.places import digest, packs_folder
from repertoire.app.packs.sharing import export_pack
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.packs.signing import SigningKey
from repertoire.documentation.commons_pack import CommonsPack
from repertoire.documentation.manifest import PackManifest
from repertoire.domain.errors import InvalidRequest, PackRefused, UnknownPack
from repertoire.domain.text import clean_line
from repertoire.sources.scratch import scratch
from repertoire.traces.privacy import without_places
from repertoire.trust.redaction import redact

COMMONS = "commons:"  # begins an origin that a commons holds
_MOST_BYTES = 32_000_000  # of a file that a commons takes
_CONTRIBUTE = "contribute"
_HASH, TOKEN = 64, 8  # characters of a hash, and of the token that stands for one
_UNKNOWN = frozenset(("", "unknown", "none", "noassertion", "unlicensed"))


@dataclass(frozen=True)
class Publication:
    """What publishing a pack sends, and where; `sent` tells whether it was sent."""

    manifest: PackManifest
    files: tuple[str, ...]
    titles: tuple[str, ...]
    hash: str
    bytes: int
    url: str
    community: str
    member: str
    sent: bool = False


@dataclass(frozen=True)
class Consent:
    """What the person said to publishing: the token of what was shown, or that it need not be shown."""

    token: str = ""
    unseen: bool = False


def publish_pack(
    home: Path, shelf: PackShelf, name: str, consent: Consent, *, key: SigningKey | None = None
) -> Publication:
    """Return what publishing a pack sends to the joined commons; it is sent only if the person agreed to just that.

    Raises:
        NotJoined: no commons is joined.
        InvalidRequest: the token is that of another file.
        PackRefused: there is no such pack, or it must not be shared: its licence is unknown, its manifest tells a
            secret or a place of this machine, or it is too large.
        ScopeMissing: the key may not contribute.
        CommonsError: the commons does not answer, or refuses the pack.
    """
    membership = memberships.of(home)
    manifest = shelf.manifest(name)
    _require_shareable(manifest)
    with shelf.open(name, "").store.guarded():
        titles = shelf.open(name, "").store.titles(1_000_000)
    with scratch(packs_folder(home) / "any") as beside:
        file = export_pack(shelf, name, beside, key=key).place
        size = file.stat().st_size
        if size > _MOST_BYTES:
            message = f"pack {name} is {size:,} bytes as a file; a commons takes at most {_MOST_BYTES:,}: split it"
            raise PackRefused(message)
        told = digest(file)
        if consent.token and consent.token != told[:TOKEN]:
            message = f"{clean_line(consent.token, 20)} is not the token of what would be sent now; look at it again"
            raise InvalidRequest(message)
        agreed = bool(consent.token) or consent.unseen
        if agreed:
            with closing(HttpClient(membership.url, membership.key)) as client:
                if _CONTRIBUTE not in client.whoami()["scopes"]:
                    message = f"the key of {membership.member} may not contribute; ask the administrator for one"
                    raise ScopeMissing(message)
                client.upload_pack(told, file.read_bytes())
    paths = ("manifest.json", *sorted(manifest.hashes))
    where = (membership.url, membership.community, membership.member)
    return Publication(manifest, paths, tuple(titles), told, size, *where, sent=agreed)


def commons_packs(home: Path) -> tuple[CommonsPack, ...]:
    """Return the packs of the joined commons by name, the newest of each first.

    Raises:
        NotJoined: no commons is joined.
        CommonsError: the commons does not answer.
    """
    membership = memberships.of(home)
    with closing(HttpClient(membership.url, membership.key)) as client:
        return _listed(client)


@contextmanager
def fetched_from_commons(home: Path, wanted: str) -> Iterator[Path]:
    """Lend the file of a pack of the joined commons, by its hash or by a name (`NAME`, `NAME@VERSION`).

    Raises:
        NotJoined: no commons is joined.
        PackRefused: there is no such pack, several members sent one of that name, or what came has another hash.
        CommonsError: the commons does not answer.
    """
    membership = memberships.of(home)
    with closing(HttpClient(membership.url, membership.key)) as client:
        told = wanted if _is_hash(wanted) else _named(_listed(client), wanted).hash
        content = client.pack(told)
    if hashlib.sha256(content).hexdigest() != told:
        message = f"what {membership.url} sent as pack {told} has another hash; it is not taken in"
        raise PackRefused(message)
    with scratch(packs_folder(home) / "any") as beside:
        file = beside / "fetched.pack.zip"
        file.write_bytes(content)
        yield file


def _listed(client: HttpClient) -> tuple[CommonsPack, ...]:
    names = CommonsPack.__dataclass_fields__
    return tuple(CommonsPack(**{name: row[name] for name in names}) for row in client.packs())


def _named(packs: tuple[CommonsPack, ...], wanted: str) -> CommonsPack:
    name, _, version = wanted.partition("@")
    found = [one for one in packs if one.name == name and version in ("", one.version)]
    if not found:
        message = f"the commons has no pack {clean_line(wanted, 80)!r}; `repertoire pack list --commons` lists them"
        raise UnknownPack(message)
    if len({one.member for one in found}) > 1:
        told = "; ".join(f"{one.hash} ({one.version}, {clean_line(one.member, 40)})" for one in found[:5])
        message = f"several members sent a pack {clean_line(wanted, 80)}: install one by its hash: {told}"
        raise PackRefused(message)
    return found[0]


def _is_hash(text: str) -> bool:
    return len(text) == _HASH and set(text) <= set("0123456789abcdef")


def _require_shareable(manifest: PackManifest) -> None:
    """Refuse a pack whose licence nobody knows, or whose manifest tells what must stay on this machine."""
    if manifest.licence.strip().lower() in _UNKNOWN:
        message = (
            f"the licence of pack {manifest.name} is not known, so nobody may pass it on; "
            "build it with --licence, if its documents have one"
        )
        raise PackRefused(message)
    told = {"description": manifest.description, "topics": "\n".join(manifest.topics)}
    told["sources"] = "\n".join(source.address for source in manifest.sources)
    for field, text in told.items():
        if redact(text) != text or without_places(text) != text:
            message = f"the {field} of pack {manifest.name} tells a secret, a mail address, a home folder or an "
            message += "internal host; build it without that"
            raise PackRefused(message)
