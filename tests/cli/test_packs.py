"""The command line of packs: one build of a name at a time, wrong usage, and asking before a pack is deleted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.packs.documentation import WILLOW, write
from cli.conftest import Run
from repertoire.app.packs.places import only_builder


def test_a_pack_that_another_process_builds_is_not_built_at_once_again(run: Run, tmp_path: Path) -> None:
    build = ("pack", "build", "willow", "--from", str(write(tmp_path / "docs", WILLOW)))
    packs = tmp_path / "home" / "packs"
    with only_builder(packs / "willow"):
        refused = run(*build)
        assert run("pack", "build", "other", *build[3:]).returncode == 0
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "another process is building the pack willow" in refused.stderr
    assert not (packs / "willow").exists()
    assert run(*build).returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a/b",), "is no name of a pack"),
        (("willow", "--version", "one"), "'one' is no version such as 1.2.0"),
        (("willow", "--topic", ""), "topics/0"),
        (("willow", "--licence", "x" * 101), "licence"),
    ],
)
def test_what_no_pack_can_be_called_is_wrong_usage_before_anything_is_read(
    run: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    refused = run("pack", "build", *words, "--from", str(tmp_path / "nowhere"))
    assert refused.returncode == 2
    assert said in refused.stderr


def test_a_pack_is_deleted_only_after_asking(run: Run, tmp_path: Path) -> None:
    run("pack", "build", "willow", "--from", str(write(tmp_path / "docs", WILLOW)))
    asked = run("pack", "remove", "willow")
    assert asked.returncode == 1
    assert asked.stderr.startswith("Delete the pack willow with 3 articles permanently? [y/N]: ")
    assert (tmp_path / "home" / "packs" / "willow").is_dir()
    (tmp_path / "home" / "packs" / "willow" / "manifest.json").chmod(0o644)
    (tmp_path / "home" / "packs" / "willow" / "manifest.json").write_text("broken")
    assert "Delete the pack willow permanently?" in run("pack", "remove", "willow").stderr
    assert run("pack", "remove", "willow", "--yes").returncode == 0
    assert not (tmp_path / "home" / "packs" / "willow").exists()


def test_a_citation_that_a_pack_does_not_have_and_a_folder_that_is_not_there_are_wrong_usage(
    run: Run, tmp_path: Path
) -> None:
    run("pack", "build", "willow", "--from", str(write(tmp_path / "docs", WILLOW)))
    refused = run("pack", "show", "willow", "nope#soaking")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "`repertoire pack query` in a shell" in refused.stderr
    refused = run("pack", "export", "willow", str(tmp_path / "nowhere" / "willow.zip"))
    assert refused.returncode == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in refused.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: it has no modes")
def test_nobody_else_reads_the_packs_of_a_home_whose_folder_was_made_open_to_others(run: Run, tmp_path: Path):
    (tmp_path / "home").mkdir(mode=0o755)
    assert run("pack", "build", "willow", "--from", str(write(tmp_path / "docs", WILLOW))).returncode == 0
    assert (tmp_path / "home" / "packs").stat().st_mode & 0o077 == 0
