"""A pack that is exported with a key is taken in by who knows the public key; any other signature is refused."""

from __future__ import annotations

import zipfile

import minisign
import pytest

from app.packs.documentation import WILLOW, build, write
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.sharing import export_pack, install_pack
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.packs.signing import SIGNATURE, SigningKey
from repertoire.app.wiring import open_pack_file
from repertoire.domain.errors import InvalidRequest, PackRefused

# Made with `minisign -G` of minisign 0.11, and its signature of the file `test`: the format is that of the program.
PUBLIC = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"


def key_pair(folder, name, password=""):
    made = minisign.KeyPair.generate()
    public = folder / f"{name}.pub"
    public.write_bytes(bytes(made.public_key))
    if password:
        made.secret_key.encrypt(password, opslimit=32_768, memlimit=1 << 20)
    secret = folder / f"{name}.key"
    secret.write_bytes(bytes(made.secret_key))
    return SigningKey(secret, lambda: password), public


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    build(folder, "willow", write(folder / "docs", WILLOW))
    return folder


def exported(home, target, key=None):
    shelf = PackShelf(packs_folder(home), open_pack_file)
    try:
        return export_pack(shelf, "willow", target, key=key).place
    finally:
        shelf.close()


def taken_in(home, file, key):
    return install_pack(home, str(file), open_pack_file, replace=True, verify_key=str(key)).place.name


def test_a_signed_pack_is_taken_in_by_its_key_and_refused_by_another(home, tmp_path):
    key, public = key_pair(tmp_path, "ann", "a password")
    _, other = key_pair(tmp_path, "eve")
    file = exported(home, tmp_path / "signed.pack.zip", key)
    assert file.read_bytes() == exported(home, tmp_path / "again.pack.zip", key).read_bytes()
    text = public.read_text().splitlines()[1]
    assert taken_in(tmp_path, file, public) == taken_in(tmp_path, file, text) == "willow"
    assert install_pack(tmp_path, str(file), open_pack_file, replace=True).place.name == "willow", "a key is optional"
    for wrong in (other, PUBLIC):
        with pytest.raises(PackRefused, match="is not signed by this key"):
            taken_in(tmp_path, file, wrong)


def test_a_pack_without_a_signature_or_with_that_of_another_manifest_is_refused(home, tmp_path):
    key, public = key_pair(tmp_path, "ann")
    with pytest.raises(PackRefused, match=r"is not signed: it has no manifest\.json\.minisig"):
        taken_in(tmp_path, exported(home, tmp_path / "plain.pack.zip"), public)
    signed = exported(home, tmp_path / "signed.pack.zip", key)
    with zipfile.ZipFile(signed) as whole, zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for entry in whole.infolist():
            data = whole.read(entry)
            changed.writestr(entry, data.replace(b"0.1.0", b"9.9.9") if entry.filename == "manifest.json" else data)
    with pytest.raises(PackRefused, match="somebody changed the pack"):
        taken_in(tmp_path, tmp_path / "changed.zip", public)
    for junk in (b"", b"untrusted comment: x\nnothing\ntrusted comment: y\nnothing\n", b"x" * 5_000):
        with zipfile.ZipFile(signed) as whole, zipfile.ZipFile(tmp_path / "junk.zip", "w") as changed:
            for entry in whole.infolist():
                changed.writestr(entry, junk if entry.filename == SIGNATURE else whole.read(entry))
        with pytest.raises(PackRefused, match=r"is not signed|is larger"):
            taken_in(tmp_path, tmp_path / "junk.zip", public)


def test_what_is_no_key_and_a_wrong_password_are_said_to_be_so(home, tmp_path):
    key, public = key_pair(tmp_path, "ann", "a password")
    with pytest.raises(InvalidRequest, match="wrong password"):
        exported(home, tmp_path / "a.pack.zip", SigningKey(key.file, lambda: "another"))
    with pytest.raises(InvalidRequest, match="holds no secret key of minisign"):
        exported(home, tmp_path / "a.pack.zip", SigningKey(public, lambda: ""))
    with pytest.raises(InvalidRequest, match="is no public key of minisign"):
        taken_in(tmp_path, exported(home, tmp_path / "plain.pack.zip"), "RWQ")
    assert not (tmp_path / "a.pack.zip").exists()


def test_the_format_is_that_of_the_program_minisign():
    signature = minisign.Signature.from_bytes(
        b"untrusted comment: signature from minisign secret key\n"
        b"RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=\n"
        b"trusted comment: timestamp:1555779966\tfile:test\n"
        b"QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==\n"
    )
    minisign.PublicKey.from_base64(PUBLIC).verify(b"test", signature)
