"""Package names are read from manifests of every language, and no text makes the reading slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repertoire.catalogue import profile, reading
from repertoire.catalogue.manifests import _READERS, LONGEST_LINE, fits, reader_of
from repertoire.catalogue.profile import MOST_BYTES, read_profile
from repertoire.catalogue.reading import Signal

MANIFESTS = {
    "package.json": (
        '{"dependencies": {"next": "15"}, "devDependencies": {"@types/node": "22"}}',
        "next @types/node",
    ),
    "composer.json": (
        '{"require": {"symfony/console": "^7"}, "require-dev": {"phpunit/phpunit": 12}}',
        "symfony/console phpunit/phpunit",
    ),
    "requirements-dev.txt": (
        "# for tests\n\n  pytest>=8\nhttpx[http2] ; python_version > '3'\n-r base.txt\nruff\n",
        "pytest httpx ruff",
    ),
    "pyproject.toml": (
        """[project]\nname = "shop"\nkeywords = [\n "django",\n]\n# "flask"
dependencies = [\n "fastapi[all]>=0.115",  # don't care\n 'sqlalchemy', "uv ~= 1"]
        \n"pydantic" = {version = "2"}\n[tool.ruff]\n""",
        "fastapi sqlalchemy uv pydantic 2 dependencies pydantic ruff",
    ),
    "Pipfile": ('[packages]\nflask = "*"\n\n"celery" = "*"\n', "flask celery"),
    "setup.py": ("setup(name='x',\n  requires=['django >= 5', \"redis [hiredis]\", '>=3'])\n", "x django redis"),
    "setup.cfg": ("[options]\ninstall_requires =\n    attrs>=24\n\tclick\n", "attrs click"),
    "environment.yaml": ("dependencies:\n  - numpy=2\n  - pip:\n    - torch\n", "numpy pip torch"),
    "go.mod": (
        "module a.example/b\nrequire (\n\tgithub.com/gin-gonic/gin v1.10.0\n)\nrequire go.uber.org/zap v1 // x\n",
        "github.com/gin-gonic/gin go.uber.org/zap",
    ),
    "Cargo.toml": (
        '[dependencies]\nserde = "1"\n[workspace.dependencies.tokio]\nversion = "1"\n',
        "serde version tokio",
    ),
    "Gemfile": ("source 'x'\ngem 'rails', '~> 8'\n  gem \"puma\"\n", "rails puma"),
    "kit.gemspec": ("s.add_dependency 'rack'\n s.add_development_dependency( \"rspec\", '3')\n", "rack rspec"),
    "pom.xml": (
        "<dependency>\n  <groupId>org.junit</groupId>\n  <artifactId> junit-bom </artifactId>\n</dependency>",
        "org.junit junit-bom org.junit:junit-bom",
    ),
    "build.gradle.kts": (
        'plugins { id("com.android.application") }\nimplementation("io.ktor:ktor-core:3.0")\nu = "a"',
        "io.ktor ktor-core io.ktor:ktor-core com.android.application",
    ),
    "main.tf": (
        'provider "aws" {\n}\n  aws = {\n    source  = "hashicorp/aws"\n  }\nmodule "vpc" {\n  source = "../vpc"\n}\n',
        "aws hashicorp/aws",
    ),
    "libs.versions.toml": (
        'core = { module = "androidx.core:core-ktx", version.ref = "c" }\n',
        "androidx.core core-ktx androidx.core:core-ktx",
    ),
    "App.csproj": (
        '<Project Sdk="Microsoft.NET.Sdk.Web">\n<PackageReference\n  Include="Serilog" Version="4"/>',
        "Serilog Microsoft.NET.Sdk.Web",
    ),
    "mix.exs": ('defp deps do\n [\n {:phoenix, "~> 1.7"},\n { :ecto , "3"}]', "phoenix ecto"),
    "pubspec.yaml": ("dependencies:\n  flutter_bloc: ^9\n  http: ^1\n    sdk: x\n", "flutter_bloc http"),
    "build.sbt": ('libraryDependencies += "dev.zio" %% "zio-http" % "3"\n', "dev.zio zio-http"),
    "Package.swift": (
        """.package(url: "https://a.example/vapor/vapor.git", from: "4.0.0"),
        .package(\n  path: "../Kit"),\n.package(name: NAME), x""",
        "vapor Kit",
    ),
    "deno.json": ('{"imports": {"hono": "npm:hono@4", "std": "jsr:@std/path@1"}}', "hono @std/path"),
    "docker-compose.prod.yml": (
        "services:\n  db:\n    image: docker.io/library/postgres:17\n    image: 'redis'\n",
        "postgres redis",
    ),
}
RUNS = (
    "\n", " ", " \n", "\t", "a", "a\n", ".", "0.0", "a.", "a/", "-", "~", "<", "[", "[]", "a[", "{", "(", "%", "% ",
    '"', "'", '"a" ', '"a[', '"a  ', '"a:', "a:", "a = ", ", ", "\0", "é", '{"a":',
    "1", "\r", "@a/", "#", "\\", "\u2028",
)  # fmt: skip
# what a manifest's expressions begin with: where they are tried in earnest
BEGINNINGS = (
    ".package(", '.package("', "<groupId>", "<groupId>a</groupId>", "<PackageReference ", "<Project ", "add_dependency",
    "add_dependency(", "id", "id(", "npm:", "npm:@a", "{:a", "gem ", "- ", "image: ", "image: a/", "require ", "[tool.",
    "[dependencies.", "[a.dependencies.", '"a" %', "a.a/", "a.a/a ",
)  # fmt: skip
LENGTH = MOST_BYTES // 16
TIMES = 60  # a plain walk over the same characters; an expression that is not linear needs thousands


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_names_its_packages(name: str) -> None:
    text, packages = MANIFESTS[name]
    reader = reader_of(f"some/folder/{name}")
    assert reader is not None
    assert " ".join(reader(text)) == packages


def test_every_kind_of_manifest_is_tried_here() -> None:
    assert {reader_of(name) for name in MANIFESTS} == {reader for _, reader in _READERS}
    assert len(MANIFESTS) == len(_READERS)


@pytest.mark.parametrize(
    "name", ["README.md", "package.json5", "requirements", "compose.json", "proj", "mypackage.json"]
)
def test_what_is_no_manifest_is_not_read(name: str) -> None:
    assert reader_of(name) is None


@pytest.mark.parametrize("name", MANIFESTS)
def test_no_text_makes_reading_a_manifest_long(name: str) -> None:
    plain = "a" * LENGTH
    walk = min(_spent(lambda: sum(map(str.isdigit, plain))) for _ in range(3))
    slow = {text[:30]: times for text in _hostile() if (times := _reading(name, text, TIMES * walk) / walk) > TIMES}
    assert slow == {}


def _hostile() -> Iterator[str]:
    yield from map(_filled, RUNS)
    for beginning in BEGINNINGS:
        for run in ("", " ", "a", "\n"):
            yield _filled(beginning + run)
            yield beginning + _filled(run or "a.")
            yield _filled(beginning.ljust(LONGEST_LINE - 1, run or ".") + "\n")


def _filled(run: str) -> str:
    return (run * (LENGTH // len(run) + 1))[:LENGTH]


def _reading(name: str, text: str, most: float) -> float:
    """Return the processor time that reading takes; where it seems to be too much, others may have disturbed it."""
    reader = reader_of(name)
    assert reader is not None
    tries = (_spent(lambda: sum(1 for _ in reader(text))) for _ in range(3))
    return next((spent for spent in tries if spent <= most), most * 2)


def _spent(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


SIGNALS = {
    "fastapi": Signal(("fastapi",), ()),
    "aws": Signal(("@aws-sdk/*", "*.awssdk.*"), ("sam*.y*ml", "deploy/*.tf")),
}


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({"requirements.txt": "FastAPI\n"}, {"fastapi": "fastapi in requirements.txt"}),
        ({"a/package.json": '{"dependencies": {"@aws-sdk/s3": "3"}}'}, {"aws": "@aws-sdk/s3 in a/package.json"}),
        ({"pom.xml": "<groupId>x.awssdk.y</groupId><artifactId>z"}, {"aws": "x.awssdk.y in pom.xml"}),
        ({"b/SAM-x.yaml": ""}, {"aws": "b/SAM-x.yaml"}),
        ({"deploy/main.tf": ""}, {"aws": "deploy/main.tf"}),
        ({"main.tf": "", "package.json": "[" * 60_000}, {}),
        ({"Pipfile": f"{'#' * MOST_BYTES}\nfastapi = 1\n"}, {}),
        ({"Pipfile": f"{'x' * (LONGEST_LINE + 1)} = 1\r\nfastapi = 1\r\n"}, {"fastapi": "fastapi in Pipfile"}),
        ({"requirements.txt": "\ufeffFastAPI\n"}, {"fastapi": "fastapi in requirements.txt"}),
        ({"deploy/now run this.tf": ""}, {"aws": "a file here"}),
        ({"package.json": '{"dependencies": {"@aws-sdk/ read this": "1"}}'}, {}),
        (
            {"package.json": f'{{"dependencies": {{"fastapi": {"1" * 50_000}}}}}'},
            {"fastapi": "fastapi in package.json"},
        ),
    ],
)
def test_a_projects_files_reveal_its_terms(tmp_path: Path, files: dict[str, str], evidence: dict[str, str]) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    found = read_profile(str(tmp_path), SIGNALS)
    assert found.evidence == evidence
    assert found.absent == set(SIGNALS) - set(evidence)


@pytest.mark.parametrize(
    ("extras", "used", "absent"),
    [
        ('server = [\n  "fastapi>=0.1", # the server\n]\n', set(), {"aws"}),
        ('"http.server" = ["fastapi"]\n', set(), {"aws"}),
        ('dev-server = ["fastapi"]\n', {"fastapi"}, {"aws"}),
        ('server = ["x"]\n[dependency-groups]\nserver = ["fastapi"]\n', {"fastapi"}, {"aws"}),
    ],
)
def test_what_an_extra_alone_requires_is_neither_used_nor_absent(
    tmp_path: Path, extras: str, used: set[str], absent: set[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project]\n[project.optional-dependencies]\n{extras}", encoding="utf-8")
    found = read_profile(str(tmp_path), SIGNALS)
    assert (set(found.terms), found.absent) == (used, absent)
    (tmp_path / "requirements.txt").write_text("fastapi\n", encoding="utf-8")
    assert set(read_profile(str(tmp_path), SIGNALS).terms) == {"fastapi"}


@pytest.mark.parametrize(
    ("file", "text", "term"),
    [
        ("ProjectSettings/ProjectVersion.txt", "m_EditorVersion: 6000.0.1f1\n", "csharp"),  # no .csproj is checked in
        (".wp-env.json", "{}", "wordpress"),
        ("composer.json", '{"require-dev": {"wp-coding-standards/wpcs": "^3"}}', "wordpress"),
        (".swiftlint.yml", "opt_in_rules: []\n", "swift"),
    ],
)
def test_the_catalogue_knows_projects_without_a_manifest_of_their_language(
    tmp_path: Path, file: str, text: str, term: str
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert term in read_profile(str(tmp_path), reading.load().signals).evidence


@pytest.mark.parametrize(("framework", "native"), [("flutter:\n    sdk: flutter", False), ("args: ^2.5.0", True)])
def test_the_native_app_that_a_cross_platform_framework_creates_tells_of_no_language_of_the_project(
    tmp_path: Path, framework: str, native: bool
) -> None:
    files = {"pubspec.yaml": f"dependencies:\n  {framework}\n", "android/build.gradle": "", "ios/Podfile": ""}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = read_profile(str(tmp_path), reading.load().signals)
    assert {"java", "swift"}.issubset(found.terms) == native
    assert "ios" in found.terms
    assert found.absent.isdisjoint({"java", "swift"})


@pytest.mark.parametrize(("provider", "cloud"), [("aws", "aws"), ("azurerm", "azure"), ("google", "gcp")])
def test_an_infrastructure_shows_its_cloud_by_the_providers_that_it_requires(
    tmp_path: Path, provider: str, cloud: str
) -> None:
    required = (
        f'terraform {{\n  required_providers {{\n    x = {{\n      source = "hashicorp/{provider}"\n    }}\n  }}\n}}\n'
    )
    (tmp_path / "main.tf").write_text(required, encoding="utf-8")
    found = read_profile(str(tmp_path), reading.load().signals)
    assert {"terraform", cloud} <= set(found.terms)
    assert {"aws", "azure", "gcp"} - {cloud} <= found.absent


def test_a_manifest_may_be_written_in_utf_16(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes("fastapi==1\r\n".encode("utf-16"))
    assert read_profile(str(tmp_path), SIGNALS).terms == ("fastapi",)


def test_a_manifest_is_found_among_thousands_of_files(tmp_path: Path) -> None:
    for number in range(profile.MOST_ENTRIES + 1):
        (tmp_path / f"a{number}.png").touch()
    (tmp_path / "requirements.txt").write_text("fastapi\n")
    assert read_profile(str(tmp_path), SIGNALS).terms == ("fastapi",)


def test_a_folder_that_stands_for_a_file_reveals_its_terms(tmp_path: Path) -> None:
    (tmp_path / "App.xcodeproj").mkdir()
    assert read_profile(str(tmp_path), reading.load().signals).evidence["swift"] == "App.xcodeproj"


def test_of_all_manifests_together_so_many_bytes_are_read(tmp_path: Path) -> None:
    whole = profile.MOST_TOGETHER // MOST_BYTES
    for number in range(whole + 1):
        (tmp_path / f"part{number:02}").mkdir()
        text = f"name{number}\n".ljust(MOST_BYTES, "\n") + f"beyond{number}\n"
        (tmp_path / f"part{number:02}" / "requirements.txt").write_text(text)
    packages, _ = profile._packages(str(tmp_path), [f"part{number:02}/requirements.txt" for number in range(whole + 1)])
    assert list(packages) == [f"name{number}" for number in range(whole)]


def test_thousands_of_long_names_are_not_all_looked_at(tmp_path: Path) -> None:
    names = "\n".join(f"n{number:06}" for number in range(8_000))
    for number in range(8):
        (tmp_path / f"part{number}").mkdir()
        (tmp_path / f"part{number}" / "requirements.txt").write_text(names + "\n" + "n" * 300)
    found, _ = profile._packages(str(tmp_path), [f"part{number}/requirements.txt" for number in range(8)])
    assert len(found) == 8_000
    assert max(map(len, found)) < profile.LONGEST_NAME


@pytest.mark.parametrize(
    ("name", "pattern", "fit"),
    [
        ("ab", "ab*", True), ("abc", "ab*", True), ("a", "ab*", False), ("cab", "*ab", True), ("aba", "ab*ba", False),
        ("abba", "ab*ba", True), ("a/x/b", "a*b", True), ("docker-compose.prod.yml", "*compose*.y*ml", True),
        ("compose.yml", "*compose*.y*ml", True), ("compose.yl", "*compose*.y*ml", False), ("", "*", True),
        ("xxyx", "*x*y*", True), ("xxx", "*x*y*", False),
    ],
)  # fmt: skip
def test_a_star_stands_for_anything(name: str, pattern: str, fit: bool) -> None:
    assert fits(name, pattern.split("*")) is fit


def test_the_catalogue_uses_no_other_sign_than_the_star() -> None:
    patterns = [pattern for signal in reading.load().signals.values() for pattern in (*signal.packages, *signal.files)]
    assert not [pattern for pattern in patterns if set(pattern) & set("?[]")]
