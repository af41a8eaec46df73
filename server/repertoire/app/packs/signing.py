"""Signs the manifest of an exported pack with a key of minisign, and holds a pack to such a signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repertoire.domain.errors import InvalidRequest, PackRefused
from repertoire.domain.text import clean_line

if TYPE_CHECKING:
    from minisign import PublicKey, SecretKey  # type: ignore[import-untyped]

SIGNATURE = "manifest.json.minisig"  # beside the manifest, which has the hash of every other file
SIGNATURE_BYTES = 4_000
_KEY_BYTES = 4_000


@dataclass(frozen=True)
class SigningKey:
    """The file of a secret key; the password is asked for only if the key has one."""

    file: Path
    password: Callable[[], str]


def sign_manifest(manifest: bytes, named: str, key: SigningKey) -> bytes:
    """Return the signature of a manifest; equal manifests and names have equal signatures.

    Raises:
        InvalidRequest: the key cannot be read, is none of minisign, or has another password.
    """
    secret = _secret_key(key)
    try:
        if secret.is_encrypted():
            secret.decrypt(key.password())
        return bytes(secret.sign(manifest, trusted_comment=named))
    except ValueError as error:
        message = f"the key in {key.file} cannot sign: {error}"
        raise InvalidRequest(message) from error
    finally:
        secret.wipe()


def require_signature(manifest: bytes, signature: bytes | None, key: str, *, place: str) -> None:
    """Hold a manifest to a signature by a public key, given as a file or as its text.

    Raises:
        PackRefused: there is no signature, or none by this key of this manifest.
        InvalidRequest: the key is none of minisign.
    """
    from minisign import Signature  # noqa: PLC0415 - only a person who asks for signatures needs it

    public = _public_key(key)
    if signature is None:
        message = f"{place} is not signed: it has no {SIGNATURE}; ask who made it to export it with --sign"
        raise PackRefused(message)
    try:
        public.verify(manifest, Signature.from_bytes(signature))
    except ValueError as error:
        message = (
            f"{place} is not signed by this key ({clean_line(str(error), 120)}); it is not taken in: "
            "the key is another's, or somebody changed the pack"
        )
        raise PackRefused(message) from error


def _secret_key(key: SigningKey) -> SecretKey:
    from minisign import SecretKey  # noqa: PLC0415

    try:
        return SecretKey.from_file(key.file)
    except (OSError, ValueError) as error:
        message = f"{key.file} holds no secret key of minisign ({error}); `minisign -G` makes one"
        raise InvalidRequest(message) from error


def _public_key(key: str) -> PublicKey:
    from minisign import PublicKey  # noqa: PLC0415

    file = Path(key).expanduser()
    try:
        if file.is_file():
            with file.open("rb") as stream:
                return PublicKey.from_bytes(stream.read(_KEY_BYTES))
        return PublicKey.from_base64(key)
    except (OSError, ValueError) as error:
        message = f"{clean_line(key, 120)} is no public key of minisign, nor a file with one ({error})"
        raise InvalidRequest(message) from error
