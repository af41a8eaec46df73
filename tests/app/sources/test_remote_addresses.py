"""Off GitHub, install lines name an address that Claude Code takes, and no password of one is told."""

from __future__ import annotations

import json
import shutil

import pytest

from ingestion.workbench import repository, skill
from repertoire.app.clone_folder import clone_folder
from repertoire.app.sources.opening import Surroundings, open_address
from repertoire.app.sources.unreachable import lost_sources
from repertoire.app.upkeep.refresh import refresh
from repertoire.rendering.sources import source_data
from repertoire.settings import Settings
from repertoire.sources.address import GIT, Address
from repertoire.sources.installed import Machine
from sources.git_server import git_server

MARKET = {
    ".claude-plugin/marketplace.json": json.dumps(
        {"name": "shelf", "owner": {"name": "a"}, "plugins": [{"name": "kit", "source": "./"}]}
    ),
    "skills/one/SKILL.md": skill("one"),
}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="NOT TESTED: openssl is not installed")
def test_a_marketplace_on_a_port_of_its_own_is_added_from_there_without_the_password(bench, monkeypatch):
    repository(bench.write(MARKET, under="srv/group/sub/shelf.git"))
    with git_server(bench.root / "srv", bench.root) as (address, _, certificate):
        monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
        bench.ingest(address.replace("https://", "https://me:hidden@") + "/group/sub/shelf.git#dev")
    (row,) = bench.store.sources.all()

    assert bench.one("skill").install == (
        f"/plugin marketplace add {address}/group/sub/shelf.git",
        "/plugin install kit@shelf",
    )
    assert source_data(row, None)["location"] == f"{address}/group/sub/shelf.git"
    shutil.rmtree(clone_folder(bench.home, row.info.key))
    refresh(bench.store, bench.home, settings=Settings(fetch=False))
    (lost,) = lost_sources(bench.store)
    assert lost.reason.startswith(f"{address}/group/sub/shelf.git was never fetched here")


def test_a_marketplace_at_an_address_that_claude_code_does_not_take_is_added_from_its_clone(bench):
    origin = repository(bench.write(MARKET, under="shelf"))
    bench.ingest(origin.as_uri())
    (row,) = bench.store.sources.all()
    clone = clone_folder(bench.home, row.info.key)
    over_ssh = Address(GIT, "ssh://git@git.invalid:2222/a/shelf", row.info.key, "git.invalid/a/shelf")
    opened = open_address(over_ssh, Surroundings(bench.home, Settings(), Machine()), tick=lambda: None, fetch=False)

    assert bench.one("skill").install[0] == f"/plugin marketplace add {clone}"
    assert opened.site.marketplace_address == str(clone)


@pytest.mark.parametrize(
    ("origin", "told"),
    [("ssh://git@git.invalid:2222/a/shelf", ""), ("git@git.invalid:a/shelf.git", "git@git.invalid:a/shelf.git")],
)
def test_a_marketplace_in_a_folder_is_added_from_its_origin_or_else_from_the_folder(bench, origin, told):
    folder = repository(bench.write(MARKET, under="shelf"))
    with (folder / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[remote "origin"]\n\turl = {origin}\n')
    bench.ingest(folder)

    assert bench.one("skill").install[0] == f"/plugin marketplace add {told or folder}"
