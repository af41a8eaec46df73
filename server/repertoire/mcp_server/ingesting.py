"""Runs an ingest in a niced, killable process of its own, so that the server stays responsive to other calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio

from repertoire.boot.layout import command
from repertoire.domain.component import IngestReport, Skipped
from repertoire.domain.errors import SourceError
from repertoire.domain.text import clean_line
from repertoire.mcp_server.own_files import restart_due
from repertoire.mcp_server.reply import Reply
from repertoire.rendering.sources import ingest_text

BEAT_SECONDS = 2.0  # longest time between progress messages: a client may give up on a silent call
NICENESS = 10
GRACE_SECONDS = 2.0
_LINE_BYTES = 1 << 26  # the longest line: the report is one line and lists every skipped file

Progress = Callable[[float, str], Awaitable[None]]


async def ingest(source: str, environment: Mapping[str, str], progress: Progress) -> Reply:
    """Ingest a source that a model named; cancelling the call ends the process and leaves the store unchanged.

    Raises:
        SourceError: the source was refused or could not be read.
    """
    process = await _started(source, environment)
    with contextlib.suppress(OSError, AttributeError):  # the process has ended already, or the platform has no niceness
        os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
    try:
        output, errors = await _followed(process, source, progress)
    except BaseException:
        await _end(process)
        raise
    if process.returncode != 0:
        raise SourceError(
            restart_due() or _last_line(errors) or f"reading {clean_line(source, 200)} failed without saying why"
        )
    return _reply(output)


async def _started(source: str, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command(Path(sys.executable), "repertoire", "ingest", "--json", "--untrusted", "--", source),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,  # a process group, so that a git it starts ends with it
            limit=_LINE_BYTES,
        )
    except (OSError, ValueError) as error:  # the address is too long for an argument, or contains a NUL
        reason = getattr(error, "strerror", None) or error
        message = f"{clean_line(source, 80)!r} cannot be read ({reason}); send a folder or the address of a repository"
        raise SourceError(restart_due() or message) from error


async def _followed(process: asyncio.subprocess.Process, source: str, progress: Progress) -> tuple[bytes, list[str]]:
    start, said = time.monotonic(), [f"reading {clean_line(source, 120)}"]
    errors: list[str] = []

    async def listen() -> None:
        assert process.stderr is not None  # noqa: S101 - asked for above
        async for line in process.stderr:
            text = clean_line(line.decode("utf-8", "replace"), 300)
            if text:
                errors.append(text)
                said[0] = text

    async def beat() -> None:
        while True:
            seconds = time.monotonic() - start
            await progress(round(seconds, 1), f"{said[0]} ({seconds:.0f} s)")
            await anyio.sleep(BEAT_SECONDS)

    assert process.stdout is not None  # noqa: S101 - asked for above
    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        listener = asyncio.ensure_future(listen())
        output = await process.stdout.read()
        await listener
        await process.wait()
        group.cancel_scope.cancel()
    return output, errors


async def _end(process: asyncio.subprocess.Process) -> None:
    with anyio.CancelScope(shield=True):
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            if process.returncode is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                if sys.platform == "win32":
                    process.kill()
                else:
                    os.killpg(process.pid, number)
            with anyio.move_on_after(GRACE_SECONDS):
                await process.wait()


def _last_line(errors: list[str]) -> str:
    return errors[-1].removeprefix("repertoire: ") if errors else ""


def _reply(output: bytes) -> Reply:
    try:
        told = json.loads(output)
    except ValueError as error:
        message = "the ingest ended well but its report cannot be read; status shows what is known now"
        raise SourceError(message) from error
    reports = [_report(item) for item in (told if isinstance(told, list) else [told])]
    return Reply(ingest_text(reports), {"sources": [_counts(report) for report in reports]})


def _report(told: Mapping[str, Any]) -> IngestReport:
    return IngestReport(
        source=str(told.get("source", "")),
        components=int(told.get("components", 0)),
        changed=int(told.get("changed", 0)),
        unchanged=int(told.get("unchanged", 0)),
        removed=int(told.get("removed", 0)),
        skipped=tuple(Skipped(str(item["path"]), str(item["reason"])) for item in told.get("skipped", ())),
        seconds=float(told.get("seconds", 0.0)),
        warnings=tuple(map(str, told.get("warnings", ()))),
    )


def _counts(report: IngestReport) -> dict[str, Any]:
    return {
        "source": report.source,
        "components": report.components,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "skipped": len(report.skipped),
        "seconds": round(report.seconds, 2),
    }
