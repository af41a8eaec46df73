"""Offers packs to Claude Code as skills: a folder among a person's skills, which it lists in each new session."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from repertoire.app.packs.documents import order_in
from repertoire.app.packs.shelf import PackShelf
from repertoire.documentation.skill import skill_markdown, skill_name
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import SKILL_MARK
from repertoire.domain.text import clean_line
from repertoire.ingestion import front_matter
from repertoire.sources.client_files import config_folder

_FILE = "SKILL.md"
_BYTES = 20_000  # of a skill that one of ours can have
_SKILLS = 1_000  # folders that are looked at


@dataclass(frozen=True)
class OfferedSkill:
    """The skill of a pack: its name, its file, and whether it is there now."""

    pack: str
    skill: str
    file: Path
    offered: bool


def offer_skill(shelf: PackShelf, name: str) -> OfferedSkill:
    """Write the skill of a pack among the person's own; its text is made here, whatever the pack brought.

    Raises:
        PackRefused: there is no such pack, something else has the skill's name, or the pack's description gives orders.
    """
    manifest = shelf.manifest(name)
    text = skill_markdown(manifest.name, manifest.description, manifest.topics)
    if why := order_in(_FILE, "\n\n".join((manifest.description, *manifest.topics))):
        message = f"pack {name} is not offered as a skill: its description: {why}"
        raise PackRefused(message)
    file = _skills() / skill_name(name) / _FILE
    if file.parent.exists() and _pack_of(file) != name:
        message = f"{file.parent} is not the skill of pack {name}; rename that, or ask the pack by its name"
        raise PackRefused(message)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{_FILE}.{os.urandom(8).hex()}")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(file)
    return OfferedSkill(name, skill_name(name), file, offered=True)


def withdraw_skill(name: str) -> OfferedSkill:
    """Delete the skill of a pack, if it is offered.

    Raises:
        PackRefused: something else has the skill's name, or other files lie beside it.
    """
    file = _skills() / skill_name(name) / _FILE
    if _pack_of(file) == name:
        file.unlink()
        try:
            file.parent.rmdir()
        except OSError as error:
            message = f"the skill is gone, but other files lie in {file.parent}; look at them and delete the folder"
            raise PackRefused(message) from error
    elif file.parent.exists():
        message = f"{file.parent} is not the skill of pack {clean_line(name, 80)}; it is left alone"
        raise PackRefused(message)
    return OfferedSkill(name, skill_name(name), file, offered=False)


def renew_skills(shelf: PackShelf) -> None:
    """Bring the skills that are offered up to date with the packs: that of a pack that is gone goes too."""
    folder = _skills()
    if not folder.is_dir():
        return
    packs = {manifest.name for manifest in shelf.listing().packs}
    for file in sorted(folder.glob(f"pack-*/{_FILE}"))[:_SKILLS]:
        name = _pack_of(file)
        if name and skill_name(name) == file.parent.name:
            offer_skill(shelf, name) if name in packs else withdraw_skill(name)


def _skills() -> Path:
    return config_folder(os.environ) / "skills"


def _pack_of(file: Path) -> str:
    """Return the pack whose skill a file is; empty if it is none of ours."""
    if file.parent.is_symlink() or file.is_symlink() or not file.is_file() or file.stat().st_size > _BYTES:
        return ""
    found = front_matter.split(file.read_text(encoding="utf-8", errors="replace")).front_matter
    return str(found.get(SKILL_MARK, ""))
