"""Dispatches calls to worker threads, and answers hooks in time even if the disk or the model is slow."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import logging
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repertoire.app.clock import now
from repertoire.app.projects.places import has_memory
from repertoire.app.upkeep.background_refresh import RUNS_ALREADY
from repertoire.boot.errors import BootError
from repertoire.boot.heap import return_memory
from repertoire.boot.home import database_path, locate
from repertoire.boot.spool import put_off
from repertoire.domain.errors import CorruptStore, InvalidRequest, NewerStore, RepertoireError, StoreFull
from repertoire.mcp_server.hook_calls import NOTHING, Hook, deferred_use
from repertoire.mcp_server.memory_tools import MEMORY_TOOLS
from repertoire.mcp_server.reply import Reply
from repertoire.mcp_server.server import Handlers, Progress
from repertoire.mcp_server.tool_definitions import TOOLS
from repertoire.mcp_server.worker import StoreCare, Worker

if TYPE_CHECKING:
    from repertoire.domain.event import Event
    from repertoire.mcp_server.work import Answers
    from repertoire.mcp_server.writes import Lesson, Writes

HOOK_SECONDS = 1.5  # the client gives up after 2
MODEL_SECONDS = 0.9  # a first prompt waits so long for the model, then is answered from words
TOOL_MODEL_SECONDS = 20.0
QUIET_SECONDS = 0.5  # pause after a prompt before changes in the store are loaded
LOOK_SECONDS = 600.0  # interval between checks whether a refresh is due
LEAST_ROOM = 65_536  # bytes: with less free space on the disk, the store may have been opened read-only
SETTLE_SECONDS = 2.0  # longest wait of status for events that were just recorded
_TOOLS = {tool.name: tool for tool in (*TOOLS, *MEMORY_TOOLS)}
_LOG = logging.getLogger(__name__)


class Dispatcher:
    """One client's server: two workers, a model that loads beside them, and the ingests that it started."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._complained = ""  # the last message that was logged
        self._rescues: list[str] = []  # results of rescues that no answer has mentioned yet
        care = StoreCare(_place, self._mend)
        self._answering: Worker[Answers] = Worker(self._answers, name="answers", care=care)
        started = now()  # what happened earlier, this process has not heard
        self._writing: Worker[Writes] = Worker(
            lambda: _writes().Writes(environment, started=started), name="writes", care=care
        )
        self._loader = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._loading: asyncio.Future[Any] | None = None
        self._embedder: Any = None
        self._session = ""  # the id of the client's session, which hooks alone tell
        self._looks_at = time.monotonic() + LOOK_SECONDS
        self._refreshing: list[subprocess.Popen[bytes]] = []
        self._watching: subprocess.Popen[bytes] | None = None
        self._doing: set[asyncio.Future[str]] = set()  # keeps running tasks alive: the loop does not
        self._in_order = asyncio.Lock()

    @property
    def handlers(self) -> Handlers:
        """Return the functions that the server calls."""
        return Handlers(tool=self.tool, hook=self.hook, remembers=lambda: has_memory(self._environment))

    async def tool(self, name: str, arguments: Mapping[str, Any], progress: Progress) -> Reply:
        """Answer a tool call.

        Raises:
            RepertoireError: the call cannot be answered; the message says what to do.
        """
        if name == "ingest_repo":
            read: Reply = await _ingesting().ingest(arguments["source"], self._environment, progress)
            await self._refresh()  # a refresh computes the vectors
            return read
        if not _TOOLS[name].read_only:
            return self._told(await self._writing.run(lambda writes: writes.tool(name, arguments, self._session)))
        if _TOOLS[name].needs_model:
            await self._begin()
            await self._load_model(TOOL_MODEL_SECONDS)
        if name == "status":
            if self._doing:
                await asyncio.wait(self._doing, timeout=SETTLE_SECONDS)
            await asyncio.to_thread(self._writing.drain, SETTLE_SECONDS)
        reply = await self._answering.run(lambda answers: self._reply(answers, name, arguments))
        if name == "status":  # its answer reports rescues itself
            self._rescues.clear()
        return self._told(reply)

    def _told(self, reply: Reply) -> Reply:
        """Return the reply; after a rescue, raise its report instead once, since the graph is still empty."""
        if self._rescues:
            raise CorruptStore(self._rescues.pop())
        return reply

    def _mend(self, found: CorruptStore) -> None:
        told = str(importlib.import_module("repertoire.app.health.rescue").mended_home(found, self._environment))
        if told != str(found) or "was damaged" in told:
            _LOG.warning("%s", told)
            self._rescues[:] = [told]

    async def hook(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Answer a hook in time and in any case: a session goes on whatever happens here.

        One that is not done in time is done all the same, without its answer: what happened must not be lost.
        """
        hook = Hook(arguments, time.monotonic() + HOOK_SECONDS)
        self._session = hook.session or self._session
        doing = asyncio.ensure_future(self._hook(name, hook))
        self._doing.add(doing)
        doing.add_done_callback(self._doing.discard)
        try:
            await asyncio.wait([doing], timeout=HOOK_SECONDS)
        except asyncio.CancelledError:  # the client leaves: what waits behind another hook is never begun
            self._hear(name, hook, doing)
            raise
        if not doing.done():
            _LOG.warning("%s had no answer after %.1f s", name, HOOK_SECONDS)
            doing.add_done_callback(self._report)
            self._hear(name, hook, doing)
        elif doing.exception() is None:
            return doing.result()
        else:  # the door: an error must not reach the session
            if isinstance(doing.exception(), NewerStore):  # sessions that began after the update take it in
                self._put_off(name, hook)
            self._complain(doing.exception(), f"{name} failed")
        return NOTHING

    def _hear(self, name: str, hook: Hook, doing: asyncio.Future[str]) -> None:
        """Spool a use until it is processed: a process that ends meanwhile must not lose it."""
        word = self._put_off(name, hook)
        if word is None:
            return

        def drop(done: asyncio.Future[str]) -> None:
            if not done.cancelled() and done.exception() is None:  # cancelled when the client leaves: not processed
                with contextlib.suppress(OSError):
                    word.unlink(missing_ok=True)

        doing.add_done_callback(drop)

    def _put_off(self, name: str, hook: Hook) -> Path | None:
        """Spool a use, and return its file; None for another event, or without room for it, which tools report."""
        row = deferred_use(name, hook, self._environment)
        if row is None:
            return None
        try:
            return put_off(locate(), [row])
        except OSError:
            return None

    async def warm_up(self) -> None:
        """Answer a made-up question, so that a person's first one waits for no import and no cache.

        The store is opened, the model loaded, what questions need compiled; the store is brought up to date beside it.
        """
        await self._begin()
        await self._refresh()
        try:
            if await self._answering.run(lambda answers: answers.wants_model):
                loading = asyncio.ensure_future(self._load_model(TOOL_MODEL_SECONDS))
                await self._answering.run(lambda answers: answers.repertoire.pipeline.prepare())
                await loading
                await self._answering.run(lambda answers: answers.rehearse())
            await self._answering.run(lambda answers: answers.load_tools())
        except Exception as error:  # noqa: BLE001 - the first call reports it
            self._complain(error, "not ready before the first question")
        self._drain()  # a session's start appends too
        await self._watch()

    async def keep_fresh(self) -> None:
        """Start a background refresh when one is due, of frequent calls only some check this; watch the project."""
        await self._watch()
        await self._begin()  # another session may have forgotten everything
        if time.monotonic() >= self._looks_at:
            self._looks_at = time.monotonic() + LOOK_SECONDS
            await self._refresh()

    def tidy(self) -> None:
        """Unload a model unused for long, free memory, and reap the processes of refreshes that have ended."""
        if any(process.poll() == RUNS_ALREADY for process in self._refreshing):
            self._looks_at = time.monotonic()
        self._refreshing = [process for process in self._refreshing if process.poll() is None]
        if self._embedder is not None:
            self._embedder.drop_if_idle(time.monotonic())
        return_memory()  # reading the log again takes many times the memory of its summary

    def _complain(self, error: BaseException | None, what: str) -> None:
        """Log a bug with its traceback, and an error that a person can correct in one line, without repeating it."""
        if not isinstance(error, RepertoireError):
            _LOG.error("%s", what, exc_info=error)
        elif str(error) != self._complained:
            self._complained = str(error)
            _LOG.warning("%s", error)

    def _report(self, done: concurrent.futures.Future[Any] | asyncio.Future[Any]) -> None:
        if not done.cancelled() and done.exception() is not None:
            self._complain(done.exception(), "in the background")

    def finish(self, seconds: float) -> None:
        """Wait at most this long until all events are recorded."""
        until = time.monotonic() + seconds
        self._answering.drain(seconds)
        self._writing.drain(max(until - time.monotonic(), 0.0))

    def close(self) -> None:
        """Finish everything and release the store."""
        self._answering.close()
        self._writing.close()
        self._loader.shutdown()

    async def _hook(self, name: str, hook: Hook) -> str:
        async with self._in_order:  # in order: an event must not be recorded before the late prompt that caused it
            return await self._answered(name, hook)

    async def _answered(self, name: str, hook: Hook) -> str:
        if await self._answering.run(lambda answers: answers.needs_model(name, hook)):
            await self._load_model(MODEL_SECONDS)
        text = await self._answering.run(lambda answers: self._answer(answers, name, hook))
        if name == "hook_prompt":
            asyncio.get_running_loop().call_later(QUIET_SECONDS, self._freshen)
        return text

    def _freshen(self) -> None:
        self._answering.submit(lambda answers: answers.freshen()).add_done_callback(self._report)

    def _answer(self, answers: Answers, name: str, hook: Hook) -> str:
        outcome = answers.hook(name, hook)
        self._log(answers, outcome.events, outcome.lessons)
        return outcome.text

    def _reply(self, answers: Answers, name: str, arguments: Mapping[str, Any]) -> Reply:
        reply, events = answers.tool(name, arguments)
        self._log(answers, events)
        return reply

    def _log(self, answers: Answers, events: Sequence[Event], lessons: Sequence[Lesson] = ()) -> None:
        """Append events to the spool, which the writer drains as soon as it can."""
        if not events and not lessons:
            return
        try:
            answers.spool(events)
        except OSError as error:
            self._complain(StoreFull(f"what happened cannot be recorded in {locate()}: {error.strerror}"), "")
        self._drain(lessons)

    def _drain(self, lessons: Sequence[Lesson] = ()) -> None:
        self._writing.submit(lambda writes: writes.drain(lessons)).add_done_callback(self._report)

    def _answers(self) -> Answers:
        answers: Answers = _work().Answers(self._environment)
        if answers.faults:
            self._complain(InvalidRequest(answers.faults[0]), "")
        self._embedder = answers.repertoire.embedder
        return answers

    async def _begin(self) -> None:
        """Load the shipped catalogue into a new home; a background refresh reads the other sources, soon."""
        try:
            if await self._answering.run(lambda answers: answers.awaits_first_reading()):
                await self._writing.run(lambda writes: writes.begin())
                self._looks_at = time.monotonic()
        except Exception as error:  # noqa: BLE001 - locked, or no space: a refresh will load it, and tools report it
            self._complain(error, "nothing is known yet")

    async def _refresh(self) -> None:
        try:
            started = await self._answering.run(lambda answers: answers.refresh_if_stale())
            if started is None and await self._answering.run(lambda answers: answers.refreshed_by_another()):
                self._looks_at = time.monotonic()  # it reads another project's components, and not this one's
        except Exception as error:  # noqa: BLE001 - the first call reports it
            self._complain(error, "the store cannot be opened")
            return
        if started is not None:
            self._refreshing.append(started)

    async def _watch(self) -> None:
        """Have the project's changes read as they happen, as soon as it has a memory.

        The process ends with this one. One that failed is not started again.
        """
        if self._watching is not None and self._watching.poll() != 0:  # None while it runs
            return
        try:
            self._watching = await self._answering.run(lambda answers: answers.watch())
        except Exception as error:  # noqa: BLE001 - the first call reports it
            self._complain(error, "the project is not watched")

    async def _load_model(self, seconds: float) -> None:
        """Load the model on another thread, and wait at most this long; loading continues after that."""
        if self._embedder is None:
            await self._answering.run(lambda _: None)  # opens the store, which creates the embedder
        if self._embedder is None or self._embedder.loaded:
            return
        if self._loading is None or self._loading.done():
            loop = asyncio.get_running_loop()
            self._loading = loop.run_in_executor(self._loader, self._embedder.embed_queries, ["first"])
            self._loading.add_done_callback(self._report)
        await asyncio.wait([self._loading], timeout=seconds)


def _work() -> Any:
    # Imported late: the store and numpy take a third of a second, and the handshake must not wait for them.
    return importlib.import_module("repertoire.mcp_server.work")


def _ingesting() -> Any:
    return importlib.import_module("repertoire.mcp_server.ingesting")  # as the store: it renders what was read


def _writes() -> Any:
    return importlib.import_module("repertoire.mcp_server.writes")


def _place() -> tuple[int, int, bool, bool] | None:
    """Identify the database file, and tell whether it is empty, and whether the disk has room; None without a file."""
    try:
        path = database_path(locate())
        found = path.stat()
        return found.st_dev, found.st_ino, not found.st_size, shutil.disk_usage(path.parent).free > LEAST_ROOM
    except (OSError, BootError):
        return None
