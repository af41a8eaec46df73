"""What a person decided about a component holds on where its file moves in its source."""

from __future__ import annotations

from ingestion.workbench import skill
from repertoire.app.person.correct import set_capabilities
from repertoire.app.person.mute import mute

NOW = "2026-11-30T00:00:00+00:00"
ZEBRA = skill("zebra", "Counts the stripes of zebras.")


def moved(bench, place, text=ZEBRA):
    """Ingest a muted and corrected skill, move it, ingest again, and return its new id."""
    folder = bench.write({"skills/zebra/SKILL.md": ZEBRA, "skills/other/SKILL.md": skill("other")})
    report = bench.ingest(folder)
    mute(bench.store, "zebra", project="", now=NOW)
    set_capabilities(bench.store, "zebra", ["stripes"], now=NOW)
    (folder / "skills/zebra/SKILL.md").unlink()
    bench.write({place: text})
    bench.ingest(folder)
    return f"{report.source}:{place}"


def test_a_mute_and_a_correction_move_with_the_file(bench):
    new = moved(bench, "plugins/w/skills/zebra/SKILL.md")
    assert [one.target for one in bench.store.preferences.mutes()] == [new]
    assert new in bench.store.preferences.silent()
    assert list(bench.store.preferences.corrections()) == [new]
    assert "capability:stripes" in {link.other for link in bench.store.graph.links(new)}


def test_a_correction_holds_alone_from_the_moment_that_it_is_made(bench):
    text = skill("zebra", "Draws charts for dashboards with React.")
    folder = bench.write({"skills/zebra/SKILL.md": text})
    name = f"{bench.ingest(folder).source}:skills/zebra/SKILL.md"

    def provided(key):
        return {link.other for link in bench.store.graph.links(key) if link.relation == "provides"}

    assert "capability:react" in provided(name)
    set_capabilities(bench.store, "zebra", ["stripes"], now=NOW)
    assert provided(name) == {"capability:stripes"}
    (folder / "skills/zebra/SKILL.md").unlink()
    bench.write({"skills/moved/SKILL.md": text})
    bench.ingest(folder)
    assert provided(name.replace("skills/zebra", "skills/moved")) == {"capability:stripes"}


def test_a_mute_moves_with_a_folder_that_is_renamed_and_with_a_text_that_changed(bench):
    new = moved(bench, "skills/b2/SKILL.md", skill("zebra", "Counts stripes."))
    assert [one.target for one in bench.store.preferences.mutes()] == [new]


def test_a_mute_moves_to_no_other_file_of_its_name_that_has_moved_there_itself(bench):
    one, other = (skill("lint", text) for text in ("Lints Python.", "Lints shell scripts."))
    folder = bench.write({"a/skills/lint/SKILL.md": one, "b/skills/lint/SKILL.md": other})
    report = bench.ingest(folder)
    mute(bench.store, f"{report.source}:a/skills/lint/SKILL.md", project="", now=NOW)
    for place in ("a", "b"):
        (folder / place / "skills/lint/SKILL.md").unlink()
    bench.write({"c/skills/lint/SKILL.md": other})
    bench.ingest(folder)
    assert f"{report.source}:c/skills/lint/SKILL.md" not in bench.store.preferences.silent()


def test_a_mute_of_what_left_without_an_equal_stays_where_it_was(bench):
    moved(bench, "skills/lion/SKILL.md", skill("lion", "Counts manes."))
    assert [one.target.rpartition(":")[2] for one in bench.store.preferences.mutes()] == ["skills/zebra/SKILL.md"]
