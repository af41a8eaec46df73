"""An author is told what is wrong in each file, by line where it is known, and may ask for it again."""

from __future__ import annotations

import json


def write(folder, files):
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


QUOTES = "front matter is not YAML (did not find expected key, noticed in line 3); read line by line"
LENIENT = "a comment or a trailing comma, with which Claude Code does not load the file: take it out"


def test_what_is_wrong_in_files_is_told_by_line_and_told_again_on_demand(run, tmp_path):
    source = tmp_path / "source"
    hooks = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date"}]}]},}'
    write(
        source,
        {
            "skills/a/SKILL.md": '---\nname: a\ndescription: "Reads "quoted" logs."\n---\nText.\n',
            "skills/b/skill.md": "---\nname: b\ndescription: Sorts letters.\n---\nText.\n",
            "skills/c/SKILL.md": "---\nname: c\ndescription: Sorts parcels.\n---\nText.\n",
            "hooks/hooks.json": hooks,
        },
    )
    first = json.loads(run("ingest", str(source), "--json").stdout)
    told = {
        "skills/a/SKILL.md": QUOTES,
        "skills/b/skill.md": "Claude Code on Linux reads SKILL.md, and not skill.md: rename it",
        "hooks/hooks.json": LENIENT,
    }
    assert sorted(first["warnings"]) == sorted(f"{path}: {note}" for path, note in told.items())
    again = run("sources", "--files", first["source"]).stdout
    assert all(f"Note: {path}: {note}" in again for path, note in told.items())
    files = json.loads(run("sources", "--files", first["source"], "--json").stdout)
    assert {row["path"]: row["notes"] for row in files} == {
        "skills/c/SKILL.md": [],
        **{path: [note] for path, note in told.items()},
    }
