"""The commons' own commands, in its environment; the command line starts them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import click
import psycopg
import uvicorn
from psycopg.conninfo import make_conninfo

from repertoire.app.commons.errors import NoDatabase
from repertoire.app.wiring import find_home, open_all_embedders, open_embedder
from repertoire.boot.interrupts import raise_on_interrupt
from repertoire.boot.listener import AddressNotAvailable, listen, written
from repertoire.commons import backfill, jobs, local_postgres
from repertoire.commons.database import Database
from repertoire.commons.dead_jobs import dead_jobs, retry
from repertoire.commons.keys import CONTRIBUTE, DAYS, READ, SCOPES, TIERS, USUAL, VOTE, Keys, NewKey, read_pepper
from repertoire.commons.logs import start_logging
from repertoire.commons.migrations import migrate
from repertoire.commons.models import Models
from repertoire.commons.patience import PatientProtocol, client_seconds
from repertoire.commons.server import build
from repertoire.domain.errors import InvalidRequest, RepertoireError
from repertoire.settings import load

_DEV_COMMUNITY, _DEV_MEMBER = "dev", "admin"
PASSWORD_FILE = "REPERTOIRE_COMMONS_PASSWORD_FILE"  # noqa: S105 - the name of a variable
_LOOK_S = 2.0  # between two looks at a backfill
GRACE_S = 30  # after a signal to stop, requests that run have so long to end
_dev = click.option("--dev", is_flag=True)


@click.group()
def main() -> None:
    """Run a part of a commons."""


@main.command("serve")
@_dev
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=int, default=8392)
def serve_command(dev: bool, host: str, port: int) -> None:  # noqa: FBT001
    """Serve the REST door; with `dev`, a PostgreSQL and a worker too."""
    home = find_home()
    database, models = _open(home, dev=dev)
    PatientProtocol.seconds = client_seconds()
    app = build(database, _pepper(home), models, working=dev)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    listener = listen(host, port)
    if dev:
        click.echo(f"key of {_DEV_MEMBER} in the community {_DEV_COMMUNITY}: {_dev_key(home, database)}")
    click.echo(f"http://{written(host)}:{listener.getsockname()[1]}")
    sys.stdout.flush()
    # The server ends in order and then raises the signal again: at its default, nothing would stop PostgreSQL.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    uvicorn.Server(config).run([listener])


@main.command("work")
@_dev
def work_command(dev: bool) -> None:  # noqa: FBT001
    """Embed contributions until stopped."""
    database, models = _open(find_home(), dev=dev)
    if not models:
        models.configured()  # raises what is wrong with it
    asyncio.run(_work(database, models))


@main.command("key")
@_dev
@click.argument("community")
@click.argument("member")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--scope", "scopes", multiple=True, default=(READ, CONTRIBUTE, VOTE))
@click.option("--days", type=int, default=DAYS)
@click.option("--tier", type=click.Choice(TIERS), default=USUAL)
def key_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    dev: bool,  # noqa: FBT001
    community: str,
    member: str,
    file: Path,
    scopes: tuple[str, ...],
    days: int,
    tier: str,
) -> None:
    """Write a new key into a new file for this user alone."""
    if file.exists():
        message = f"{file} exists: name a file that does not, so that nothing in it is lost"
        raise InvalidRequest(message)
    home = find_home()
    database, _ = _open(home, dev=dev)
    made = _make_key(home, database, (community, member), scopes, days, tier)
    _write_key(file, made)
    click.echo(f"{file}: key {made.id} of {member} in {community}, {', '.join(made.scopes)}, until {made.expires}")


@main.command("jobs")
@_dev
@click.option("--retry", "chosen", default="")
def jobs_command(dev: bool, chosen: str) -> None:  # noqa: FBT001
    """List the dead jobs, or queue one or all of them again."""
    database, _ = _open(find_home(), dev=dev)
    database.open()
    try:
        dead = dead_jobs(database)
        asked = [job for job in dead if chosen in {"all", str(job.id)}]
        if chosen and not asked and chosen != "all":
            message = f"there is no dead job {chosen!r}; `repertoire commons jobs` lists them"
            raise InvalidRequest(message)
        retry(database, asked)
    finally:
        database.close()
    for job in [] if chosen else dead:
        click.echo(f"{job.id}  {job.community}  {job.trace}  tried {job.attempts} times")
    told = f"{len(asked)} jobs are queued again" if chosen else f"{len(dead)} dead jobs; --retry ID or all queues again"
    click.echo(told)


@main.command("backfill")
@_dev
@click.option("--do", "what", type=click.Choice(("fill", "show", "stop", "clear")), default="fill")
def backfill_command(dev: bool, what: str) -> None:  # noqa: FBT001
    """Embed all traces with the configured model and wait for it; or show how far that is, stop it, or clear."""
    database, models = _open(find_home(), dev=dev)
    model = models.configured().model if what == "fill" else ""
    interrupted = threading.Event()
    if what == "fill":  # an exception would be lost where it meets a destructor, and the waiting would go on
        signal.signal(signal.SIGINT, lambda _number, _frame: interrupted.set())
    database.open()
    try:
        if what == "fill":
            backfill.start(database, model)
        elif what == "stop":
            backfill.stop(database)
        elif what == "clear":
            click.echo(f"deleted the replaced vectors of {backfill.clear(database)} traces")
        _show(database, interrupted, wait=what == "fill")
    finally:
        database.close()


def _show(database: Database, interrupted: threading.Event, *, wait: bool) -> None:
    """Print how far each community is, and again when that changed until all are complete, if asked to wait.

    Raises:
        click.Abort: somebody interrupted the waiting.
    """
    printed: list[backfill.Progress] = []
    while True:
        begun, found = time.monotonic(), backfill.progress(database)
        for one in found:
            if one not in printed:
                click.echo(one.text())
        printed = found
        if not wait or not any(one.held.filling for one in found):
            return
        if not jobs.has_worker(database):
            click.echo("no worker runs: start `repertoire commons work` where both models are")
        sys.stdout.flush()
        if interrupted.wait(max(_LOOK_S, 10 * (time.monotonic() - begun))):
            raise click.Abort


@main.command("ready")
def ready_command() -> None:
    """Exit with 0 if the database answers, has the schema, and some worker is alive: the health check of a worker."""
    database = Database(_address())
    database.open()
    try:
        state = "ready" if database.ready() else "no database"
        if state == "ready" and not jobs.has_worker(database):
            state = "no worker"
    finally:
        database.close()
    click.echo(state)
    sys.exit(state != "ready")


def _address() -> str:
    """Return the address of PostgreSQL, with the password from a file where one is named."""
    url, file = os.environ.get("DATABASE_URL", ""), os.environ.get(PASSWORD_FILE, "")
    if not url:
        raise NoDatabase
    return make_conninfo(url, password=Path(file).read_text(encoding="utf-8").strip()) if file else url


def _open(home: Path, *, dev: bool) -> tuple[Database, Models]:
    url = local_postgres.start(home) if dev else _address()
    migrate(url)
    settings = load(home, os.environ)
    embedder, degraded = open_embedder(home, settings)
    for note in degraded:
        click.echo(f"repertoire: {note}", err=True)
    return Database(url), Models(embedder, open_all_embedders(home, settings))


def _pepper(home: Path) -> bytes:
    return read_pepper(Path(os.environ.get("REPERTOIRE_COMMONS_PEPPER_FILE") or home / "commons" / "pepper"))


def _make_key(
    home: Path, database: Database, who: tuple[str, str], scopes: Sequence[str], days: int, tier: str = USUAL
) -> NewKey:
    database.open()
    try:
        return Keys(database, _pepper(home)).create(*who, scopes, days=days, tier=tier)
    finally:
        database.close()


def _dev_key(home: Path, database: Database) -> Path:
    """Return the file with an administrator's key, made at the first start."""
    file = home / "commons" / "dev.key"
    if not file.exists():
        once = Database(database.url)
        _write_key(file, _make_key(home, once, (_DEV_COMMUNITY, _DEV_MEMBER), SCOPES, DAYS))
    return file


def _write_key(file: Path, made: NewKey) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
        handle.write(f"{made.text}\n")


async def _work(database: Database, models: Models) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    database.open()
    click.echo("working")
    sys.stdout.flush()
    await jobs.work(database, models, stop)
    database.close()


def run() -> None:
    """Run a command; an error is one line and exit status 1, or 2 for wrong usage."""
    raise_on_interrupt()
    start_logging()
    try:
        main.main(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except InvalidRequest as error:
        click.echo(f"repertoire: {error}", err=True)
        sys.exit(2)
    except (RepertoireError, AddressNotAvailable) as error:
        sys.exit(f"repertoire: {error}")
    except psycopg.OperationalError as error:
        sys.exit(f"repertoire: PostgreSQL cannot be reached ({str(error).splitlines()[0]}); is DATABASE_URL right?")
