"""The simulated users: what they look at, select and tell, through the product's own verbs over a real store.

A user looks at rank r of the first five, or of what a hint names, with probability 1/r, from the top down, and selects
the first that serves, though a task may need several; who finds none uses what serves unaided, half of the time. A
third of the selections get a word: ok where it served, failed where not.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from repertoire.app.ask.search import search
from repertoire.app.measure.labelled import LabelledSet
from repertoire.app.person.feedback import give_feedback
from repertoire.app.session import hook_events
from repertoire.app.session.hint import HintLimits, Offer, offer
from repertoire.app.usage import lessons
from repertoire.app.usage.usage_cache import UsageCache, known_trials
from repertoire.app.wiring import capabilities_in
from repertoire.domain.answer import Answer, Query
from repertoire.domain.component import Component
from repertoire.domain.event import BAD, OK, Moment
from repertoire.learning.selections import Mention
from repertoire.learning.session import SessionState, replay
from repertoire.learning.usage import HALF_LIFE_DAYS, Decay, summarize_usage
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.resources import Options
from repertoire.settings import Settings
from repertoire.store.database import Store

SHOWN, DAYS = 5, 10
SEEN = 3  # selections of a new taste, and more
UNAIDED, TOLD = 0.5, 1 / 3
Asked = Mapping[str, Any]


@dataclass(frozen=True)
class Arm:
    """What users do, and whether it is learned from."""

    learns: bool = True
    wrong: float = 0.0  # this share of the selections is of something else that was looked at or shown
    hinted: bool = False  # users see what a hint names, instead of five search results
    explores: bool = True  # hints name something unseen now and then
    changes: bool = False  # half-way, what half of the components served is served by what else fits there
    late: bool = False  # `new` components are there, and asked for, from half-way on
    popular: bool = False  # half of the questions are what the most wanted component serves


class Remembering:
    """The model, which reads each text once: every round and checkpoint asks the same."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._read: dict[tuple[str, str], Any] = {}
        self._asked: dict[tuple[str, ...], Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return self._all("embed_queries", texts)

    def embed_question(self, text: str, parts: Sequence[str]) -> Any:
        asked = (text, *parts)
        if asked not in self._asked:
            self._asked[asked] = self._embedder.embed_question(text, parts)
        return self._asked[asked]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return self._all("embed_passages", texts) if len(texts) < 16 else self._embedder.embed_passages(texts)

    def _all(self, how: str, texts: Sequence[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if (how, text) not in self._read]
        if new:
            vectors = getattr(self._embedder, how)(new)
            self._read.update(zip([(how, text) for text in new], vectors, strict=True))
        return np.stack([self._read[how, text] for text in texts])


@dataclass
class Corpus:
    """A set with a store that holds its components, the questions by use, and the components without a history."""

    folder: Path
    base: Path
    labelled: LabelledSet
    embedder: Any
    capabilities: Any = field(default_factory=capabilities_in)

    def gold(self, query: Asked) -> set[str]:
        return set(self.labelled.gold.get(query["id"], ()))

    def split(self, name: str) -> list[Asked]:
        found = [query for query in self.labelled.split(name) if self.gold(query)]
        random.Random(0).shuffle(found)
        return found


class World:
    """One machine with its users, from an empty log on."""

    def __init__(self, corpus: Corpus, store: Store, arm: Arm, seed: str) -> None:
        self.corpus, self.store, self.arm = corpus, store, arm
        self.dice = random.Random(seed)
        self.today = datetime(2026, 1, 1, tzinfo=timezone.utc)
        self.swapped: dict[str, str] = {}
        self.hidden: frozenset[str] = frozenset()
        self.selections = 0
        self.needed: Counter[str] = Counter()  # how often each was needed, until it was first shown
        self.shown: set[str] = set()
        self.wanted: Counter[str] = Counter()  # how often each was needed at all
        self.leading: Counter[str] = Counter()  # of what was needed: how often it stood first
        self.since: Counter[str] = Counter()  # by question: how often the new taste was selected for it
        self.met: dict[int, list[bool]] = defaultdict(list)  # whether it came first after so many of these
        self._start()

    def _start(self) -> None:
        """Start the server anew: the leaning is read again also where no request moved the revision."""
        self.use = use = UsageCache(lambda: summarize_usage(known_trials(self.store), Decay(self.at, HALF_LIFE_DAYS)))
        self.pipeline = Pipeline(
            self.store.graph,
            self.store.vectors,
            embedder=self.corpus.embedder,
            capabilities=self.corpus.capabilities,
            options=Options(priors=(use.prior,), experiences=use.experiences, demoted=use.demoted),
        )

    @property
    def at(self) -> str:
        return self.today.strftime("%Y-%m-%dT%H:%M:%SZ")

    def ask(self, query: Asked, limit: int) -> Answer:
        return search(self.pipeline, Query(query["text"], limit=limit), muted=self.hidden)

    def serves(self, query: Asked) -> set[str]:
        return {self.swapped.get(one, one) for one in self.corpus.gold(query)}

    def round(self, queries: Sequence[Asked]) -> None:
        """Let users ask and see at the same time, then select and tell, each in a session of their own."""
        names = [f"{self.at} {number}" for number in range(len(queries))]
        seen = [self._shown(name, query) for name, query in zip(names, queries, strict=True)]
        for name, query, shown in zip(names, queries, seen, strict=True):
            self._session(name, query, shown)
        self.today += timedelta(days=DAYS)
        self._start()

    def _shown(self, session: str, query: Asked) -> Offer:
        if not self.arm.hinted:
            answer = self.ask(query, SHOWN)
            return Offer(answer.hits, answer.confidence)
        looks = self.use.looks() if self.arm.explores else {}
        limits = HintLimits(muted=self.hidden, session=session, weary=self.use.weary(), looks=looks)
        return offer(self.pipeline, query["text"], limits)

    def _session(self, name: str, query: Asked, seen: Offer) -> None:
        moment, settings = Moment(self.at, name, "/simulated"), Settings()
        request = lessons.open_request(query["text"], settings)
        shown, serving = [hit.component.id for hit in seen.hits], self.serves(query)
        self._count(shown, serving)
        chosen = self._selected(shown, serving)
        if serving != self.corpus.gold(query):
            self.met[min(self.since[query["id"]], SEEN)].append(bool(serving.intersection(shown[:1])))
            self.since[query["id"]] += chosen in serving
        self.selections += bool(chosen)
        if request is None or not self.arm.learns:
            return
        with self.store.transaction():
            asked = hook_events.asked(request, moment, settings)
            self.store.events.append([asked, *hook_events.offered(seen, moment, request.key)])
            if chosen:
                component = self._component(chosen)
                mention = Mention((component.type,), (("", component.name),), component.name)
                events = hook_events.selected(self.store, mention, moment, self._state(name))
                self.store.events.append(events)
                vector = self.corpus.embedder.embed_queries([request.text])[0]
                lesson = lessons.Lesson(request, events[0].node, moment, vector, self.corpus.embedder.query_encoder)
                lessons.learn(self.store, lesson, settings)
                if self.dice.random() < TOLD:
                    give_feedback(self.store, chosen, OK if chosen in serving else BAD, moment=moment)
            self.store.events.append(hook_events.closed(moment, self._state(name)))

    def _state(self, session: str) -> SessionState:
        return replay(self.store.events.recent(session=session, limit=50)[::-1])

    def _component(self, key: str) -> Component:
        stored = self.store.graph.by_key(key)
        if stored is None:
            message = f"{key} is not in the store"
            raise KeyError(message)
        return stored.component

    def _count(self, shown: Sequence[str], serving: set[str]) -> None:
        self.needed.update(serving - self.shown)
        self.shown |= serving & set(shown)
        self.wanted.update(serving)
        self.leading.update(serving & set(shown[:1]))

    def _selected(self, shown: Sequence[str], serving: set[str]) -> str:
        looked = [one for rank, one in enumerate(shown, 1) if self.dice.random() < 1 / rank]
        found = next((one for one in looked if one in serving), "")
        there = sorted(serving - self.hidden)
        if not found and there and self.dice.random() < UNAIDED:
            found = self.dice.choice(there)
        if found and self.dice.random() < self.arm.wrong:
            others = [one for one in (looked or shown) if one not in serving] or [o for o in shown if o not in serving]
            found = self.dice.choice(others) if others else found
        return found

    def change_taste(self, among: Sequence[str], questions: Sequence[Asked], dice: random.Random) -> None:
        """Let half of these components be replaced, in what users want, by what else fits best where they serve."""
        rivals: dict[str, Counter[str]] = defaultdict(Counter)
        for query in questions:
            gold, asked = self.corpus.gold(query), Query(query["text"], limit=SHOWN, without=frozenset({"learning"}))
            for rank, hit in enumerate(search(self.pipeline, asked).hits, 1):
                for one in gold if hit.component.id not in gold else ():
                    rivals[one][hit.component.id] += 1 / rank
        changing = dice.sample(sorted(among), len(among) // 2)
        self.swapped = {one: rivals[one].most_common(1)[0][0] for one in changing if rivals[one]}

    def first(self, queries: Sequence[Asked]) -> float:
        """Return in how many of 100 answers what comes first serves."""
        found = [self.ask(query, 1).hits[0].component.id in self.serves(query) for query in queries]
        return round(100.0 * mean(found), 2) if found else 0.0

    def measure(self, dev: Sequence[Asked], lone: Sequence[Asked], new: set[str], popular: str) -> dict[str, float]:
        """Ask dev questions, and others (`lone`) that need what has no history."""
        hidden, self.hidden = self.hidden, frozenset()
        rows = [(self.serves(q), [h.component.id for h in self.ask(q, 10).hits], self.corpus.gold(q)) for q in dev]
        alone = [(self.corpus.gold(q) & new, [h.component.id for h in self.ask(q, 10).hits]) for q in lone]
        self.hidden = hidden
        figures = {
            "Hit@1": [found[0] in gold for gold, found, _ in rows if found],
            "R@5": [len(gold & set(found[:5])) / len(gold) for gold, found, _ in rows],
            "Hit@1 where taste changed": [found[0] in gold for gold, found, old in rows if old & set(self.swapped)],
            "R@5 of what has no history": [len(gold & set(found[:5])) / len(gold) for gold, found in alone],
            "popular before what serves": [
                _first(found, popular, gold) for gold, found, _ in rows if popular not in gold
            ],
        }
        return {name: round(100.0 * mean(map(float, values)), 2) for name, values in figures.items() if values}


def _first(found: Sequence[str], popular: str, gold: set[str]) -> bool:
    return popular in found and not gold & set(found[: found.index(popular)])
