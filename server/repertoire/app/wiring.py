"""Opens the home and builds its store, model and pipeline; the only module that chooses concrete classes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from repertoire.app.clock import today
from repertoire.app.commons.team_use import team_use
from repertoire.app.current_project import current_project
from repertoire.app.kernel import Repertoire, aged_in, ageing_of
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.sources.soundness import Troubles
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.app.traces.cache import TraceCache
from repertoire.app.usage.usage_cache import UsageCache, usage
from repertoire.boot import home as homes
from repertoire.boot.errors import BootError
from repertoire.catalogue import products, reading
from repertoire.catalogue.profile import read_profile
from repertoire.domain.errors import CorruptStore, ModelUnavailable, StoreReadOnly
from repertoire.domain.event import AT_ONCE_KINDS
from repertoire.inference.embedder import IdleEmbedder
from repertoire.inference.reranker import LocalReranker
from repertoire.inference.weights import find, find_all
from repertoire.learning.usage import Usage
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import Capabilities, Stack
from repertoire.retrieval.priors import usual_priors
from repertoire.retrieval.products import Products
from repertoire.retrieval.resources import Options
from repertoire.retrieval.stage_reports import TimeLimit
from repertoire.retrieval.translation import english_of
from repertoire.settings import Settings, load
from repertoire.store.database import Store
from repertoire.store.graph_file import HOME_FILE, GraphFile
from repertoire.store.pack_file import PackStore
from repertoire.store.project_file import ProjectStore
from repertoire.store.text_file import TEXT_FILE

_PROJECTS = 16  # the cache holds the technology stacks of so many projects
_STACK_S = 60  # for which a stack is cached: a session adds the packages that the next question is about


@contextmanager
def open_repertoire(
    folder: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    read_only: bool = False,
) -> Iterator[Repertoire]:
    """Open the home, created if it does not exist, and close it at the end of the block.

    Its settings are read, unless they are given.

    Raises:
        RepertoireError: the settings or the database cannot be used.
    """
    home = folder or find_home()
    settings = settings or load(home, os.environ if environment is None else environment)
    embedder, degraded = open_embedder(home, settings)
    with (
        _repairing(home, settings, read_only=read_only),
        Store.open(homes.database_path(home), read_only=read_only) as store,
    ):
        if store.read_only and not read_only:
            degraded = (*degraded, f"{home} cannot be written: nothing is recorded")
        if store.stale:
            degraded = (*degraded, "the database's log cannot be read from here: the newest data is missing")
        with _closing_shelves(build_repertoire(home, settings, store, embedder, degraded)) as opened:
            yield opened


def build_repertoire(
    home: Path, settings: Settings, store: Store, embedder: IdleEmbedder | None, degraded: tuple[str, ...] = ()
) -> Repertoire:
    """Build the opened home over an open store, with the same priors, data and limits for every answer."""
    use = UsageCache(
        lambda: current_usage(store, settings),
        size=store.events.size,
        said=lambda: store.events.count(*AT_ONCE_KINDS),
        team=lambda: team_use(home),
    )
    troubles = Troubles(store, ageing_of(settings), unwanted=lambda: use.harmful() | store.preferences.silent())
    reranker = open_reranker(home, settings)
    pipeline = Pipeline(
        store.graph,
        store.vectors,
        embedder=embedder,
        capabilities=capabilities_in(),
        options=replace(
            shipped(),
            pace=TimeLimit(budget_ms=settings.query_ms),
            stack=stack_in(),
            reranker=reranker,
            pair_reader=embedder,
            priors=(*usual_priors(today, ageing=ageing_of(settings)), use.prior, troubles.prior),
            aged=aged_in(ageing_of(settings)),
            experiences=use.experiences,
            demoted=use.demoted,
            troubles=troubles.said_of,
        ),
    )
    packs = PackShelf(packs_folder(home), open_pack_file)
    projects = ProjectShelf(home, open_project)
    return Repertoire(
        home, settings, store, embedder, pipeline, use, troubles, TraceCache(store), packs, projects, reranker, degraded
    )


@contextmanager
def _closing_shelves(opened: Repertoire) -> Iterator[Repertoire]:
    try:
        yield opened
    finally:
        opened.packs.close()
        opened.projects.close()


def open_pack_file(path: Path) -> PackStore:
    """Open the file of a pack to read."""
    return PackStore.open(path)


def open_new_pack(path: Path) -> PackStore:
    """Open a new pack for writing."""
    return PackStore.new(path)


def open_project(path: Path) -> ProjectStore:
    """Open the memory of a project for writing; one that is damaged is mended first.

    Raises:
        CorruptStore: it was damaged; says what was recovered.
    """
    try:
        return ProjectStore.open(path, english=english_of)
    except CorruptStore as error:
        from repertoire.app.health.rescue import mended_memory  # noqa: PLC0415 - hardly ever needed

        raise mended_memory(path, error) from error


@contextmanager
def open_temporary() -> Iterator[Repertoire]:
    """Open a temporary empty store with the same parts as a home, and delete it at the end of the block."""
    home = find_home()
    settings = load(home, os.environ)
    embedder, degraded = open_embedder(home, settings)
    with (
        _temporary_store(HOME_FILE) as store,
        _closing_shelves(build_repertoire(home, settings, store, embedder, degraded)) as opened,
    ):
        yield opened


def open_texts() -> AbstractContextManager[Store]:
    """Open a temporary empty text index that is deleted at the end of the block."""
    return _temporary_store(TEXT_FILE)


@contextmanager
def _temporary_store(file: GraphFile) -> Iterator[Store]:
    with (
        tempfile.TemporaryDirectory(prefix="repertoire-eval-") as folder,
        Store.open(Path(folder) / "eval.db", file=file) as store,
    ):
        yield store


@contextmanager
def _repairing(home: Path, settings: Settings, *, read_only: bool) -> Iterator[None]:
    """Repair the database if the block finds it damaged, and raise the error that reports the repair."""
    try:
        yield
    except CorruptStore as error:
        if read_only:
            raise
        from repertoire.app.health.rescue import mended  # noqa: PLC0415 - hardly ever needed

        raise mended(home, settings, error) from error


def current_usage(store: Store, settings: Settings) -> Usage:
    """Return the usage of components from the log; trials in the current project count most."""
    return usage(store, half_life=settings.memory_days, project=current_project())


def find_home() -> Path:
    """Return the home folder, created if it does not exist.

    Raises:
        StoreReadOnly: the folder can neither be found nor created.
    """
    try:
        return homes.home()
    except BootError as error:
        raise StoreReadOnly(str(error)) from error


def open_embedder(home: Path, settings: Settings) -> tuple[IdleEmbedder | None, tuple[str, ...]]:
    """Return the configured embedder, which loads on first use, and no notes; or None and a note with the reason."""
    try:
        weights = find(settings.model, cache=home / "models")
    except ModelUnavailable as error:
        return None, (f"no vectors: {error}",)
    return IdleEmbedder(weights, threads=settings.threads), ()


def open_all_embedders(home: Path, settings: Settings) -> tuple[IdleEmbedder, ...]:
    """Return an embedder for each model on this machine, configured or not; each loads on first use."""
    return tuple(IdleEmbedder(weights, threads=settings.threads) for weights in find_all(home / "models"))


def open_reranker(home: Path, settings: Settings) -> LocalReranker | None:
    """Return the configured cross-encoder, which loads on first use; None where none is configured.

    A name such as `Xenova/ms-marco-MiniLM-L-6-v2` that is no folder is looked for among the models of the home.
    """
    if not settings.rerank_model:
        return None
    folder = Path(settings.rerank_model).expanduser()
    named = home / "models" / settings.rerank_model.replace("/", "--")
    return LocalReranker(named if named.is_dir() and not folder.is_dir() else folder, threads=settings.threads)


def capabilities_in() -> Capabilities:
    """Return a function that finds the capabilities in a text, with the same vocabulary as ingestion."""
    return lambda text: tuple(shipped_vocabulary().count(text))


@cache
def shipped() -> Options:
    """Return the pipeline options from the shipped catalogue, read once a process: synonyms, and products."""
    synonyms = {name: known.synonyms for name, known in reading.load().capabilities.items()}
    return Options(synonyms=synonyms, products=Products(products.load()))


def stack_in() -> Callable[[str], Stack]:
    """Return a function that reads a project's technology stack from its manifests and caches it for a minute."""
    signals = reading.load().signals

    @lru_cache(maxsize=_PROJECTS)
    def stack_at(project: str, _minute: int) -> Stack:
        profile = read_profile(project, signals)
        # without a known technology, no technology is known to be absent either
        return Stack(frozenset(profile.terms), profile.absent if profile.terms else frozenset())

    return lambda project: stack_at(project, int(time.monotonic() // _STACK_S))
