"""`pack`: the commands that build, list, describe and ask knowledge packs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from repertoire.app.commons.packs import commons_packs
from repertoire.app.packs.build import BuildRequest, build_pack
from repertoire.app.packs.config_file import read_config_file
from repertoire.app.packs.describe import PackDescriptionRequest
from repertoire.app.packs.query import PackQuestion
from repertoire.app.packs.skills import renew_skills
from repertoire.app.packs.stand_ins import tell_graph
from repertoire.app.wiring import open_new_pack, open_repertoire
from repertoire.cli.ask import show_notes
from repertoire.cli.output import json_option, progress, quiet_option, show, show_answer
from repertoire.cli.pack_care import CARE, stage_options
from repertoire.cli.pack_sharing import SHARING
from repertoire.cli.site_options import bounds, site_options
from repertoire.rendering.pack_sharing import commons_packs_data, commons_packs_text
from repertoire.rendering.packs import built_data, built_text
from repertoire.verbs.packs import LIST_PACKS, PACK_INFO, QUERY_PACK
from repertoire.verbs.verb import Context

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("pack")
def pack_command() -> None:
    r"""Build packs of documentation, and ask them; an answer cites the sections that it comes from.

    \b
    repertoire pack build axum --from ./axum/docs
    repertoire pack query "how do I share state between handlers" --pack axum
    """


@pack_command.command("build")
@click.argument("name")
@click.option(
    "--from",
    "origin",
    required=True,
    metavar="SOURCE",
    help="A document, folder, archive, package, git address, or the address of a page or sitemap.",
)
@site_options
@click.option(
    "--docstrings", is_flag=True, help="Also read the docstrings of Python packages in a folder or repository."
)
@click.option("--version", default="0.1.0", show_default=True, help="Version of the pack, as in semantic versioning.")
@click.option("--description", default="", help="What the pack is about, in a line.")
@click.option("--licence", default="", help="Licence of the documents; by default that of the source's licence file.")
@click.option("--topic", "topics", multiple=True, metavar="TOPIC", help="A topic of the pack; may be repeated.")
@click.option("--exam", type=_FILE, help="Questions with the sections that answer them, which the pack carries.")
@click.option("--config", "given", type=_FILE, help="Settings that the pack carries: stages, and how it is read.")
@click.option("--replace", is_flag=True, help="Replace the pack of this name; `pack update` keeps its exam.")
@quiet_option
@json_option
def build_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    name: str,
    origin: str,
    version: str,
    description: str,
    licence: str,
    topics: tuple[str, ...],
    exam: Path | None,
    given: Path | None,
    replace: bool,
    docstrings: bool,
    quiet: bool,
    as_json: bool,
    **site: Any,
) -> None:
    r"""Build the pack NAME from the documents of a source: Markdown, MDX, reStructuredText, notebooks, HTML.

    After a kill the same command goes on with the pages that were fetched and the vectors that were made.
    The same documents give the same file, byte for byte. Files that cannot be
    read are listed with the reason.

    \b
    repertoire pack build rust-book --from https://github.com/rust-lang/book --topic rust
    repertoire pack build axum --from ./axum/docs --licence MIT
    repertoire pack build click --from pypi:click
    repertoire pack build flask --from https://flask.palletsprojects.com/ --depth 2 --pages 100
    """
    config = read_config_file(given) if given is not None else None
    asked = BuildRequest(
        name,
        origin,
        version,
        description,
        licence,
        topics,
        replace,
        exam,
        bounds(**site),
        docstrings=docstrings,
        config=config,
    )
    with open_repertoire() as repertoire:
        with progress(quiet=quiet) as bar:
            built = build_pack(
                repertoire.home,
                asked,
                open_new_pack,
                embedder=repertoire.embedder,
                settings=repertoire.settings,
                report=bar,
            )
        tell_graph(repertoire.store, repertoire.packs, repertoire.embedder)
        renew_skills(repertoire.packs)
        show(built_data(built), lambda: built_text(built), as_json=as_json)


@pack_command.command("query")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION")
@click.option("--pack", "packs", multiple=True, metavar="NAME", help="Ask this pack only; may be repeated.")
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="How many passages.")
@stage_options
@click.option("--stages", is_flag=True, help="Show what each stage did, and its time.")
@json_option
def query_command(  # noqa: PLR0913, PLR0917 - click passes every option by name
    words: tuple[str, ...],
    packs: tuple[str, ...],
    limit: int,
    profile: str | None,
    on: tuple[str, ...],
    off: tuple[str, ...],
    stages: bool,
    as_json: bool,
) -> None:
    r"""Answer QUESTION with passages of packs and their citations, or say that no pack covers it.

    \b
    repertoire pack query "what is a lifetime" --pack rust-book
    repertoire pack query "move or copy" --profile maximum --stages
    """
    wanted = PackQuestion(" ".join(words), packs, limit, profile or "", on, off)
    with open_repertoire() as repertoire:
        answer = QUERY_PACK.run(Context.of(repertoire), wanted)
        for reports in answer.reports.values() if stages else ():
            show_notes(reports, ())
        show_answer(QUERY_PACK, answer, as_json=as_json)


@pack_command.command("list")
@click.option("--commons", is_flag=True, help="List the packs of the commons that was joined.")
@json_option
def list_command(commons: bool, as_json: bool) -> None:
    r"""List the packs of this home, or those that members of the commons shared.

    \b
    repertoire pack list
    repertoire pack list --commons
    """
    with open_repertoire() as repertoire:
        if commons:
            packs = commons_packs(repertoire.home)
            show(commons_packs_data(packs), lambda: commons_packs_text(packs), as_json=as_json)
            return
        show_answer(LIST_PACKS, LIST_PACKS.run(Context.of(repertoire), None), as_json=as_json)


@pack_command.command("info")
@click.argument("name")
@click.option("--about", default="", metavar="WORDS", help="Also what rules found in its text about these words.")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="How many facts.")
@json_option
def info_command(name: str, about: str, limit: int, as_json: bool) -> None:
    r"""Show what the pack NAME holds, where it comes from, and whether it was measured.

    With --about: facts (definitions, symbols, defaults, notes on versions, requirements) with citations, and entities.

    \b
    repertoire pack info rust-book
    repertoire pack info undici --about "body timeout"
    """
    wanted = PackDescriptionRequest(name, about, limit)
    with open_repertoire() as repertoire:
        show_answer(PACK_INFO, PACK_INFO.run(Context.of(repertoire), wanted), as_json=as_json)


@pack_command.command("show")
@click.argument("name")
@click.argument("citation", metavar="ARTICLE#ANCHOR")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Characters of the section to pass over.")
@json_option
def show_command(name: str, citation: str, offset: int, as_json: bool) -> None:
    r"""Show the section of the pack NAME that a citation names; a very long one in parts.

    \b
    repertoire pack show rust-book ch04-01-what-is-ownership.md#ownership-rules
    """
    with open_repertoire() as repertoire:
        asked = PackDescriptionRequest(name, citation=citation, offset=offset)
        answer = PACK_INFO.run(Context.of(repertoire), asked)
        show_answer(PACK_INFO, answer, as_json=as_json)


for _command in (*CARE, *SHARING):
    pack_command.add_command(_command)
