"""A pack of a Python package holds its docstrings; that of another source does so only when asked."""

from __future__ import annotations

from app.packs.documentation import build, write

CODE = {
    "__init__.py": '"""Weaves baskets."""\n',
    "weaving.py": 'raise SystemExit\n\n\ndef weave(rods):\n    """Weave a basket of rods."""\n',
    "broken.py": "def :\n",
}


def test_the_folder_of_a_package_gives_its_docstrings(tmp_path):
    built = build(tmp_path, "willow", write(tmp_path / "willow", CODE))
    size = built.manifest.statistics
    assert (size.articles, size.sections, size.facts) == (2, 3, 1)
    assert built.skipped == {"broken.py": "no Python that can be parsed"}


def test_a_repository_gives_them_beside_its_documents_when_asked(tmp_path):
    inside = {f"src/willow/{path}": text for path, text in CODE.items()}
    docs = write(
        tmp_path / "repository", {**inside, "docs/index.md": "# Willow\n\nRods.\n", "setup.py": "raise SystemExit"}
    )
    assert build(tmp_path, "plain", docs).manifest.statistics.articles == 1
    assert build(tmp_path, "full", docs, docstrings=True).manifest.statistics.articles == 3
