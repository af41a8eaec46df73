"""A pack goes from one home to another through a commons: shown before it goes, and checked when it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.packs.documentation import WILLOW, write
from commons.conftest import Run, Server, shown
from repertoire.app.commons.packs import fetched_from_commons
from repertoire.domain.errors import UnknownPack


@pytest.fixture
def member(home: Callable[[str], Run], server: Server, tmp_path: Path) -> Callable[..., Run]:
    """Make a home that joined a community of the server."""

    def make(name: str, community: str, *scopes: str) -> Run:
        run = home(f"{community}-{name}")
        file = tmp_path / f"{community}-{name}.key"
        file.write_text(server.key(community, name, *scopes))
        run("commons", "join", server.url, "--key-file", str(file))
        return run

    return make


def built(run: Run, tmp_path: Path, *more: str) -> None:
    docs = str(write(tmp_path / "docs", WILLOW))
    run("pack", "build", "willow", "--from", docs, "--quiet", "--replace", *more)


def test_a_pack_is_shown_then_sent_and_another_home_takes_it_in_by_name_or_hash(
    member: Callable[..., Run], tmp_path: Path
):
    ann, ben = member("ann", "share"), member("ben", "share")
    built(ann, tmp_path, "--licence", "MIT", "--topic", "weaving")
    told = shown(ann, "pack", "publish", "willow")
    assert not told["sent"]
    assert told["documents"] == ["Willow baskets", "Soaking", "Tools"]
    assert told["sources"] == ["docs"], "a folder is named, not its path"
    assert shown(ben, "pack", "list", "--commons") == [], "what was shown was not sent"
    said = ann("pack", "publish", "willow")
    assert "Soaking" in said
    assert f"--confirm {told['token']}" in said
    assert "is not the token" in ann("pack", "publish", "willow", "--confirm", "00000000", fails=True)

    assert shown(ann, "pack", "publish", "willow", "--confirm", told["token"])["sent"]
    [listed] = shown(ben, "pack", "list", "--commons")
    assert (listed["name"], listed["licence"], listed["member"]) == ("willow", "MIT", "ann")
    assert listed["hash"] == told["sha256"]
    assert shown(ben, "pack", "install", f"commons:{listed['hash']}")["name"] == "willow"
    assert "Seven days" in ben("pack", "query", "how long must willow rods lie in water", "--pack", "willow")
    assert "already" in ben("pack", "install", "commons:willow", fails=True)
    assert shown(ben, "pack", "install", "commons:willow@0.1.0", "--replace")["version"] == "0.1.0"
    assert "has no pack 'oak'" in ben("pack", "install", "commons:oak", fails=True)
    with pytest.raises(UnknownPack, match="has no pack 'oak'"), fetched_from_commons(tmp_path / "share-ben", "oak"):
        pass
    assert "no such pack" in ben("pack", "install", f"commons:{'0' * 64}", fails=True)


def test_a_name_that_two_members_use_is_installed_by_hash_alone(member: Callable[..., Run], tmp_path: Path):
    ann, ben = member("ann", "twice"), member("ben", "twice")
    built(ann, tmp_path, "--licence", "MIT")
    built(ben, tmp_path, "--licence", "MIT", "--version", "0.2.0")
    for run in (ann, ben):
        run("pack", "publish", "willow", "--yes")
    refused = ann("pack", "install", "commons:willow", "--replace", fails=True)
    assert "several members" in refused
    assert "0.2.0, ben" in refused
    assert shown(ann, "pack", "install", "commons:willow@0.2.0", "--replace")["version"] == "0.2.0"


def test_what_must_not_be_shared_does_not_leave(member: Callable[..., Run], tmp_path: Path, home: Callable[[str], Run]):
    ann = member("ann", "kept")
    built(ann, tmp_path)
    assert "licence of pack willow is not known" in ann("pack", "publish", "willow", "--yes", fails=True)
    built(ann, tmp_path, "--licence", "MIT", "--description", "From /home/ann/books.")
    assert "description of pack willow tells" in ann("pack", "publish", "willow", "--yes", fails=True)
    built(ann, tmp_path, "--licence", "MIT")
    assert shown(ann, "pack", "list", "--commons") == []

    reader = member("eve", "kept", "read")
    built(reader, tmp_path, "--licence", "MIT")
    assert "may not contribute" in reader("pack", "publish", "willow", "--yes", fails=True)
    assert "has joined no commons" in home("alone")("pack", "list", "--commons", fails=True)
