"""Holds what all questions over one store and model share: readers, options, and caches of the newest snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from repertoire.domain.experience import Experiences
from repertoire.ports import Embedder, GraphReader, PairReader, Reranker
from repertoire.retrieval.binding import ProductBindings
from repertoire.retrieval.direction import Directions
from repertoire.retrieval.gather import Gatherer
from repertoire.retrieval.implied_capabilities import CapabilityScorer, capability_model_for
from repertoire.retrieval.nearest_capabilities import NearestCapabilities
from repertoire.retrieval.need import NeedModel, need_model_for
from repertoire.retrieval.patterns import Patterns
from repertoire.retrieval.plan import Stack
from repertoire.retrieval.priors import Prior, Priors
from repertoire.retrieval.products import Products
from repertoire.retrieval.relevance import PAIR_FILE, RelevanceModel, pair_reading, relevance_model_for
from repertoire.retrieval.similar_requests import RequestHistory
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.snapshot_cache import SnapshotCache
from repertoire.retrieval.stage_reports import TimeLimit


def _no_stack(_project: str) -> Stack:
    return Stack()


def _ageless(_kind: str, _changed: str) -> str:
    return ""


def _harmless(_key: str) -> str:
    return ""


def _sound(keys: Sequence[str]) -> Sequence[tuple[str, ...]]:
    return [()] * len(keys)


@dataclass(frozen=True)
class Options:
    """The options of a pipeline: time limit, project stack, cross-encoders, priors, and notes on hits."""

    pace: TimeLimit = field(default_factory=TimeLimit)
    stack: Callable[[str], Stack] = _no_stack
    reranker: Reranker | None = None
    pair_reader: PairReader | None = None  # the embedder's model, where it reads pairs
    priors: tuple[Prior, ...] = ()
    experiences: Callable[[], Experiences] = dict  # the components that past requests accepted and refused
    aged: Callable[[str, str], str] = _ageless  # returns a note on when a stale component was last changed
    demoted: Callable[[str], str] = _harmless  # returns the evidence on which a component is ranked lower
    troubles: Callable[[Sequence[str]], Sequence[tuple[str, ...]]] = _sound  # returns the known troubles of components
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)  # other words for each capability
    products: Products = field(default_factory=lambda: Products({}))  # products that components may be bound to


class Resources:
    """The readers and caches that stages use beside their run; expensive results are computed once per snapshot.

    Models are loaded for the first question: most commands ask none.
    """

    def __init__(self, graph: GraphReader, embedder: Embedder | None, options: Options) -> None:
        """Build the readers and empty caches; without an embedder, ranking uses words and graph alone."""
        self.graph, self.options = graph, options
        self.gatherer = Gatherer(graph, embedder)
        self.priors = Priors(options.priors)
        self.nearest = NearestCapabilities()
        self._query_encoder = embedder.query_encoder if embedder is not None else ""
        self.bindings = ProductBindings(options.products, options.synonyms)
        self.directions = Directions(options.products)
        self.patterns = SnapshotCache(Patterns)
        self.history = SnapshotCache(lambda snapshot: RequestHistory(snapshot, options.experiences()))

    @cached_property
    def capability_scorer(self) -> CapabilityScorer:
        """How far components provide the capabilities that a question implies."""
        return CapabilityScorer(capability_model_for(self._query_encoder), self.options.synonyms)

    @cached_property
    def need(self) -> NeedModel | None:
        """The model of which questions need a component at all."""
        return need_model_for(self._query_encoder)

    @cached_property
    def relevance(self) -> RelevanceModel | None:
        """The model that grades components by what the stages found."""
        return relevance_model_for(self._query_encoder)

    @cached_property
    def pair_relevance(self) -> RelevanceModel | None:
        """The model that grades components by what the pair encoder says, too."""
        reader = self.options.pair_reader
        pair_encoder = reader.pair_encoder if reader is not None else ""
        return relevance_model_for(pair_reading(self._query_encoder, pair_encoder), PAIR_FILE)

    def read(self, snapshot: Snapshot) -> None:
        """Load the models and fill all caches for a snapshot, if it is not the cached one."""
        _ = self.need, self.relevance, self.pair_relevance  # loaded here, outside of what counts as a question's time
        snapshot.warm()
        self.history.of(snapshot)
        self.patterns.of(snapshot)
        self.priors.read(snapshot)
        self.nearest.read(snapshot)
        self.capability_scorer.read(snapshot)
        self.bindings.read(snapshot)
