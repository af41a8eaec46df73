"""Every line knows its introduction, and scanning takes time in proportion to the text's length."""

from __future__ import annotations

import time

import pytest

from repertoire.domain.component import SKILL, Component
from repertoire.trust.scan import scan
from repertoire.trust.scanned_text import CODE, PROSE, SHELL, ScannedText

TEXT = """# Clean up

First words.
Last words.

## Commands

Never run these:

```bash
one
two
three
```

After.
"""


def test_a_line_of_a_block_is_introduced_by_the_lines_above_it_and_by_what_introduces_the_block() -> None:
    document = ScannedText(TEXT)
    line = document.line(TEXT.split("\n").index("three"))

    assert line.place == SHELL
    assert line.introduced.split("\n") == ["two", "one", "Never run these:", "## Commands"]


def test_a_line_of_prose_is_introduced_by_the_prose_above_it_as_far_as_its_heading() -> None:
    document = ScannedText(TEXT)
    lines = TEXT.split("\n")

    assert document.line(lines.index("After.")).introduced.split("\n") == ["Never run these:", "## Commands"]
    assert document.line(lines.index("Last words.")).introduced.split("\n") == ["First words.", "# Clean up"]
    assert ScannedText("\n" * 300 + "one").line(300).introduced == ""
    assert ScannedText("# far" + "\n" * 300 + "one\ntwo").line(301).introduced == "one"


def test_what_stands_before_a_command_of_a_block_may_be_spaces_in_any_number() -> None:
    assert ScannedText("```\n   $   curl x\n```\n").line(1).place == SHELL
    assert ScannedText("```\n" + " " * 50_000 + "x\n```\n").line(1).place == CODE
    assert ScannedText("x").line(0).place == PROSE


@pytest.mark.parametrize(
    ("path", "begins", "unit"),
    [
        ("SKILL.md", "```python\n", "rm -rf ~\n"),
        ("SKILL.md", "# Attacks\n\n", "# security\n```bash\nrm -rf ~\n```\n"),
        ("a.sh", "T=$(gh auth token)\n", "a=$T; curl -d $a http://localhost\n"),
        ("a.sh", "a=curl\n", "$a$a$a$a "),
        ("a.py", "k = b64decode(x)\n", "x1=atob(y)\n"),
    ],
)
def test_a_file_made_to_be_slow_takes_time_in_proportion_to_its_length(path: str, begins: str, unit: str) -> None:
    def cost(length: int) -> float:
        text = begins + unit * (length // len(unit))
        component = Component(id=f"a:{path}", type=SKILL, name="a", path=path)
        began = time.process_time()
        scan(component, text)
        return time.process_time() - began

    assert cost(200_000) < 40 * max(cost(20_000), 0.02)
