"""The rules for twins, conflicts and alternatives: which pairs are one of these, and which only look like it."""

from __future__ import annotations

import time

from repertoire.domain.component import ALTERNATIVE_TO, Component, Edge
from repertoire.ingestion.alternatives import (
    ComponentPurpose,
    by_meaning,
    by_words,
    choose,
    fill,
)
from repertoire.ingestion.conflicts import ConflictCandidate, conflicts
from repertoire.ingestion.difference import difference, difference_text
from repertoire.ingestion.twins import SAME_CONTENT, ComponentText, identifying_words, twins

PURPOSE = frozenset("reviews pull requests for mistakes in python services".split())


def copy(name: str, **more: object) -> ComponentText:
    fields = {
        "type": "skill",
        "source": name,
        "content_hash": name,
        "text": name,
        "words": 300,
        "purpose": PURPOSE,
        **more,
    }
    return ComponentText(id=fields.pop("id", f"{fields['source']}:{name}"), name=name, **fields)


def party(name: str, **more: object) -> ConflictCandidate:
    fields = {"type": "command", "source": "s", "plugin": "", "marketplace": "", "installed": False, **more}
    return ConflictCandidate(
        id=fields.pop("id", f"{fields['source']}:{name}"), name=name, text=fields.pop("text", name), **fields
    )


def job(name: str, *capabilities: str, **more: object) -> ComponentPurpose:
    fields = {"type": "skill", "source": name, "repository": "", "purpose": PURPOSE, **more}
    return ComponentPurpose(
        id=f"{fields['source']}:{name}", name=name, capabilities=dict.fromkeys(capabilities, 0.8), **fields
    )


def guard(name: str, actions: str, description: str = "", **more: object) -> ConflictCandidate:
    return party(name, type="hook", source=name, actions=actions, description=description, **more)


# twins


def test_one_text_in_two_places_is_a_twin_whatever_it_is_called_or_published_as():
    first, second = copy("review", text="t"), copy("code-review", text="t", type="command")
    (edge,) = twins([first, second], {})
    assert {edge.source, edge.target} == {first.id, second.id}
    assert (edge.weight, edge.evidence) == (1.0, "same text, what is around it differs")
    (edge,) = twins([copy("a", text="t", content_hash="h"), copy("b", text="t", content_hash="h")], {})
    assert edge.evidence == SAME_CONTENT


def test_an_edited_copy_of_the_same_name_is_a_twin_and_says_how_alike():
    pair = [copy("review", source="one"), copy("Review", source="two")]
    (edge,) = twins(pair, {("Review", "review"): 0.72})
    assert (edge.weight, edge.evidence) == (0.72, "texts alike to 72%")
    assert twins(pair, {("Review", "review"): 0.55}) == []
    (edge,) = twins(pair, {("Review", "review"): 0.998})
    assert edge.evidence == "texts alike to 99%"


def test_what_was_made_of_one_template_is_no_twin():
    react, vue = copy("react-setup"), copy("vue-setup", purpose=frozenset("sets vue projects up with tests".split()))
    assert twins([react, vue], {("react-setup", "vue-setup"): 0.9}) == []
    variants = [copy("access", id=f"s:{place}/access", source="s", text=place) for place in ("discord", "telegram")]
    assert twins(variants, {("discord", "telegram"): 0.7}) == []


def test_little_text_is_alike_by_chance():
    assert twins([copy("a", text="t", words=5), copy("b", text="t", words=5)], {}) == []
    assert (
        twins(
            [copy("x", source="one", text="t", words=20), copy("x", source="two", text="u", words=20)],
            {("t", "u"): 0.9},
        )
        == []
    )


def test_many_copies_are_tied_to_one_and_not_to_each_other():
    found = twins([copy(f"c{number:02}", text="t") for number in range(40)], {})
    assert len(found) <= 40


def test_a_server_is_known_by_what_it_reaches_and_not_by_the_plugin_that_brings_it():
    def server(description: str, **config: object) -> Component:
        return Component(id="x", type="mcp_server", name="notion", description=description, front_matter=config)

    here = identifying_words(server("For sales.", url="https://mcp.notion.com/mcp/"))
    assert here == identifying_words(server("For support.", url="https://mcp.notion.com/mcp", type="http"))
    assert here != identifying_words(server("For sales.", url="https://mcp.linear.app/mcp"))
    pinned = identifying_words(server("", command="npx", args=["-y", "@acme/notion-mcp@1.2.3"]))
    assert pinned == identifying_words(server("", command="npx", args=["@acme/notion-mcp@latest", "--verbose"]))
    assert identifying_words(server("Runs a script.", command="node", args=["server.js"])) == []


# conflicts


def test_two_loose_files_of_one_name_cannot_both_be_copied():
    (edge,) = conflicts([party("review", source="a"), party("Review", source="b", text="other")], frozenset())
    assert "the second replaces the first" in edge.evidence
    assert conflicts([party("review", source="a"), party("review", source="b", text="review")], frozenset()) == []


def test_two_files_of_one_source_that_would_be_copied_to_one_path_conflict():
    paths = ("agents/testing/tester.md", "agents/security/tester.md", "agents/old-tester.md")
    agents = [party("tester", type="agent", id=path, path=path, text=path) for path in paths]
    (edge,) = conflicts(agents[:2], frozenset())
    assert edge.evidence == "both would be the file of the agent tester; the second replaces the first"
    (edge,) = conflicts(agents[1:], frozenset())
    assert edge.evidence == "both answer to the agent tester; one hides the other"


def test_installed_commands_and_skills_of_one_name_hide_each_other():
    ours = party("review", installed=True, source="user")
    theirs = party("review", installed=True, source="project", type="skill", text="other")
    (edge,) = conflicts([ours, theirs], frozenset())
    assert (edge.weight, edge.evidence) == (1.0, "both answer to /review; one hides the other")
    assert conflicts([ours, theirs], frozenset({(edge.source, edge.target)})) == []


def test_plugins_keep_names_apart():
    loose = party("review", installed=True)
    brought = party("review", installed=True, plugin="kit", marketplace="m", text="other")
    elsewhere = party("review", installed=True, plugin="tools", marketplace="m", text="third", source="t")
    assert conflicts([loose, brought, elsewhere], frozenset()) == []
    beside = party(
        "review", type="skill", plugin="kit", marketplace="m", text="fourth", id="s:skills/review", path="skills/review"
    )
    (edge,) = conflicts([brought, beside], frozenset())
    assert "both answer to /review" in edge.evidence
    for another_tools in (".kiro/skills/review", "x/.opencode/skills/review", "legacy-shims/skills/review"):
        moved = party("review", type="skill", plugin="kit", marketplace="m", text="fourth", id="z", path=another_tools)
        assert conflicts([party("review", plugin="kit", marketplace="m"), moved], frozenset()) == []


def test_two_plugins_of_one_name_in_one_marketplace_cannot_be_told_apart():
    pair = [
        party("kit", type="plugin", marketplace="m", id="1"),
        party("kit", type="plugin", marketplace="m", id="2", text="u"),
    ]
    assert len(conflicts(pair, frozenset())) == 1
    apart = [pair[0], party("kit", type="plugin", marketplace="n", id="2", text="u")]
    assert conflicts(apart, frozenset()) == []


def test_hooks_that_approve_what_another_denies_conflict():
    deny = guard("command-guard", "PreToolUse (Bash): Block dangerous commands: node guard.js")
    approve = guard("auto-approve", "PreToolUse (Bash|Edit): node approve.js", "Auto-approves every tool call.")
    (edge,) = conflicts([deny, approve], frozenset())
    assert edge.evidence == "on PreToolUse (Bash), auto-approve approves by itself what the other decides on"


def test_hooks_that_rewrite_or_reformat_the_same_conflict():
    rewriters = [guard(name, "PreToolUse (Bash): echo '{\"updatedInput\": {}}' #" + name) for name in ("one", "two")]
    assert "which of them counts is chance" in conflicts(rewriters, frozenset())[0].evidence
    prettier = guard("format-js", "PostToolUse (Edit|Write): npx prettier --write", "Formats javascript.")
    biome = guard("tidy", "PostToolUse (Write): npx biome format", "Keeps javascript tidy.")
    assert (
        conflicts([prettier, biome], frozenset())[0].evidence == "both reformat what was written on PostToolUse (Write)"
    )
    black = guard("format-py", "PostToolUse (Write): black .", "Formats python.")
    assert conflicts([prettier, black], frozenset()) == []


def test_hooks_meet_on_the_tools_of_all_their_matchers():
    each = guard("each", "PreToolUse (Bash): auto-approve it\nPreToolUse (Edit): auto-approve it")
    both = guard("both", "PreToolUse (Edit|Read|Bash): block it")
    (found,) = conflicts([each, both], frozenset())
    assert found.evidence == "on PreToolUse (Bash|Edit), each approves by itself what the other decides on"


def test_hooks_of_many_actions_are_compared_in_proportion_to_their_number():
    def cost(actions: int) -> float:
        hooks = [
            guard(
                name,
                "\n".join(f"PreToolUse (Bash|{name}{number}): block" for number in range(actions)),
                " ".join(f"{name}word{number}" for number in range(40)),
            )
            for name in ("one", "two")
        ]
        began = time.process_time()
        conflicts(hooks, frozenset())
        return time.process_time() - began

    assert cost(120) < 2 * 4 * max(cost(30), 0.02)


def test_guards_of_different_things_stand_beside_each_other():
    force = guard("force-push-blocker", "PreToolUse (Bash): node push.js", "Blocks forced pushes to a branch.")
    spend = guard("spend-guard", "PreToolUse (Bash): node spend.js", "Blocks orders above a limit.")
    logger = guard("logger", "PreToolUse: node log.js", "Logs every call.")
    edits = guard("edit-guard", "PreToolUse (Edit): node push.js", "Blocks forced pushes to a branch.")
    assert conflicts([force, spend, logger, edits], frozenset()) == []
    again = guard(
        "push-blocker", "PreToolUse (Bash): python push.py", "Blocks a forced push to a branch, forced pushes."
    )
    (edge,) = conflicts([force, again], frozenset())
    assert edge.evidence.startswith("both decide on PreToolUse (Bash) about ")


# alternatives


def test_namesakes_of_different_authors_that_do_the_same_are_alternatives():
    pair = [job("review", "code-review", source="a"), job("review", "code-review", source="b", type="agent")]
    (edge,) = by_words(pair, frozenset())
    assert edge.evidence == "same name, descriptions alike to 100%, both for code-review"
    assert by_words(pair, frozenset({(edge.source, edge.target)})) == []
    strangers = [pair[0], job("review", "film", source="b", purpose=frozenset("rates films by their plot".split()))]
    assert by_words(strangers, frozenset()) == []


def test_one_authors_parts_complement_each_other():
    pair = [job("commit", "git", source="a"), job("commit-push", "git", source="a")]
    assert by_words(pair, frozenset()) == []
    assert by_meaning(pair, [(0, 1, 0.95)], frozenset()) == []


def test_meaning_counts_only_with_what_both_provide():
    pair = [job("e2e", "e2e-testing", "playwright"), job("browser-tests", "e2e-testing")]
    (edge,) = by_meaning(pair, [(1, 0, 0.81)], frozenset())
    assert edge.evidence == "descriptions alike to 0.81 in meaning, both for e2e-testing"
    assert by_meaning(pair, [(0, 1, 0.7)], frozenset()) == []
    assert by_meaning([job("a", "python"), job("b", "rust")], [(0, 1, 0.9)], frozenset()) == []
    assert by_meaning([job("a", "x"), job("b", "x", type="mcp_server")], [(0, 1, 0.9)], frozenset()) == []


def test_what_a_name_states_the_other_has_to_do():
    csharp = job("csharp-mcp-expert", "mcp", "csharp", named=frozenset({"csharp", "mcp"}))
    typescript = job("typescript-mcp-expert", "mcp", "typescript", named=frozenset({"typescript", "mcp"}))
    assert by_meaning([csharp, typescript], [(0, 1, 0.9)], frozenset()) == []


def test_each_has_at_most_five_alternatives_over_all_kinds_of_evidence():
    jobs = [job("review", "code-review", source=f"s{number}") for number in range(12)]
    chosen = choose(by_words(jobs, frozenset()))
    degree = [sum(each.id in (edge.source, edge.target) for edge in chosen) for each in jobs]
    assert max(degree) == 5
    full = jobs[degree.index(5)].id
    more = Edge(full, "z", ALTERNATIVE_TO, 0.9, "")
    assert fill([(edge.source, edge.target) for edge in chosen], [more]) == []
    assert fill([], [more, more]) == [more]


# how copies differ


def test_a_difference_counts_lines_and_names_sections():
    ours = ("Reviews.", "# Review\n\nRead it.\n\n## Old\n\nGone.")
    theirs = ("Reviews code.", "# Review\n\nRead   it.\n\n## New `part`\u202e\n\nAdded.\nTwice.")
    told = difference_text(difference(ours, theirs))
    assert told == "lines: 3 more, 2 less; only there: New `part`; only here: Old; another description"
    assert difference_text(difference(ours, ours)) == "the text is the same"


def test_a_difference_is_capped():
    many = "\n".join(f"## Section {number} " + "x" * 200 for number in range(50))
    found = difference(("", ""), ("", many))
    assert found.sections_added[-1] == "46 more sections"
    assert len(difference_text(found)) < 400
