"""`project`: the commands that read a project into its memory and ask it; nothing is read before `project init`."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import click

from repertoire.app.current_project import resolve_project
from repertoire.app.projects.index import Indexed, begin_memory, forget_memory, index_project
from repertoire.app.projects.joined import drop_lost_traces
from repertoire.app.projects.mirror import follow_mirror, lying_entries
from repertoire.app.projects.moved import left_behind, take_over
from repertoire.app.projects.origin import record_origin, set_aside_other
from repertoire.app.projects.places import known_root, memory_file, mirrored_in, shared_root
from repertoire.app.projects.search import MemoryQuery
from repertoire.app.projects.show import FileQuery
from repertoire.app.projects.symbols import SymbolQuery
from repertoire.app.wiring import find_home, open_embedder, open_project, open_repertoire
from repertoire.cli.answering import answer, from_here
from repertoire.cli.completion import places
from repertoire.cli.entries import ENTRY_COMMANDS, folder_option
from repertoire.cli.output import ask_to_go_on, json_option, progress, quiet_option, show
from repertoire.domain.errors import ProjectRefused
from repertoire.domain.project import SYMBOL_KINDS
from repertoire.domain.project_questions import ACTIONS, KINDS, MODES
from repertoire.rendering.person import forgotten_memory_data, forgotten_memory_text
from repertoire.rendering.project_exchange import lying_text, mirror_text
from repertoire.rendering.projects import indexed_data, indexed_text, left_behind_text, set_aside_text, shared_text
from repertoire.settings import load
from repertoire.verbs.projects import CODE_SYMBOLS, FILE_INFO, GET_MEMORY, OUTLINE, PROJECT_STATUS, SEARCH_MEMORY
from repertoire.verbs.verb import Context

_LAST_S = 3.0  # for a batch that is being read when the process is to end


@click.group("project")
def project_command() -> None:
    r"""Remember a project: its code, documents and files, and what was decided and is to be done.

    Nothing is read before `project init`. The memory lies in the home, not in the project.

    \b
    repertoire project init
    repertoire project search "where are sessions refreshed"
    repertoire project symbols refresh_session --callers
    """


@project_command.command("init")
@click.option("--no-vectors", is_flag=True, help="Embed nothing now; `project index` does it later.")
@click.option(
    "--from", "old", default="", metavar="FOLDER", help="Take over the memory of the folder that this one was."
)
@folder_option
@quiet_option
@json_option
def init_command(no_vectors: bool, old: str, project: str, quiet: bool, as_json: bool) -> None:
    r"""Make the memory of the current project and read the project into it.

    Files that `.gitignore` names, that hold secrets or that are too large are left out, with the reason.

    \b
    repertoire project init
    repertoire project init --from ../its-old-name
    """
    with open_repertoire() as repertoire:
        home, root = repertoire.home, Context.of(repertoire, project=project).project
        if old:
            take_over(home, old, root, open_project)
        elif shared := shared_root(home, root):
            click.echo(shared_text(shared), err=True)
        else:
            _begin(home, root)
    _index(root, vectors=not no_vectors, quiet=quiet, as_json=as_json)


def _begin(home: Path, root: str) -> None:
    other = set_aside_other(home, root, open_project)
    left = left_behind(home, root) if not memory_file(home, root).is_file() else None
    begin_memory(home, root, open_project)
    if other is not None:
        click.echo(set_aside_text(other), err=True)
    if left is not None:
        click.echo(left_behind_text(left), err=True)


@project_command.command("index")
@click.option("--no-vectors", is_flag=True, help="Embed nothing now.")
@folder_option
@quiet_option
@json_option
def index_command(no_vectors: bool, project: str, quiet: bool, as_json: bool) -> None:
    r"""Read what changed in the project since the last time, and embed what has no vector yet.

    Whoever interrupts it loses nothing: the next time goes on from there. If another process reads the project, wait
    until it ends.

    \b
    repertoire project index
    """
    _index(project, vectors=not no_vectors, quiet=quiet, as_json=as_json)


def _index(project: str, *, vectors: bool, quiet: bool, as_json: bool) -> None:
    with open_repertoire() as repertoire:
        folder = Context.of(repertoire, project=project).project
        opened = repertoire.projects.open(folder)
        memory = opened.store
        record_origin(memory)
        with progress(quiet=quiet) as bar:
            done: Indexed = index_project(
                memory,
                most_files=repertoire.settings.max_files,
                embedder=repertoire.embedder if vectors else None,
                report=bar,
                wait_s=math.inf,
                waiting=_wait_reporter(bar, quiet=quiet),
            )
        drop_lost_traces(opened, lambda key: repertoire.store.traces.get(key) is not None)
        mirrored = follow_mirror(opened, embedder=repertoire.embedder if vectors else None)
        told = [mirror_text(mirrored)] if mirrored else []
        if count := lying_entries(opened):
            click.echo(lying_text(count), err=True)
        show(indexed_data(done), lambda: "\n".join([indexed_text(done), *told]), as_json=as_json)


def _wait_reporter(bar: Callable[[str, int, int], None], *, quiet: bool) -> Callable[[], None]:
    said: list[str] = []

    def tell() -> None:
        if not (said or quiet):
            click.echo("another process reads this project; this one goes on when it ends", err=True)
        said[:] = ["once"]
        bar("waiting for the other", 0, 0)

    return tell


@project_command.command("watch")
@click.option("--while-input", is_flag=True, help="End with the process that holds the other end of the input.")
@folder_option
@quiet_option
def watch_command(while_input: bool, project: str, quiet: bool) -> None:
    r"""Read what changes in the project as it happens, until it is interrupted.

    A server does this by itself while a session lives, unless the setting `watch` is false.

    \b
    repertoire project watch
    """
    from repertoire.app.projects.watch import Watcher  # noqa: PLC0415 - nothing else needs the watching library

    home = find_home()
    settings = load(home, os.environ)
    root = known_root(home, resolve_project(project))
    embedder, _ = open_embedder(home, settings)
    stop = threading.Event()
    if while_input:
        threading.Thread(target=_end_with_input, args=(stop,), daemon=True).start()

    def told(done: Indexed) -> None:
        if not quiet and (done.read or done.removed):
            click.echo(f"{done.read} read, {done.removed} gone")

    def rest() -> None:
        if embedder is not None:
            embedder.drop_if_idle(time.monotonic())

    with open_project(memory_file(home, root)) as memory:
        watcher = Watcher(memory, most_files=settings.max_files, embedder=embedder, told=told, rest=rest)
        try:
            watcher.run(stop)
        except OSError as error:
            message = f"{root} cannot be watched ({error}); `repertoire project index` reads what changed"
            raise ProjectRefused(message) from error


def _end_with_input(stop: threading.Event) -> None:
    """Let the process end when its input does, which is when the process that started it has ended, however it did."""
    with contextlib.suppress(OSError):
        while os.read(0, 4_096):
            pass
    stop.set()
    time.sleep(_LAST_S)
    os._exit(0)


@project_command.command("status")
@folder_option
@json_option
def status_command(project: str, as_json: bool) -> None:
    r"""Show what the memory of the project holds and how current it is.

    \b
    repertoire project status
    """
    answer(PROJECT_STATUS, None, project=project, as_json=as_json)


@project_command.command("forget")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@folder_option
@json_option
def forget_command(yes: bool, project: str, as_json: bool) -> None:
    r"""Delete the memory of the project with all notes and tasks in it; the project itself is left as it is.

    \b
    repertoire project forget
    """
    with open_repertoire() as repertoire:
        folder = Context.of(repertoire, project=project).project
        if shared := shared_root(repertoire.home, folder):
            message = f"this worktree shares the memory of {shared}: it can be forgotten in that folder alone"
            raise ProjectRefused(message)
        root = known_root(repertoire.home, folder)
        if not yes:
            ask_to_go_on(f"Delete all that is remembered of {root}, notes and tasks too?")
        repertoire.projects.release(root)
        deleted = forget_memory(repertoire.home, root)
    told = (root, deleted, mirrored_in(root))
    show(forgotten_memory_data(*told), lambda: forgotten_memory_text(*told), as_json=as_json)


@project_command.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this; may be repeated.")
@click.option("--mode", type=click.Choice(MODES), default=MODES[0], show_default=True, help="How it is searched.")
@click.option("--in", "below", default="", metavar="PATH", help="Only below this folder, or in this file.")
@click.option("--language", default="", help="Only files of this language.")
@click.option("--limit", type=click.IntRange(1, 50), default=8, show_default=True, help="How many.")
@folder_option
@json_option
def search_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    words: tuple[str, ...],
    kinds: tuple[str, ...],
    mode: str,
    below: str,
    language: str,
    limit: int,
    project: str,
    as_json: bool,
) -> None:
    r"""Search the project's code, documents, notes and tasks by words and by meaning.

    \b
    repertoire project search "how is a lock taken" --kind code
    """
    asked = MemoryQuery(" ".join(words), kinds, mode, limit, from_here(below, project, folders=True), language)
    answer(SEARCH_MEMORY, asked, project=project, as_json=as_json)


@project_command.command("get")
@click.argument("id")
@folder_option
@json_option
def get_command(id: str, project: str, as_json: bool) -> None:  # noqa: A002 - the name in the usage line
    r"""Show the text of what has this ID, as it is now, and what it is related to.

    \b
    repertoire project get symbol:src/auth.py::AuthService.login
    """
    answer(GET_MEMORY, from_here(id, project), project=project, as_json=as_json)


@project_command.command("symbols")
@click.argument("name")
@click.option("--callers", "action", flag_value="callers", help="What calls it.")
@click.option("--callees", "action", flag_value="callees", help="What it calls.")
@click.option("--impact", "action", flag_value="impact", help="What a change of it may break.")
@click.option("--bases", "action", flag_value="bases", help="The types that it extends or implements.")
@click.option("--derived", "action", flag_value="derived", help="What extends, implements or overrides it.")
@click.option("--kind", type=click.Choice(SYMBOL_KINDS[:4]), default=None, help="Only symbols of this kind.")
@click.option("--in", "below", default="", metavar="PATH", help="Only below this folder, or in this file.")
@click.option("--depth", type=click.IntRange(1, 5), default=2, show_default=True, help="Steps of the last three.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many.")
@folder_option
@json_option
def symbols_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    name: str,
    action: str | None,
    kind: str | None,
    below: str,
    depth: int,
    limit: int,
    project: str,
    as_json: bool,
) -> None:
    r"""Find a function, method, class or type by its NAME or id, and what is related to it.

    \b
    repertoire project symbols AuthService.login --callers
    """
    place = from_here(below, project, folders=True)
    asked = SymbolQuery(name, action or ACTIONS[0], kind or "", place, depth, limit)
    answer(CODE_SYMBOLS, asked, project=project, as_json=as_json)


@project_command.command("outline")
@click.argument("path", shell_complete=places)
@folder_option
@json_option
def outline_command(path: str, project: str, as_json: bool) -> None:
    r"""Show the headings of a document, or the definitions of a program.

    \b
    repertoire project outline README.md
    """
    answer(OUTLINE, from_here(path, project), project=project, as_json=as_json)


@project_command.command("files")
@click.argument("path", default="", shell_complete=places)
@click.option("--language", default="", help="Only files of this language.")
@click.option("--limit", type=click.IntRange(1, 500), default=30, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over.")
@folder_option
@json_option
def files_command(path: str, language: str, limit: int, offset: int, project: str, as_json: bool) -> None:
    r"""Show what is known of the file PATH, or list the files below the folder PATH.

    \b
    repertoire project files src --language python
    """
    place = from_here(path, project, folders=True)
    answer(FILE_INFO, FileQuery(place, language, limit, offset), project=project, as_json=as_json)


for _command in ENTRY_COMMANDS:
    project_command.add_command(_command)
