"""A skill that a plugin links to elsewhere in its source is installed as the client reads it; no link leads out."""

from __future__ import annotations

import json

import pytest

from cli.conftest import write


@pytest.fixture
def linked(tmp_path, skill):
    """Return a marketplace whose plugin links a skill of the same source."""
    market = tmp_path / "market"
    skill(market / "common", "weave", "Weaves baskets from willow.")
    (market / "kit/skills").mkdir(parents=True)
    (market / "kit/skills/weave").symlink_to("../../common/skills/weave")
    write(market / "kit/.claude-plugin/plugin.json", json.dumps({"name": "kit", "description": "Baskets."}))
    listed = {"name": "shelf", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./kit"}]}
    write(market / ".claude-plugin/marketplace.json", json.dumps(listed))
    return market


def test_a_skill_that_is_a_link_within_its_source_is_installed_and_one_that_leaves_it_is_not(
    run, linked, user, tmp_path
):
    assert run("ingest", str(linked)).returncode == 0
    place = f"folder:{linked}:kit/skills/weave/SKILL.md"

    done = run("install", place, "--alone", "--yes")

    assert done.returncode == 0, done.stderr
    assert (user / "skills/weave/SKILL.md").read_bytes() == (linked / "common/skills/weave/SKILL.md").read_bytes()
    assert not (user / "skills/weave").is_symlink()
    assert run("install", "--undo").returncode == 0
    (linked / "kit/skills/weave").unlink()
    (linked / "common/skills/weave").rename(tmp_path / "weave")
    (linked / "kit/skills/weave").symlink_to(tmp_path / "weave")
    refused = run("install", place, "--alone", "--yes")
    assert refused.returncode == 1
    assert "leads out of" in refused.stderr
