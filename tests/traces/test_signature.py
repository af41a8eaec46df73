"""An error has one signature wherever it is printed, and different errors have different ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertoire.traces.signature import MOST, Signature, signatures_in, template_of
from repertoire.trust.redaction import redact
from traces.printed import ERRORS, PRINTED

PYTHON = """Traceback (most recent call last):
  File "{home}/{project}/app/main.py", line {line}, in main
    run(config)
  File "{home}/.venv/lib/python3.11/site-packages/requests/adapters.py", line {other}, in send
    raise ConnectionError(e, request=request)
requests.exceptions.ConnectionError: HTTPConnectionPool(host='{host}', port={port}): Max retries exceeded with url: /v1
 (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at {address}>: refused'))
"""
word = st.from_regex(r"[a-z]{3,9}", fullmatch=True)
numbers = st.integers(min_value=1, max_value=99_999)
addresses = st.integers(min_value=0x7F0000000000, max_value=0x7FFFFFFFFFFF).map(hex)
homes = st.one_of(
    word.map("/home/{}".format),
    word.map("C:\\Users\\{}".format),
    word.map("/Users/{}".format),
    st.just("/root"),
    word.map("/tmp/pytest-of-{}".format),
)


def one(text: str) -> Signature:
    return signatures_in(text)[0]


@given(
    st.fixed_dictionaries(
        {
            "home": homes,
            "project": word,
            "line": numbers,
            "other": numbers,
            "host": word,
            "port": st.integers(1, 65_535),
            "address": addresses,
        }
    )
)
def test_another_home_project_line_host_and_address_leave_a_python_error_the_same(machine):
    here = PYTHON.format(
        home="/home/ann", project="shop", line=1, other=2, host="localhost", port=80, address="0x7f00deadbeef"
    )
    there = PYTHON.format(**machine)
    assert one(there).key == one(here).key
    assert one(there).exception == "ConnectionError"


@settings(max_examples=25)
@pytest.mark.parametrize("error", ERRORS)
@given(home=homes, user=word, number=numbers)
def test_no_kind_of_error_depends_on_the_machine(error, home, user, number):
    values = {"home": home, "user": user, "n": number, "hex": f"{number:040x}", "time": "2026-01-02T03:04:05"}
    first = error.format(home="/home/ann", user="ann", n=7, hex="0a1b2c3d4e" * 4, time="2024-11-30 23:59:01")
    assert one(error.format(**values)).key == one(first).key


@pytest.mark.parametrize(
    "quotes", ["''", '""', "``", "\u2018\u2019", "\u201c\u201d", "`'", "\u201e\u201c", "\u300c\u300d"]
)
def test_the_way_of_quoting_makes_no_difference(quotes):
    opened, closed = quotes
    assert one(f"Error: Cannot find module {opened}left-pad{closed}").key == one("Error: Cannot find module 'x'").key


@pytest.mark.parametrize(("text", "exception", "template"), PRINTED)
def test_what_each_tool_prints_is_read(text, exception, template):
    found = one(text)
    assert (found.exception, found.template) == (exception, template)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("main.c:3:5: Fehler: »x« nicht deklariert", "lib/util.c:41:9: Fehler: »total« nicht deklariert"),
        ("FEHLER:  Relation »kunden« existiert nicht", "FEHLER:  Relation »orte« existiert nicht"),
        ("a.c:1:2: erreur : symbole inconnu", "b.c:7:1: erreur : symbole inconnu"),
        ("ошибка: файл «a» не найден", "ошибка: файл «b» не найден"),
        ("Main.java:3: 错误: 找不到符号", "Shop.java:88: 错误: 找不到符号"),
        ("main.c:3:5: 错误\uff1a\u2018x\u2019 未声明", "main.c:9:5: 错误\uff1a\u2018y\u2019 未声明"),
        ("Main.java:3: エラー: シンボルを見つけられません", "Shop.java:8: エラー: シンボルを見つけられません"),
        ("오류: 참조 대상을 찾을 수 없습니다", "오류: 참조 대상을 찾을 수 없습니다"),
    ],
)
def test_an_error_that_a_tool_prints_in_another_language_is_known_again(first, again):
    assert one(first).key == one(again).key
    assert ":" not in one(first).template


def test_different_errors_have_different_keys():
    keys = [one(text).key for text, _, _ in PRINTED]
    assert len(set(keys)) == len(keys)


def test_the_exact_key_tells_names_apart_that_the_key_does_not():
    numpy = one("ModuleNotFoundError: No module named 'numpy'")
    torch = one("ModuleNotFoundError: No module named 'torch'")
    assert numpy.key == torch.key
    assert numpy.exact != torch.exact
    assert numpy.names == ("numpy",)
    assert numpy.words[:2] == ("ModuleNotFoundError", "numpy")


UNLIKE_UNDER_A_WRAPPER = [
    (
        'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
        'ERROR: failed to solve: process "/bin/sh -c apt-get update" did not complete successfully: exit code: 1',
    ),
    ("AxiosError: Request failed with status code 401", "AxiosError: Request failed with status code 500"),
    ("urllib.error.HTTPError: HTTP Error 403", "urllib.error.HTTPError: HTTP Error 404"),
]


@pytest.mark.parametrize(("first", "second"), UNLIKE_UNDER_A_WRAPPER)
def test_the_exact_key_tells_apart_what_failed_under_one_wrapper_and_only_that_tells(first, second):
    assert one(first).key == one(second).key
    assert one(first).exact != one(second).exact
    assert one(first).exact == one(first.replace('"/bin', '"/usr/bin')).exact


@pytest.mark.parametrize(
    "wrapper",
    [
        "error: failed to push some refs to 'example.com:ann/shop.git'",
        "error: subprocess-exited-with-error\n\n\u00d7 python setup.py bdist_wheel did not run successfully.",
        "npm error code 1\nnpm error path /app/node_modules/sharp\nnpm error command failed\nnpm error command sh -c x",
        'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    ],
)
def test_a_line_that_only_wraps_an_error_is_none_beside_the_error(wrapper):
    for told in (" ! [rejected] main -> main (fetch first)", "fatal error: Python.h: No such file or directory"):
        assert [found.key for found in signatures_in(f"{told}\n{wrapper}")] == [one(told).key]


def test_a_wrapper_alone_is_known_again_by_what_it_names_alone():
    assert all(one(text).nameless for text in UNLIKE_UNDER_A_WRAPPER[0] + UNLIKE_UNDER_A_WRAPPER[1])
    assert not one("OperationalError: FATAL: sorry, too many clients already").nameless


SAME_UNDER_ANOTHER_WRAPPER = [
    (
        "psycopg2.OperationalError: FATAL:  sorry, too many clients already",
        "psycopg.OperationalError: connection failed: FATAL:  sorry, too many clients already",
        'psycopg.OperationalError: connection to server at "db", port 5 failed: FATAL: sorry, too many clients already',
        "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) FATAL:  sorry, too many clients already",
    ),
    (
        'The container name "/db" is already in use by container "0a1b2c3d4e5f".',
        'Error response from daemon: Conflict. The container name "/db" is already in use by container "aabbcc".',
        'docker: Error response from daemon: Conflict. The container name "/db" is already in use by container "a0b0".',
    ),
    (
        "psycopg2.errors.UniqueViolation: duplicate key value violates key",
        "sqlalchemy.exc.IntegrityError: (psycopg2.errors.UniqueViolation) duplicate key value violates key",
    ),
    (
        "fatal: not a git repository (or any of the parent directories): .git",
        "fatal: not a git repository (or any parent up to mount point /)",
        "fatal: not a git repository (or any parent up to mount point /srv)",
    ),
    (
        "ERROR: Could not find a version that satisfies the requirement torch==2.1.0 (from versions: none)",
        "ERROR: Could not find a version that satisfies the requirement torch<3 (from versions: 1.0.0, 2.0, 2.2.0)",
        "ERROR: Could not find a version that satisfies the requirement numpy (from versions: none)",
    ),
    ("E: Unable to locate package libpq-dev", "E: Unable to locate package libssl1.1"),
]


@pytest.mark.parametrize("printed", SAME_UNDER_ANOTHER_WRAPPER)
def test_an_error_is_the_same_under_another_wrapper(printed):
    assert len({one(text).key for text in printed}) == 1


def test_which_package_is_not_there_tells_one_error_from_another_and_so_does_whether_any_version_is():
    for exact in ([one(text).exact for text in texts] for texts in SAME_UNDER_ANOTHER_WRAPPER[-2:]):
        assert len(set(exact)) == len(exact)
    assert one(SAME_UNDER_ANOTHER_WRAPPER[-1][0]).nameless


def test_the_coarse_key_holds_what_differs_in_no_word():
    apart = one("error: expected 3 arguments, found 2"), one("error: expected arguments; found")
    assert apart[0].key != apart[1].key
    assert apart[0].coarse == apart[1].coarse


def test_the_cause_is_blamed_and_the_others_are_told_too():
    java = """Exception in thread "main" org.acme.StartFailed: no start
    at org.acme.Main.main(Main.java:12)
Caused by: java.lang.IllegalStateException: pool is closed
    at com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:197)
    at org.acme.Main.main(Main.java:9)
"""
    found = signatures_in(java)
    assert [each.exception for each in found] == ["IllegalStateException", "StartFailed"]


def test_several_errors_of_one_output_are_told_each_once():
    output = "\n".join(
        [f"src/a{n}.c:{n}:1: error: expected expression before '{{' token" for n in range(50)]
        + ["src/b.c:7:2: error: too few arguments to function call", "2 errors generated."]
    )
    assert len(signatures_in(output)) == 2


def test_a_quiet_output_has_no_signature():
    assert signatures_in("") == ()
    assert signatures_in("\n\n") == ()
    assert signatures_in("12 passed in 3.2s\nDone, 0 errors, 0 warnings") == ()


def test_what_is_known_to_have_failed_has_a_signature_whatever_it_says():
    assert signatures_in("Please come back tomorrow") == ()
    (found,) = signatures_in("Please come back tomorrow", failed=True)
    assert found.template == "Please come back tomorrow"


def test_lines_of_a_log_share_a_template_where_only_their_values_differ():
    first = "Connection from 10.0.0.1:5012 (ann-laptop.example.com) at Fri Jun 17 07:07:00 2005 closed after 12 ms"
    second = "Connection from 192.168.7.3:80 (db2.corp.net) at Mon Jul 04 23:00:09 2011 closed after 3 seconds"
    assert template_of(first) == template_of(second)
    assert template_of(first) != template_of(first.replace("closed", "opened"))


SECRETS = (
    "sk-" + "live1234" * 4,
    "ghp_" + "aB3dE6gH9k" * 4,
    "AKIA" + "ABCDEFGH12345678",
    "xoxb-" + "1234567890-abcdefghij",
    "eyJhbGciOiJI.eyJzdWIiOiIx.dBjftJeZ4CVP" + "mB92K27u",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "told", ["token={}", "Authorization: Bearer {}", "key '{}' was refused", "no {} here", "--token {}"]
)
def test_no_secret_stays_in_a_template(secret, told):
    printed = f"AuthError: {told.format(secret)} failed"
    assert secret not in one(printed).template
    read = one(redact(printed))
    assert secret not in repr(read)


@pytest.mark.parametrize(
    "named", ["password=swordfish", "password: 'swordfish'", 'DB_PASSWORD="swordfish"', "pwd=swordfish;"]
)
def test_no_password_stays_in_a_template(named):
    assert "swordfish" not in one(f"OperationalError: cannot connect with {named}").template


@settings(max_examples=300)
@given(st.text(max_size=2_000))
def test_no_text_makes_it_raise(text):
    assert len(signatures_in(text, failed=True)) <= MOST


@given(
    st.lists(
        st.sampled_from([text for text, _, _ in PRINTED] + ["\x1b[31m", "\r\n", "\ud800", "  at ", "'", "Caused by: "])
    )
)
def test_no_mixture_of_errors_makes_it_raise(parts):
    found = signatures_in("\n".join(parts))
    assert len({each.key for each in found}) == len(found) <= MOST


@pytest.mark.parametrize(
    "piece",
    [
        "'",
        "/a",
        "a.",
        "Error: ",
        "at a.b(",
        ' File "',
        "1",
        "<number>",
        "a_1",
        "x=",
        "\x1b[",
        "Caused by: ",
        "::",
        "a@",
    ],
)
def test_a_hostile_output_takes_no_longer_than_in_proportion(piece):
    for text in (piece * 200_000, (piece * 30 + "\n") * 20_000):
        began = time.perf_counter()
        signatures_in(text, failed=True)
        assert time.perf_counter() - began < 2


def test_a_signature_is_the_same_with_colours_and_line_ends_of_windows():
    plain = one("src/a.ts:3:5 - error TS2304: Cannot find name 'foo'.\nFound 1 error.")
    coloured = one(
        "\x1b[96msrc/b.ts\x1b[0m:\x1b[93m9\x1b[0m:5 - \x1b[91merror\x1b[0m TS2304: Cannot find name 'bar'.\r\n"
    )
    assert plain.key == coloured.key
