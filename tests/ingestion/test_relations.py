"""Relations inside a source are found in proportion to its texts, whatever they name."""

from __future__ import annotations

import time

import pytest

from repertoire.domain.component import MENTIONS, PLUGIN
from repertoire.ingestion.relations import SourceMember, derive, mentioned_words

OTHERS = ("code-review", "dev", "memory", "pdf", "performance", "profile", "projects", "templates", *"abcdefgh")
WORDS = mentioned_words(" ".join(f"a{number}:x-y" for number in range(1_000)))


def test_texts_that_name_their_namesakes_again_and_again_cost_in_proportion_to_their_number():
    def cost(number: int) -> float:
        paths = [f"skills/{place}/SKILL.md" for place in range(number)]
        members = [SourceMember(f"s:{path}", "skill", "x-y", path, None, WORDS) for path in paths]
        began = time.process_time()
        edges = derive(members, {})
        assert {edge.relation for edge in edges} == {MENTIONS}
        assert len(edges) == number
        return time.process_time() - began

    assert cost(160) < 2 * 4 * max(cost(40), 0.05)


def mentions(body: str) -> list[str]:
    members = [SourceMember(name, "command", name, f"commands/{name}.md", None, ()) for name in OTHERS]
    members.append(SourceMember("ork", PLUGIN, "ork", "plugins/ork", None, ()))
    members.append(SourceMember("me", "skill", "me", "skills/me/SKILL.md", None, mentioned_words(body)))
    return [edge.target for edge in derive(members, {}) if edge.relation == MENTIONS]


@pytest.mark.parametrize(
    "body",
    [
        "portless list 2>/dev/null && echo",
        "Read `~/.claude/projects/<slug>/memory/*.md` first.",
        "Route::get('/accounts/{account}/projects/{project}', [ProjectController::class])",
        "Route::put('/projects/{project}')",
        'static const String profile = "/profile/:id"',
        "revalidatePath('/profile');",
        "at `${CLAUDE_PLUGIN_ROOT}/templates/`",
        "use /templates-v2/ or /templates*",
        "site:example.com filetype:pdf",
        "npm run test:performance",
    ],
)
def test_a_path_a_route_and_a_setting_mention_no_component(body):
    assert mentions(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "Then run /memory.",
        "Then `/ork:memory`, as the plugin says",
        'commands: ["/ork:memory --all"]',
        "Hand over to ork:memory.",
        "Hand over to project:memory.",
    ],
)
def test_a_slash_or_a_plugin_before_a_name_mentions_it(body):
    assert mentions(body) == ["memory"]


def test_a_name_with_a_hyphen_is_meant_whatever_stands_before_it():
    assert mentions("Use elsewhere:code-review, or code-review.") == ["code-review"]


def test_of_many_mentions_the_first_ones_are_kept():
    kept = mentions(" ".join(f"/{name}" for name in reversed(OTHERS)))
    assert kept == list(reversed(OTHERS))[:12]
