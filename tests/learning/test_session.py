"""The state of a session, folded from its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.event import ASKED, CLOSED, COMPACTED, FAILED, OFFERED, SELECTED
from repertoire.learning.session import SessionState, replay


@dataclass(frozen=True)
class Happening:
    kind: str
    request: str = ""
    node: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


def test_a_new_session_has_seen_nothing() -> None:
    assert replay([]) == SessionState()


def test_what_was_offered_or_used_counts_as_seen() -> None:
    session = replay([Happening(OFFERED, node="a"), Happening(SELECTED, node="b")])
    assert session.seen == {"a", "b"}


def test_a_compaction_forgets_offers_but_not_use() -> None:
    session = replay([Happening(OFFERED, node="a"), Happening(SELECTED, node="b"), Happening(COMPACTED)])
    assert session.seen == {"b"}


def test_the_last_prompt_is_open_until_it_is_closed() -> None:
    asked = [Happening(ASKED, "r1", data={"prompt": "one"}), Happening(ASKED, "r2", data={"prompt": "two"})]
    assert (replay(asked).request, replay(asked).prompt) == ("r2", "two")
    assert replay([*asked, Happening(CLOSED, "r2")]).request == ""


def test_only_the_open_request_has_selections() -> None:
    first = [Happening(ASKED, "r1"), Happening(SELECTED, "r1", "a")]
    assert replay(first).selected == {"a"}
    assert replay([*first, Happening(ASKED, "r2")]).selected == frozenset()


def test_a_component_fails_until_its_next_use_in_the_request() -> None:
    used = [Happening(ASKED, "r1"), Happening(SELECTED, "r1", "a")]
    failed = [*used, Happening(FAILED, "r1", "a")]
    assert [replay(events).failing for events in (used, failed)] == [frozenset(), {"a"}]
    assert replay(failed).selected == {"a"}
    assert replay([*failed, Happening(SELECTED, "r1", "a")]).failing == frozenset()
    assert replay([*failed, Happening(ASKED, "r2")]).failing == frozenset()


EVENTS = st.lists(
    st.builds(
        Happening,
        st.sampled_from([ASKED, OFFERED, SELECTED, CLOSED, COMPACTED, "failed", "gap"]),
        st.sampled_from(["r1", "r2"]),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=20,
)


@given(EVENTS)
def test_reading_the_log_twice_changes_nothing_about_what_was_seen(events: list[Happening]) -> None:
    assert replay(events).seen <= {event.node for event in events}
    assert replay([*events, *events[-1:]]).seen == replay(events).seen
