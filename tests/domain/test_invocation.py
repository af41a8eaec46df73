"""A component is started under the name that Claude Code lists it by, and denied by rules on it."""

import pytest

from repertoire.domain.invocation import call_name, is_denied


@pytest.mark.parametrize(
    ("kind", "name", "path", "plugin", "started"),
    [
        ("skill", "Bar Name", "skills/foo-dir/SKILL.md", "", "foo-dir"),
        ("skill", "foo", ".claude/skills/foo/SKILL.md", "kit", "kit:foo"),
        ("skill", "on.top ü", "kit/SKILL.md", "kit", "kit:on-top--"),
        ("skill", "boxed", "kit/commands/git/boxed/SKILL.md", "kit", "kit:git:boxed"),
        ("skill", "foo", "commands/kit/skills/foo/SKILL.md", "kit", "kit:foo"),
        ("skill", "whole", "SKILL.md", "", "whole"),
        ("command", "deploy", "commands/deploy.md", "", "deploy"),
        ("command", "nested", "commands/sub/deeper/nested.md", "", "sub:deeper:nested"),
        ("command", "nested", "plugins/kit/commands/sub/nested.md", "kit", "kit:sub:nested"),
        ("command", "elsewhere", "prompts/elsewhere.md", "kit", "kit:elsewhere"),
        ("command", "git:push", "cmds/git/push.md", "kit", "kit:git:push"),
        ("agent", "front", "agents/sub/file.md", "", "front"),
        ("agent", "front", "agents/sub/file.md", "kit", "kit:sub:front"),
        ("mcp_server", "db", ".mcp.json", "kit", "db"),
        ("plugin", "kit", "plugins/kit", "kit", "kit"),
    ],
)
def test_it_is_named_by_its_folder_its_path_or_its_front_matter(kind, name, path, plugin, started):
    assert call_name(kind, name, path, plugin) == started


@pytest.mark.parametrize(
    ("rule", "kind", "call", "plugin", "denied"),
    [
        ("Skill", "skill", "pdf", "", True),
        ("Skill(*)", "command", "pdf", "", True),
        ("Skill()", "skill", "pdf", "", False),
        ("Skill(pdf", "skill", "pdf", "", False),
        ("Skill(pdf)", "agent", "pdf", "", False),
        ("Skill(pdf)", "skill", "pdf-forms", "", False),
        ("Skill(pdf:*)", "skill", "pdf-forms", "", True),
        ("Skill(kit:*)", "command", "kit:pdf", "kit", True),
        ("Skill(/pdf)", "command", "pdf", "", True),
        ("Skill(pdf *)", "skill", "pdf", "", True),
        ("Skill(pdf*)", "skill", "pdf", "", False),
        ("Agent(*)", "agent", "pdf", "", True),
        ("Task(pdf)", "agent", "pdf", "", True),
        ("Agent(pd:*)", "agent", "pdf", "", False),
        ("mcp__pdf", "mcp_server", "pdf", "", True),
        ("mcp__pdf_forms__*", "mcp_server", "pdf forms", "", True),
        ("mcp__pd*", "mcp_server", "pdf", "", True),
        ("mcp__pdf__re*", "mcp_server", "pdf", "", False),
        ("mcp__pdf__read", "mcp_server", "pdf", "", False),
        ("mcp__pdf", "mcp_server", "pdf", "kit", False),
        ("mcp__plugin_kit_pdf", "mcp_server", "pdf", "kit", True),
        ("mcp__pdf", "skill", "pdf", "", False),
    ],
)
def test_a_rule_denies_it_by_its_name_or_a_beginning(rule, kind, call, plugin, denied):
    assert is_denied(rule, kind, call, plugin) == denied
