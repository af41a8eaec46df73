"""Requirements of command lines, with their version ranges, and of the manifests beside a server."""

from __future__ import annotations

import json

import pytest

from repertoire.ingestion.dependencies import of_files
from repertoire.ingestion.requirements import of_command, package_of


def packages(command, *args):
    return [need.name for need in of_command(command, args, evidence="test") if need.kind == "package"]


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("npx -y pkg@1.2.3", "pkg@1.2.3"),
        ("npx -y @a/b@1.2.3 --stdio", "@a/b@1.2.3"),
        ("npx -y @a/b@latest", "@a/b"),
        ("npx @a/b@^1.2", "@a/b@^1.2"),
        ("npx --package=@a/b@2.0.0 bin", "@a/b@2.0.0"),
        ("pnpm dlx pkg@1.0.0", "pkg@1.0.0"),
        ("uvx pkg==1.2", "pkg==1.2"),
        ("uvx pkg@1.2", "pkg==1.2"),
        ("uvx --python 3.11 --from pkg[cli]==1.2 tool", "pkg==1.2"),
        ("uv tool run pkg>=3", "pkg>=3"),
        ("pipx run --no-cache pkg", "pkg"),
        ("uvx --from git+https://github.com/a/b tool", None),
        ("uv run server", None),
        ("npm run start", None),
    ],
)
def test_a_runner_requires_the_package_in_the_version_that_it_names(line, package):
    command, *args = line.split()

    assert packages(command, *args) == ([package] if package else [])


def test_what_a_server_is_of_is_told_without_the_version():
    assert package_of("npx", ["-y", "@a/b@1.2.3"]) == "@a/b"
    assert package_of("uvx", ["pkg==1.2"]) == "pkg"


def test_manifests_tell_what_they_require_to_run():
    npm = {"a": "^1.2", "b": "1.0.0", "c": "workspace:*", "d": "git+https://x/y", "e": "latest", "f": "npm:real@1.2.3"}
    project = """
[build-system]
requires = ["hatchling"]
[project]
dependencies = [
  "mcp>=1.2",  # not "this"
  'httpx[http2]==0.27.0 ; python_version < "3.12"',
  "x @ https://a.example/b.whl",
]
[project.optional-dependencies]
dev = ["ruff"]
"""
    texts = {
        "package.json": json.dumps({"dependencies": npm, "devDependencies": {"no": "1"}}),
        "pyproject.toml": project,
        "requirements.txt": "# c\n-r base.txt\nflask==2.0.1 --hash=sha256:0\nhttps://a.example/x.whl\n",
    }

    names = [need.name for need in of_files(texts)]

    assert names == ["a@^1.2", "b@1.0.0", "e", "real@1.2.3", "mcp>=1.2", "httpx==0.27.0", "flask==2.0.1"]


@pytest.mark.parametrize(
    "listed",
    [
        '["click>=8"]\nkeywords = [\n"http",\n"mcp",\n]',
        '[\n  "click>=8"]',
        "[ # one\n 'click>=8',]",
    ],
)
def test_the_dependencies_of_a_python_project_are_found_however_they_are_written(listed):
    text = f'[project]\nname = "a"\ndependencies = {listed}\n'
    assert [need.name for need in of_files({"pyproject.toml": text})] == ["click>=8"]


@pytest.mark.parametrize(
    ("command", "args", "names"),
    [
        ("bash", ["-c", "npx -y @acme/server --port 1"], ["npx", "@acme/server", "node"]),
        ("cmd", ["/c", "npx", "-y", "@acme/server"], ["npx", "@acme/server", "node"]),
        ("docker", ["run", "-i", "--rm", "--memory", "2g", "-e", "KEY", "acme/server"], ["docker", "acme/server"]),
        ("docker", ["run", "-it", "--init", "--cap-add=ALL", "acme/server"], ["docker", "acme/server"]),
    ],
)
def test_a_command_requires_its_program_and_what_that_fetches(command, args, names):
    assert [need.name for need in of_command(command, args, evidence="")] == names


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"dependencies": 3}', "[project", "[project]\ndependencies = [", "==1", ""]
)
def test_a_manifest_that_is_none_requires_nothing(text):
    assert list(of_files(dict.fromkeys(("package.json", "pyproject.toml", "requirements.txt"), text))) == []
