"""A component is started under the name that Claude Code lists it by."""

import pytest

from repertoire.domain.invocation import call_name


@pytest.mark.parametrize(
    ("kind", "name", "path", "plugin", "started"),
    [
        ("skill", "Bar Name", "skills/foo-dir/SKILL.md", "", "foo-dir"),
        ("skill", "foo", ".claude/skills/foo/SKILL.md", "kit", "kit:foo"),
        ("skill", "on.top ü", "kit/SKILL.md", "kit", "kit:on-top--"),
        ("skill", "whole", "SKILL.md", "", "whole"),
        ("command", "deploy", "commands/deploy.md", "", "deploy"),
        ("command", "nested", "commands/sub/deeper/nested.md", "", "sub:deeper:nested"),
        ("command", "nested", "plugins/kit/commands/sub/nested.md", "kit", "kit:sub:nested"),
        ("command", "elsewhere", "prompts/elsewhere.md", "kit", "kit:elsewhere"),
        ("agent", "front", "agents/sub/file.md", "", "front"),
        ("agent", "front", "agents/sub/file.md", "kit", "kit:sub:front"),
        ("mcp_server", "db", ".mcp.json", "kit", "db"),
        ("plugin", "kit", "plugins/kit", "kit", "kit"),
    ],
)
def test_it_is_named_by_its_folder_its_path_or_its_front_matter(kind, name, path, plugin, started):
    assert call_name(kind, name, path, plugin) == started
