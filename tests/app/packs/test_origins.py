"""A pack is taken in from an address or a repository as from a file, with the same checks."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from app.packs.documentation import WILLOW, build, write
from app.packs.web_server import answer, serving
from repertoire.app.packs.origins import fetched_pack
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.sharing import export_pack, install_pack
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.wiring import open_pack_file
from repertoire.domain.errors import PackRefused, SourceError, SourceRefused
from repertoire.settings import Settings

LOCAL = frozenset({"127.0.0.1"})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with a pack, and the file that it exports."""
    home = tmp_path_factory.mktemp("made")
    build(home, "willow", write(home / "docs", WILLOW))
    shelf = PackShelf(packs_folder(home), open_pack_file)
    file = export_pack(shelf, "willow", home).place
    shelf.close()
    return home, file


def taken_in(home, origin, allowed=LOCAL):
    with fetched_pack(home, origin, Settings(), allowed=allowed) as place:
        return install_pack(home, str(place), open_pack_file).manifest.name


def test_a_file_on_the_web_is_taken_in_and_a_changed_one_or_a_private_host_refused(made, tmp_path):
    _, file = made
    whole = file.read_bytes()
    routes = {
        "/willow.pack.zip": lambda request: answer(request, whole, kind="application/zip"),
        "/moved.zip": lambda request: answer(request, b"", status=302, Location="/willow.pack.zip"),
        "/broken.zip": lambda request: answer(request, whole[:2_000], kind="application/octet-stream"),
    }
    with serving(routes) as server:
        assert taken_in(tmp_path / "1", f"{server.url}/willow.pack.zip") == "willow"
        assert taken_in(tmp_path / "2", f"{server.url}/moved.zip") == "willow"
        with pytest.raises(SourceError):
            taken_in(tmp_path / "3", f"{server.url}/broken.zip")
        with pytest.raises(SourceError, match="answers 404"):
            taken_in(tmp_path / "3", f"{server.url}/absent.zip")
        with pytest.raises(SourceRefused, match=r"is not public|only https is"):
            taken_in(tmp_path / "3", f"{server.url}/willow.pack.zip", frozenset())
    assert not packs_folder(tmp_path / "3").joinpath("willow").exists()


def test_a_folder_of_a_repository_is_taken_in_and_one_outside_of_it_refused(made, tmp_path):
    home, _ = made
    repository = tmp_path / "repository"
    shutil.copytree(packs_folder(home) / "willow", repository / "packs" / "willow")
    identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    for command in (("init", "--quiet"), ("add", "."), (*identity, "commit", "--quiet", "-m", "Add a pack")):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    address = repository.as_uri()
    assert taken_in(tmp_path / "1", f"{address}#packs/willow") == "willow"
    with pytest.raises(PackRefused, match="at its top; it is no pack"):
        taken_in(tmp_path / "2", address)
    with pytest.raises(SourceError, match="leads out of the repository"):
        taken_in(tmp_path / "2", f"{address}#../../made")


def test_what_names_nothing_is_said_to_be_nothing(tmp_path):
    for origin in ("nowhere.pack.zip", "x" * 5_000, "npm:willow"):
        with pytest.raises(SourceError, match="is no file or folder of a pack"):
            taken_in(tmp_path, origin)
