"""Age, environment and privacy of traces."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.trace import PLACES, Trace
from repertoire.traces.ageing import FLOOR, expired, half_life, recency
from repertoire.traces.environment import align
from repertoire.traces.privacy import without_places

TODAY = date(2026, 6, 1)
WHERE = st.dictionaries(st.sampled_from(PLACES), st.sampled_from(["python 3.12", "python", "node 20", "linux", "0.1"]))


def test_the_fastest_moving_tag_tells_how_fast_a_trace_ages() -> None:
    assert half_life(("postgres", "react")) == 180
    assert half_life(("postgres",)) == 730
    assert half_life(()) == 365


@given(st.dates(date(2000, 1, 1), date(2030, 1, 1)), st.dates(date(2000, 1, 1), date(2030, 1, 1)))
def test_what_is_older_is_never_worth_more_and_never_nothing(one: date, other: date) -> None:
    older, newer = sorted((one, other))
    assert FLOOR <= recency((), f"{older}T", TODAY) <= recency((), f"{newer}T", TODAY) <= 1


def test_a_trace_says_when_it_is_to_be_looked_at_again() -> None:
    assert expired(Trace("k", "t", "c", "s", review_after="2026-06-01"), TODAY)
    assert not expired(Trace("k", "t", "c", "s", review_after="2026-06-02"), TODAY)


@given(WHERE, WHERE)
def test_environments_align_from_nothing_to_all_and_with_themselves_wholly(one, other) -> None:
    assert 0 <= align(one, other).value <= 1
    assert align(one, one).value == 1
    assert align(one, {}).value == 1, "nothing is known against it"


def test_the_same_framework_at_another_major_version_is_told_as_such() -> None:
    found = align(
        {"language": "python 3.12", "framework": "fastapi 0.115"},
        {"language": "python 3.11", "framework": "fastapi 0.128"},
    )
    assert found.different == ("fastapi 0.115, here fastapi 0.128",)
    assert 0.5 < found.value < 1
    assert align({"os": "linux"}, {"os": "windows"}).value == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("File /home/jane.doe/src/app.py, line 3", "File ~/src/app.py, line 3"),
        (r"C:\Users\Jane\app\x.ts:3", r"~\app\x.ts:3"),
        ("at file:///Users/jane/app/x.js", "at ~/app/x.js"),
        ("/srv/acme/billing/main.go failed", "PROJECT/main.go failed"),
        ("connect to db.acme.internal:5432 refused", "connect to [host]:5432 refused"),
        ("dial tcp 10.1.2.3:80 and 192.168.0.1", "dial tcp [address]:80 and [address]"),
        ("/usr/lib/python3/site-packages/x.py at 8.8.8.8 of example.com", None),
        ("/root/.cache/pip", "~/.cache/pip"),
        ("etcd1.corp,etcd2.corp,etcd3.corp fail", "[host],[host],[host] fail"),
        ("a.acme.internal b.acme.internal c.acme.internal.", "[host] [host] [host]."),
        ("/root /root:/root/x", "~ ~:~/x"),
        ("open C:/users/4711/x.txt", "open ~/x.txt"),
        ("GET /users/123/orders and /users/{id}", "GET /users/123/orders and /users/{id}"),
        ("/mnt/c/Users/jane/shop", "~/shop"),
        ("/c/Users/jane/shop", "~/shop"),
        (r"\\wsl$\Ubuntu\home\jane\x and //wsl.localhost/Debian/home/jane", r"~\x and ~"),
        ("gcc -I/home/jane/include -L/home/jane/lib -isystem/home/jane/x", "gcc -I~/include -L~/lib -isystem~/x"),
        ("/var/home/jane/x /usr/home/jane /export/home/jane", "~/x ~ ~"),
        ("~/.claude/projects/-home-jane-shop/a.jsonl", "~/.claude/projects/~/a.jsonl"),
        ("/x/.claude/projects/C--Users-jane-shop", "/x/.claude/projects/~"),
        ("C:/Users/Jane Doe/x", "~/x"),
        (r"C:\Users\jane and D:\data", r"~ and D:\data"),
        ("jane@janes-laptop:~/app$ npm ci", "[host]:~/app$ npm ci"),
        ("[jane@laptop app]$ npm ci", "[[host] app]$ npm ci"),
        ("jane@Janes-MacBook app % npm ci", "[host] app % npm ci"),
        ("git.internal.acme.com and https://jira.corp.acme.co.uk/x", "[host] and https://[host]/x"),
        ("db.localdomain, nas.home.arpa", "[host], [host]"),
        ("[fd00:12:3::1]:80 and fd00::1.", "[[address]]:80 and [address]."),
        ("</root> and /root-ca.pem, /rooted", None),
        ("app.local.json, .env.local, com.acme.internal.util.io, git.internal.example.com, ci.corp.company.com", None),
        ("connect to host.docker.internal:5432", None),
        ("root@localhost:/app# ls, git@github.com:acme/x.git", None),
        ("/srv/home/index.tsx and ~/projects/-home-page", None),
    ],
)
def test_what_tells_whose_machine_it_was_is_taken_out(text: str, shown: str | None) -> None:
    assert without_places(text, "/srv/acme/billing") == (shown or text)
