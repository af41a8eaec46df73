"""Who may do what in which community, as a table over every route, and the same in the database itself."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
import psycopg
import pytest

from commons.conftest import Server
from commons.test_server import ALL, VITE
from repertoire.commons.migrations import ROLE

WORD = "zanzibar"  # in every text of the one community, in none of the other
HOME = {**VITE, "title": f"vite build is killed in {WORD}", "context": f"exit code 137 {WORD}", "tags": [WORD]}


@dataclass(frozen=True)
class Keys:
    """Keys of the community that has something, and of another that must see nothing of it."""

    trace: str
    of: dict[str, str]


@pytest.fixture(scope="module")
def keys(server: Server) -> Keys:
    home = server.key("home", "ann", *ALL)
    stranger = server.key("elsewhere", "eve", *ALL)
    with server.client(home) as ann:
        trace = ann.post("/traces", json=HOME).json()["id"]
        ann.post(f"/traces/{trace}/votes", json={"vote": "up", "note": WORD})
        single = {
            scope: ann.post("/keys", json={"member": f"only-{scope}", "scopes": [scope]}).json()["key"] for scope in ALL
        }
    wrong = home[:-1] + ("A" if home[-1] != "A" else "B")
    swapped = home.replace("_home_", "_elsewhere_")
    made_up = {"nobody": "", "wrong": wrong, "swapped": swapped, "long": "rpc_" + "a" * 5_000, "odd": "rpc_';--_x_y"}
    return Keys(trace, {**single, **made_up, "stranger": stranger})


NO_PACK = "0" * 64
NAMES = (("/users/ann", "/users/{member}"), ("nobody", "{member}"), (NO_PACK, "{pack}"))  # of parameters
ROUTES = [
    ("GET", "/traces/search?q=vite", "read", 200, None),
    ("GET", "/traces/{trace}", "read", 200, None),
    ("GET", "/changes", "read", 200, None),
    ("GET", "/tags", "read", 200, None),
    ("GET", "/use", "read", 200, None),
    ("PUT", "/use/own", "contribute", 200, {"components": [WORD]}),
    ("DELETE", "/use/own", "contribute", 204, None),
    ("GET", "/statistics", "read", 200, None),
    ("GET", "/statistics/components", "read", 200, None),
    ("PUT", "/statistics/components/own", "contribute", 200, {"used": [WORD], "outcomes": {WORD: "worked"}}),
    ("DELETE", "/statistics/components/own", "contribute", 204, None),
    ("GET", "/packs", "read", 200, None),
    ("GET", f"/packs/{NO_PACK}", "read", 404, None),
    ("PUT", f"/packs/{NO_PACK}", "contribute", 422, {"no": WORD}),
    ("DELETE", f"/moderation/packs/{NO_PACK}", "moderate", 404, None),
    ("GET", "/users/ann/reputation", "read", 200, None),
    ("POST", "/traces", "contribute", 202, HOME),
    ("PATCH", "/traces/{trace}", "contribute", 403, {"solution": f"other {WORD}"}),
    ("POST", "/traces/{trace}/votes", "vote", 200, {"vote": "up"}),
    ("POST", "/traces/{trace}/flags", "vote", 200, {"reason": WORD}),
    ("GET", "/moderation/flagged", "moderate", 200, None),
    ("POST", "/moderation/traces/{trace}/restore", "moderate", 204, None),
    ("GET", "/moderation/bans", "moderate", 200, None),
    ("PUT", "/moderation/bans/nobody", "moderate", 404, {"reason": WORD}),
    ("GET", "/audit", "admin", 200, None),
    ("POST", "/keys", "admin", 201, {"member": "new", "scopes": ["read"]}),
    ("GET", "/keys/self", "", 200, None),
]


@pytest.mark.parametrize(("method", "path", "scope", "status", "body"), ROUTES, ids=lambda value: str(value)[:40])
def test_a_route_answers_keys_of_its_scope_alone_and_nothing_of_one_community_to_another(  # noqa: PLR0917
    server: Server,
    keys: Keys,
    method: str,
    path: str,
    scope: str,
    status: int,
    body: object,
):
    path = path.format(trace=keys.trace)

    def ask(who: str) -> httpx.Response:
        with server.client(keys.of[who]) as client:
            return client.request(method, path, json=body)

    for who in ("nobody", "wrong", "swapped", "long", "odd"):
        assert ask(who).status_code == 401, who
    for who in ALL:
        assert ask(who).status_code == (status if who == scope or not scope else 403), who
    if method == "GET" or keys.trace in path:
        answer = ask("stranger")
        assert WORD not in answer.text
        assert keys.trace not in answer.text.replace(f"no trace '{keys.trace}'", "")
        assert answer.status_code == (404 if keys.trace in path or NO_PACK in path else 200)


def test_every_route_is_in_the_table(server: Server):
    listed = {
        (
            method,
            path.split("?")[0]
            .replace("/users/ann", "/users/{member}")
            .replace("nobody", "{member}")
            .replace(NO_PACK, "{pack}"),
        )
        for method, path, *_ in ROUTES
    }
    described = {
        (method.upper(), path.removeprefix("/api/v1"))
        for path, methods in httpx.get(f"{server.url}/openapi.json").json()["paths"].items()
        if path.startswith("/api/v1")
        for method in methods
    }
    others = {
        ("POST", "/keys/{key_id}/rotate"),
        ("DELETE", "/keys/{key_id}"),
        ("DELETE", "/moderation/traces/{trace}"),
        ("DELETE", "/moderation/bans/{member}"),
    }
    assert described == listed | others  # the others have tests of their own


TABLES = ["community", "member", "api_key", "trace", "trace_signature", "vote", "flag"]
TABLES += ["rate", "idempotent", "audit", "ban", "word_count", "posting", "pack"]
TABLES += ["tag_count"] + [f"{name}_{part}" for name in ("use", "offer", "outcome") for part in ("report", "release")]


@pytest.mark.parametrize("table", TABLES)
def test_the_database_itself_shows_a_community_its_own_rows_alone(server: Server, keys: Keys, table: str):
    assert keys.trace
    with psycopg.connect(server.database, autocommit=True) as connection:
        connection.execute(f"SET ROLE {ROLE}")
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        for community, other in (("home", "elsewhere"), ("elsewhere", "home")):
            connection.execute("SELECT set_config('repertoire.community', %s, false)", (community,))
            seen = connection.execute(f"SELECT DISTINCT community FROM {table}").fetchall()
            assert seen in ([], [(community,)])
            changed = connection.execute(f"UPDATE {table} SET community = community WHERE community = %s", (other,))
            assert changed.rowcount == 0
            assert connection.execute(f"DELETE FROM {table} WHERE community = %s", (other,)).rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO community (community, created) VALUES ('third', '')")


def test_what_lists_communities_sees_no_other_row_and_changes_none(server: Server, keys: Keys):
    assert keys.trace
    with psycopg.connect(server.database, autocommit=True) as connection:
        connection.execute(f"SET ROLE {ROLE}")
        connection.execute("SELECT set_config('repertoire.listing', 'communities', false)")
        listed = {name for (name,) in connection.execute("SELECT community FROM community")}
        assert {"home", "elsewhere"} <= listed
        for table in TABLES:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (
                len(listed) * (table == TABLES[0]),
            )
            assert connection.execute(f"UPDATE {table} SET community = community").rowcount == 0
            assert connection.execute(f"DELETE FROM {table}").rowcount == 0


def test_every_table_with_a_community_is_behind_row_level_security(server: Server):
    with psycopg.connect(server.database) as connection:
        rows = connection.execute(
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c JOIN pg_attribute a "
            "ON a.attrelid = c.oid WHERE a.attname = 'community' AND c.relkind = 'r' ORDER BY 1"
        ).fetchall()
    assert rows == [(table, True) for table in sorted(TABLES)]


def test_every_key_begins_with_the_community_and_no_number_is_counted_over_all_of_them(server: Server):
    """So that a table can be split by community, over partitions or machines."""
    with psycopg.connect(server.database) as connection:
        keys = connection.execute(
            "SELECT c.conrelid::regclass::text, c.contype::text, a.attname FROM pg_constraint c "
            "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
            "WHERE c.contype IN ('p', 'u', 'f') AND c.conrelid::regclass::text = ANY(%s)",
            (TABLES,),
        ).fetchall()
        counted = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ANY(%s) "
            "AND (column_default LIKE 'nextval%%' OR is_identity = 'YES')",
            (TABLES,),
        ).fetchall()
    assert {table for table, kind, _ in keys if kind == "p"} == set(TABLES)
    assert {first for _, _, first in keys} == {"community"}
    assert counted == []
