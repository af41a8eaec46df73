"""Addresses of sources: how an argument is parsed, and which addresses are refused, above all from a model."""

from __future__ import annotations

import pytest

from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.sources.address import client_address, key_of, package_of, parse, without_password


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/acme/skills",
        "https://localhost/acme/skills",
        "https://localhost:8443/acme/skills",
        "https://10.1.2.3/acme/skills",
        "https://192.168.1.1/acme/skills",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/acme/skills",
        "https://[::ffff:127.0.0.1]/acme/skills",
        "https://[2002:7f00:1::]/acme/skills",
        "https://[fe80::1]/acme/skills",
        "https://0.0.0.0/acme/skills",
        "https://2130706433/acme/skills",
        "https://user@127.0.0.1/acme/skills",
        "https://github.com@127.0.0.1/acme/skills",
        "https://no-such-host.invalid/acme/skills",
        "ssh://git@localhost/acme/skills",
        "git@localhost:acme/skills",
        "127.0.0.1:acme/skills",
        "https:///acme/skills",
        "/etc",
        "~",
        "file:///etc",
    ],
)
def test_private_places_are_refused_when_a_model_asks(address):
    with pytest.raises(SourceRefused):
        parse(address, trusted=False)


@pytest.mark.parametrize(
    "address",
    [
        "http://github.com/acme/skills",
        "git://github.com/acme/skills",
        "ext::sh -c 'touch /tmp/pwned'",
        "ftp://github.com/acme/skills",
        "--upload-pack=touch /tmp/pwned",
        "-u",
        "",
        "https://github.com/acme/skills\nhttps://evil.example",
        "ssh://-oProxyCommand=touch/x/y",
        "fd::17",
        "ssh://$(touch x).example.com/x/y",
        "https://a`id`.example.com/x/y",
    ],
)
@pytest.mark.parametrize("trusted", [True, False])
def test_other_protocols_and_options_are_refused_whoever_asks(address, trusted):
    with pytest.raises(SourceRefused):
        parse(address, trusted=trusted)


def test_a_person_may_name_any_host(tmp_path):
    assert parse("https://git.intern.example/team/skills.git", trusted=True).key == "git.intern.example/team/skills"
    assert parse("git@localhost:team/skills", trusted=True).key == "localhost/team/skills"
    assert parse(str(tmp_path), trusted=True).kind == "folder"


def test_the_address_that_was_checked_is_the_one_that_git_must_use():
    assert parse("https://8.8.8.8:8443/acme/skills", trusted=False).pinned == "8.8.8.8:8443:8.8.8.8"
    assert parse("https://8.8.8.8/acme/skills", trusted=True).pinned == ""


def test_a_model_may_name_a_folder_of_its_project(tmp_path):
    inside = tmp_path / "project" / "plugins"
    inside.mkdir(parents=True)
    (tmp_path / "project" / "way-out").symlink_to("/etc")

    assert parse(str(inside), trusted=False, project=tmp_path / "project").text == str(inside)
    with pytest.raises(SourceRefused):
        parse(str(tmp_path / "project" / "way-out"), trusted=False, project=tmp_path / "project")
    with pytest.raises(SourceRefused):
        parse(str(tmp_path / "project" / ".." / ".."), trusted=False, project=tmp_path / "project")


@pytest.mark.parametrize(
    "address",
    [
        "acme/skills",
        "github.com/acme/skills",
        "https://github.com/acme/skills",
        "https://github.com/acme/skills.git",
        "https://github.com/acme/skills/tree/main/plugins/x",
        "https://token@github.com/acme/skills",
        "ssh://git@github.com/acme/skills.git",
        "git@github.com:acme/skills.git",
    ],
)
def test_one_repository_has_one_key_however_it_is_written(address):
    assert parse(address, trusted=True).key == "github.com/acme/skills"


def test_what_names_nothing_is_told_with_the_way_out():
    with pytest.raises(SourceError, match="there is no folder 'nowhere'; send a folder, owner/name on GitHub"):
        parse("nowhere", trusted=True)


@pytest.mark.parametrize("argument", ["x" * 5_000, "~no-such-user-here/x", "\udcff", "a/b/c/d", "..", "C:x\\y"])
def test_odd_arguments_end_in_an_answer_and_no_crash(argument):
    with pytest.raises(SourceError) as told:
        parse(argument, trusted=False)

    assert str(told.value).isprintable()


def test_a_folder_goes_before_an_address_that_is_written_alike(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme" / "skills").mkdir(parents=True)

    assert parse("acme/skills", trusted=True).kind == "folder"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://me:secret@git.example.org:8443/a/b?token=1", "https://git.example.org:8443/a/b"),
        ("ssh://git:secret@git.example.org/a/b", "ssh://git@git.example.org/a/b"),
        ("git@github.com:a/b", "git@github.com:a/b"),
    ],
)
def test_an_address_that_is_told_to_others_has_no_password(address, told):
    assert without_password(address) == told


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://me:secret@git.example.org:8443/a/b", "https://git.example.org:8443/a/b.git"),
        ("https://gitlab.com/a/b/c.git/", "https://gitlab.com/a/b/c.git"),
        ("https://org@dev.azure.com/org/My%20Project/_git/repo", "https://dev.azure.com/org/My%20Project/_git/repo"),
        ("git@ssh.dev.azure.com:v3/org/My%20Project/repo", "git@ssh.dev.azure.com:v3/org/My%20Project/repo"),
        ("git@ghe.example.org:team/skills.git", "git@ghe.example.org:team/skills.git"),
        ("ssh://git@git.example.org/team/skills", "git@git.example.org:/team/skills"),
        ("git@github.com:acme/skills.git", "acme/skills"),
        ("https://github.com/acme/skills", "acme/skills"),
        ("ssh://git@git.example.org:2222/team/skills", ""),
        ("git.example.org:team/skills", ""),
        ("https://git-codecommit.us-east-1.amazonaws.com/v1/repos/skills", ""),
        ("https://git.example.org/a b/c", ""),
        ("ext::sh -c x", ""),
    ],
)
def test_claude_code_is_told_an_address_in_a_form_that_it_takes(address, told):
    assert client_address(address) == told


@pytest.mark.parametrize(
    ("address", "text", "inner"),
    [
        ("https://me:secret@github.com/a/b/tree/main/x", "https://me:secret@github.com/a/b", "tree/main/x"),
        ("https://gitlab.com/a/b/c/-/tree/main/x", "https://gitlab.com/a/b/c", "-/tree/main/x"),
        ("https://ghe.example.org/a/b/tree/main/x", "https://ghe.example.org/a/b", "tree/main/x"),
        ("https://bitbucket.org/a/b/src/main/", "https://bitbucket.org/a/b", "src/main"),
        ("https://gitea.example.org/a/b/src/branch/main/x", "https://gitea.example.org/a/b", "src/branch/main/x"),
        ("https://git.example.org/a/b.git#dev", "https://git.example.org/a/b.git", "dev"),
        ("https://dev.azure.com/o/p/_git/r?path=/x", "https://dev.azure.com/o/p/_git/r", "path=/x"),
        ("ssh://git@git.example.org:2222/a/b#dev", "ssh://git@git.example.org:2222/a/b", "dev"),
    ],
)
def test_an_address_of_a_place_in_a_repository_names_the_repository_and_that_is_told(address, text, inner):
    parsed = parse(address, trusted=True)
    assert parsed.text == text
    assert parsed.note == f"the whole repository is read, at its default branch, and not {inner} alone"
    assert parsed.key == key_of(text)


def test_a_folder_of_a_repository_may_be_called_as_places_in_others_are():
    for address in ("https://git.example.org/a/src", "https://git.example.org/a/b/tree", "https://git.example.org/-/b"):
        parsed = parse(address, trusted=True)
        assert (parsed.text, parsed.note) == (address, "")


def test_groups_below_groups_keep_their_path():
    assert key_of("https://gitlab.com/a/b/c.git") == "gitlab.com/a/b/c"


@pytest.mark.parametrize(
    ("address", "key", "named"),
    [
        ("npm:left-pad", "npm:left-pad", ("npm", "left-pad", "")),
        ("npm:@acme/mcp-server@1.2.3", "npm:@acme/mcp-server", ("npm", "@acme/mcp-server", "1.2.3")),
        ("npm:tool@next", "npm:tool", ("npm", "tool", "next")),
        ("pypi:MCP_Server.Fetch", "pypi:mcp-server-fetch", ("pypi", "MCP_Server.Fetch", "")),
        ("pypi:acme==2.0rc1", "pypi:acme", ("pypi", "acme", "2.0rc1")),
    ],
)
def test_a_package_is_named_with_its_registry(address, key, named):
    parsed = parse(address, trusted=True)
    assert (parsed.kind, parsed.key, package_of(parsed)) == ("package", key, named)
    with pytest.raises(SourceRefused, match="a person can run"):
        parse(address, trusted=False)


@pytest.mark.parametrize(
    "address",
    [
        "npm:",
        "npm:./folder",
        "npm:acme/skills",
        "npm:https://evil.example/x.tgz",
        "npm:git+ssh://evil.example/x",
        "npm:file:../x",
        "npm:x@file:..",
        "npm:x@npm:y",
        "npm:--registry=https://evil.example",
        "npm:x@--ignore-scripts=false",
        "pypi:",
        "pypi:./x",
        "pypi:x @ https://evil.example/x.whl",
        "pypi:-r requirements.txt",
        "pypi:x[extra]",
        "pypi:x; import os",
        "pypi:x==--no-binary",
    ],
)
def test_nothing_but_a_name_and_a_version_reaches_npm_or_pip(address):
    with pytest.raises(SourceError, match="names no package"):
        parse(address, trusted=True)


def test_an_archive_is_a_source_of_its_own(tmp_path):
    archive = tmp_path / "x.tgz"
    archive.write_bytes(b"")
    parsed = parse(str(archive), trusted=True)
    assert (parsed.kind, parsed.key) == ("archive", f"archive:{archive}")
    with pytest.raises(SourceRefused):
        parse(str(archive), trusted=False, project=tmp_path / "project")


@pytest.mark.parametrize("address", ["acme/skills@v1", "acme/skills#main", "git@git.example.org:acme/skills#main"])
def test_a_branch_cannot_be_chosen_and_that_is_told(address):
    with pytest.raises(SourceError, match=r"no branch or tag can be chosen; .*acme/skills reads the default branch"):
        parse(address, trusted=True)


def test_a_file_address_with_a_branch_says_that_the_default_one_is_read_and_may_name_an_archive(tmp_path):
    address = tmp_path.as_uri()
    assert parse(f"{address}#dev", trusted=True).note.endswith("at its default branch, and not dev alone")
    assert parse(address, trusted=True).note == ""
    packed = tmp_path / "skills.tgz"
    packed.touch()
    assert parse(packed.as_uri(), trusted=True) == parse(str(packed), trusted=True)


def test_a_file_that_is_no_archive_is_refused_with_the_archives_that_are_read(tmp_path):
    (tmp_path / "skills.tar.xz").touch()
    with pytest.raises(SourceError, match=r"is not a folder, nor a \.zip, \.tar, \.tar\.gz or \.tgz; send"):
        parse(str(tmp_path / "skills.tar.xz"), trusted=True)
