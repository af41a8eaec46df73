"""The memory of a project at the command line."""

from __future__ import annotations


def test_a_program_of_a_thousand_chained_calls_is_read(run, tmp_path):
    calls = "".join(f'    .option("opt{number}", {{}})\n' for number in range(1_000))
    (tmp_path / "project/cli.js").write_text(f"function options(yargs) {{\n  return yargs\n{calls}}}\n")
    assert run("project", "init", "--no-vectors", "--quiet").returncode == 0
    assert "options" in run("project", "outline", "cli.js").stdout
