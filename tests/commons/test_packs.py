"""Members share packs by the hash of their files; what a home would refuse is not stored, nor what was removed."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import httpx
import psycopg
import pytest

from app.packs.documentation import WILLOW, build, write
from commons.conftest import Server
from commons.test_server import ALL, SECRET
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.sharing import export_pack, install_pack
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.wiring import open_pack_file


def exported(folder: Path, name: str = "willow", **more: str) -> bytes:
    """Build a pack and return the file that a home exports."""
    build(folder, name, write(folder / "docs", WILLOW), **more)
    shelf = PackShelf(packs_folder(folder), open_pack_file)
    file = export_pack(shelf, name, folder).place
    shelf.close()
    return file.read_bytes()


@pytest.fixture(scope="module")
def willow(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return exported(tmp_path_factory.mktemp("willow"), licence="MIT", version="1.2.0")


def address(content: bytes) -> str:
    return f"/packs/{hashlib.sha256(content).hexdigest()}"


def send(client: httpx.Client, content: bytes) -> httpx.Response:
    return client.put(address(content), content=content, headers={"Content-Type": "application/zip"})


def test_what_one_member_uploads_another_downloads_and_takes_in(server: Server, willow: bytes, tmp_path: Path):
    with server.client(server.key("packs", "ann")) as ann, server.client(server.key("packs", "ben")) as ben:
        sent = send(ann, willow)
        assert sent.status_code == 200, sent.text
        assert send(ben, willow).json() == sent.json(), "the same file again changes nothing"
        (listed,) = ben.get("/packs").json()
        assert listed == sent.json()
        assert {name: listed[name] for name in ("name", "version", "licence", "bytes", "member")} == {
            "name": "willow",
            "version": "1.2.0",
            "licence": "MIT",
            "bytes": len(willow),
            "member": "ann",
        }
        got = ben.get(f"/packs/{listed['hash']}")
        assert got.headers["content-type"] == "application/zip"
        assert ben.get("/statistics").json()["packs"] == 1
    assert got.content == willow
    (tmp_path / "got.pack.zip").write_bytes(got.content)
    assert install_pack(tmp_path, str(tmp_path / "got.pack.zip"), open_pack_file).place.name == "willow"
    with server.client(server.key("elsewhere", "eve", *ALL)) as eve:
        assert eve.get(address(willow)).status_code == 404
        assert eve.get("/packs").json() == []


def test_a_removed_pack_is_gone_and_not_taken_in_again(server: Server, willow: bytes):
    with server.client(server.key("removed-packs", "root", *ALL)) as root:
        send(root, willow)
        assert root.delete(f"/moderation{address(willow)}").status_code == 204
        assert root.get(address(willow)).status_code == 404
        assert root.get("/packs").json() == []
        assert send(root, willow).status_code == 409
        last = root.get("/audit").json()[-1]
        assert (last["action"], last["target"]) == ("pack removed", address(willow).rpartition("/")[2])


def test_what_a_home_would_refuse_is_refused_and_not_stored(server: Server, willow: bytes, tmp_path: Path):
    (tmp_path / "in.zip").write_bytes(willow)
    with zipfile.ZipFile(tmp_path / "in.zip") as whole, zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for entry in whole.infolist():
            changed.writestr(entry, whole.read(entry) + (b"x" if entry.filename == "pack.db" else b""))
    with zipfile.ZipFile(tmp_path / "outside.zip", "w") as outside:
        outside.writestr("../manifest.json", "{}")
    with server.client(server.key("refused-packs", "ann")) as ann:
        hostile = [(tmp_path / name).read_bytes() for name in ("changed.zip", "outside.zip")]
        for content in (b"no archive", *hostile):
            told = send(ann, content)
            assert told.status_code == 422, told.text
            assert "/tmp" not in told.json()["detail"]
        assert ann.put(address(willow), content=willow + b"x").status_code == 422, "another file than the address says"
        too_large = ann.put(address(willow), content=bytes(32_000_001))
        assert too_large.status_code == 413
        assert ann.get("/packs").json() == []


def test_a_manifest_with_a_secret_is_refused_with_the_place(server: Server, tmp_path: Path):
    content = exported(tmp_path, description=f"Docs.\n{SECRET}")
    with server.client(server.key("secret-packs", "ann")) as ann:
        told = send(ann, content)
        assert told.status_code == 422, told.text
        assert told.json()["field"] == "description"
        assert SECRET not in told.text
        assert ann.get("/packs").json() == []


def test_a_member_uploads_so_many_packs_a_day(server: Server, willow: bytes):
    key = server.key("many-packs", "ann")
    with psycopg.connect(server.database) as connection:
        connection.execute(
            "INSERT INTO pack SELECT 'many-packs', n::text, 'p', '1', '', '', 1, 'ann', "
            "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), 'x' FROM generate_series(1, 20) n"
        )
    with server.client(key) as ann:
        told = send(ann, willow)
        assert told.status_code == 429
        assert int(told.headers["retry-after"]) > 0
