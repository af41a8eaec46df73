"""`project note`, `task` and their like: the commands that save, list, move, link and delete what is remembered."""

from __future__ import annotations

import sys
from typing import Any

import click

from repertoire.app.projects.entries import deletable_entries
from repertoire.app.projects.entry_requests import (
    DeleteRequest,
    LinkRequest,
    ListQuery,
    MoveRequest,
    save_request,
)
from repertoire.app.projects.foreign_entries import FORMATS
from repertoire.app.projects.import_entries import ImportRequest
from repertoire.app.projects.review import ReviewRequest
from repertoire.app.wiring import open_repertoire
from repertoire.cli.answering import answer, from_here
from repertoire.cli.completion import places
from repertoire.cli.output import ask_to_go_on, json_option, show_answer, yes_option
from repertoire.domain.project import (
    ACTIVE,
    CATEGORIES,
    DEPENDS_ON,
    ENTRIES,
    ENTRY_LINKS,
    LOWEST,
    SUPERSEDED,
    TASK_STATES,
)
from repertoire.rendering.entries import entry_line
from repertoire.verbs.memory import (
    DELETE_MEMORY,
    IMPORT_MEMORY,
    LINK_MEMORY,
    LIST_MEMORY,
    MIRROR_MEMORY,
    MOVE_MEMORY,
    REVIEW_MEMORY,
    SAVE_MEMORY,
)
from repertoire.verbs.mirrored import at_hand
from repertoire.verbs.verb import Context

folder_option = click.option("--project", default="", metavar="FOLDER", help="A project other than the current one.")
_STATES = click.Choice((*TASK_STATES, ACTIVE, SUPERSEDED))
_status_option = click.option("--status", type=_STATES, default=None, help="Its status.")
_priority_option = click.option("--priority", type=click.IntRange(0, LOWEST), help="0 is the most urgent.")
_version_option = click.option("--expected-version", type=int, help="Refuse unless it is at this version.")


@click.command("save")
@click.argument("kind", type=click.Choice(ENTRIES))
@click.argument("title", default="")
@click.option("--id", "key", default="", help="Change the entry with this id.")
@click.option("--body", default=None, help="All of it; `-` reads it from standard input.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--category", type=click.Choice(CATEGORIES), default=None, help="What sort of note it is.")
@_status_option
@_priority_option
@click.option("--due", default=None, help="A date such as 2026-01-31, today, tomorrow, or a weekday.")
@click.option("--estimate", default=None, help="How long it takes, such as 2h.")
@click.option("--assignee", default=None, help="Who does it.")
@click.option("--step", "steps", multiple=True, help="A step of a procedure; may be repeated.")
@click.option("--trigger", "triggers", multiple=True, help="When a procedure fits; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file pattern of a procedure; may be repeated.")
@click.option("--about", multiple=True, help="An id, path or symbol that it is about; may be repeated.")
@click.option("--depends-on", multiple=True, help="A task that comes first; may be repeated.")
@click.option("--epic", default=None, help="The epic of a task.")
@click.option("--supersedes", multiple=True, help="An older entry that it replaces; may be repeated.")
@click.option("--used", is_flag=True, help="A procedure was followed once more.")
@click.option(
    "--apart",
    is_flag=True,
    help="Keep the note apart from one that says the same; with --id, take out what was merged last.",
)
@_version_option
@folder_option
@json_option
def save_command(kind: str, key: str, project: str, as_json: bool, **told: Any) -> None:
    r"""Save a note, task, epic or procedure with a TITLE, or change the one with an id.

    \b
    repertoire project save note "Sessions live in Redis" --category decision --about src/session.py
    repertoire project save task "Move sessions" --priority 1 --depends-on task:1f0c2d3e4b5a
    """
    if told["body"] == "-":
        told["body"] = sys.stdin.read()
    told["title"] = told["title"] or None
    told["about"] = tuple(from_here(one, project) for one in told["about"])
    answer(SAVE_MEMORY, save_request({**told, "kind": kind}, key=key), project=project, as_json=as_json)


@click.command("list")
@click.option("--kind", type=click.Choice(ENTRIES), default=None, help="Only these.")
@_status_option
@click.option("--tag", default="", help="Only with this tag.")
@click.option("--words", default="", help="Only with these words.")
@click.option("--linked", default="", metavar="ID", help="Only what is linked with this id.")
@click.option("--ready", is_flag=True, help="Only tasks that nothing blocks.")
@click.option("--stale", is_flag=True, help="Only notes that nobody confirmed for long.")
@click.option("--limit", type=click.IntRange(1, 200), default=30, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over.")
@folder_option
@json_option
def list_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    kind: str | None,
    status: str | None,
    tag: str,
    words: str,
    linked: str,
    ready: bool,
    stale: bool,
    limit: int,
    offset: int,
    project: str,
    as_json: bool,
) -> None:
    r"""List notes, tasks, epics and procedures: due within a week, the most urgent, then the newest.

    \b
    repertoire project list --kind task --ready
    """
    wanted = ListQuery(kind or "", status or "", tag, words, from_here(linked, project), ready, stale, limit, offset)
    answer(LIST_MEMORY, wanted, project=project, as_json=as_json)


@click.command("move")
@click.argument("ids", nargs=-1, required=True)
@_status_option
@_priority_option
@_version_option
@folder_option
@json_option
def move_command(
    ids: tuple[str, ...],
    status: str | None,
    priority: int | None,
    expected_version: int | None,
    project: str,
    as_json: bool,
) -> None:
    r"""Give entries another status or priority, all or none.

    \b
    repertoire project move task:1f0c2d3e4b5a --status done
    """
    if status is None and priority is None:
        given = next((word for word in ids if word in _STATES.choices), "STATUS")
        message = f"nothing is to be changed; add --status {given}, or --priority with a number"
        raise click.UsageError(message)
    answer(MOVE_MEMORY, MoveRequest(ids, status or "", priority, expected_version), project=project, as_json=as_json)


@click.command("link")
@click.argument("id")
@click.argument("relation", type=click.Choice((*ENTRY_LINKS, DEPENDS_ON)))
@click.argument("target")
@click.option("--remove", is_flag=True, help="Take the link away.")
@folder_option
@json_option
def link_command(
    id: str,  # noqa: A002 - the name in the usage line
    relation: str,
    target: str,
    remove: bool,
    project: str,
    as_json: bool,
) -> None:
    r"""Link an entry with another one, or with a symbol, file, section, trace or component.

    \b
    repertoire project link task:1f0c2d3e4b5a depends_on task:0a1b2c3d4e5f
    """
    asked = LinkRequest(id, relation, from_here(target, project), remove)
    answer(LINK_MEMORY, asked, project=project, as_json=as_json)


@click.command("delete")
@click.argument("ids", nargs=-1, required=True)
@_version_option
@yes_option
@folder_option
@json_option
def delete_command(ids: tuple[str, ...], expected_version: int | None, yes: bool, project: str, as_json: bool) -> None:
    r"""Delete entries with their links, all or none, after asking.

    \b
    repertoire project delete note:1f0c2d3e4b5a
    """
    asked = DeleteRequest(ids, expected_version)
    with open_repertoire() as repertoire:
        context = Context.of(repertoire, project=project)
        if not yes:
            memory, _ = at_hand(context)
            gone = deletable_entries(memory, asked)
            what = "it with its links" if len(gone) == 1 else f"these {len(gone)} with their links"
            ask_to_go_on("\n".join([*map(entry_line, gone), f"Delete {what} permanently?"]))
        show_answer(DELETE_MEMORY, DELETE_MEMORY.run(context, asked), as_json=as_json)


@click.command("review")
@click.option("--accept", multiple=True, metavar="NAME", help="Save this one; `all` saves all. May be repeated.")
@click.option("--reject", multiple=True, metavar="NAME", help="Never show this one again; `all` rejects all.")
@folder_option
@json_option
def review_command(accept: tuple[str, ...], reject: tuple[str, ...], project: str, as_json: bool) -> None:
    r"""Show what was said in sessions and may be worth a note; save or reject it.

    Hooks list such sentences (what was decided, is preferred, blocks or is left to do); nothing is saved until you
    accept it.

    \b
    repertoire project review
    repertoire project review --accept 1f0c2d3e
    """
    answer(REVIEW_MEMORY, ReviewRequest(accept, reject), project=project, as_json=as_json)


@click.command("mirror")
@click.option("--off", is_flag=True, help="Keep them the same no more; the files stay.")
@folder_option
@json_option
def mirror_command(off: bool, project: str, as_json: bool) -> None:
    r"""Keep notes, tasks and procedures as Markdown files in the project's folder `.repertoire`, both ways.

    From now on a file that somebody edits, adds, renames or deletes changes the memory, and the other way round: put
    the folder under version control, and they are reviewed and merged with the code. Where both sides changed, both
    are kept. A memory that is lost comes back from its files.

    \b
    repertoire project mirror
    """
    answer(MIRROR_MEMORY, not off, project=project, as_json=as_json)


@click.command("import")
@click.argument("paths", nargs=-1, shell_complete=places)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default=None, help="What they are, if their names do not tell."
)
@folder_option
@json_option
def import_command(paths: tuple[str, ...], form: str | None, project: str, as_json: bool) -> None:
    r"""Take notes and tasks from CLAUDE.md, AGENTS.md, a TODO file, `.beads` or a basic-memory folder.

    Without PATHS it takes what the project has of these. A section of instructions becomes a note, an item of a list
    and an issue of beads a task. Run it again, and only what changed there is changed here.

    \b
    repertoire project import
    repertoire project import ~/basic-memory --format basic-memory
    """
    asked = ImportRequest(tuple(from_here(one, project, folders=True) for one in paths), form or "")
    answer(IMPORT_MEMORY, asked, project=project, as_json=as_json)


ENTRY_COMMANDS = (
    save_command,
    list_command,
    move_command,
    link_command,
    delete_command,
    review_command,
    mirror_command,
    import_command,
)
