"""`pack export|publish|install|remove|skill`: the commands that pass packs on, take them in and offer them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from repertoire.app.commons.packs import COMMONS, Consent, fetched_from_commons, publish_pack
from repertoire.app.kernel import Repertoire
from repertoire.app.packs.origins import fetched_pack
from repertoire.app.packs.sharing import export_pack, install_pack, removable_pack, remove_pack
from repertoire.app.packs.signing import SigningKey
from repertoire.app.packs.skills import offer_skill, renew_skills, withdraw_skill
from repertoire.app.packs.stand_ins import tell_graph
from repertoire.app.wiring import open_pack_file, open_repertoire
from repertoire.cli.completion import places
from repertoire.cli.output import ask_to_go_on, json_option, show, yes_option
from repertoire.domain.text import counted
from repertoire.rendering import pack_sharing, pack_work

_name = click.argument("name")
_sign = click.option(
    "--sign",
    "key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEY",
    help="Sign it with this secret key of minisign; its password is asked for.",
)


@click.command("export")
@_name
@click.argument("target", type=click.Path(path_type=Path), default=Path())
@_sign
@json_option
def export_command(name: str, target: Path, key: Path | None, as_json: bool) -> None:
    r"""Write the pack NAME as one file; TARGET is a folder or the name of the file.

    \b
    repertoire pack export rust-book
    repertoire pack export rust-book --sign ~/.minisign/minisign.key
    """
    with open_repertoire() as repertoire:
        done = export_pack(repertoire.packs, name, target, key=_signing(key))
    show(pack_work.shared_data(done), lambda: pack_work.shared_text("Exported", done), as_json=as_json)


@click.command("publish")
@_name
@click.option("--confirm", "token", default="", metavar="TOKEN", help="Send what was shown with this token.")
@click.option("--yes", is_flag=True, help="Send it without looking.")
@_sign
@json_option
def publish_command(name: str, token: str, yes: bool, key: Path | None, as_json: bool) -> None:
    r"""Share the pack NAME with the joined commons: show what would go and a token; `--confirm TOKEN` sends it.

    The pack needs a known licence. Everybody of the community can then fetch it; a moderator can delete it there.

    \b
    repertoire pack publish rust-book
    repertoire pack publish rust-book --confirm 1f0c2d3e
    """
    with open_repertoire() as repertoire:
        done = publish_pack(repertoire.home, repertoire.packs, name, Consent(token, unseen=yes), key=_signing(key))
    show(pack_sharing.publication_data(done), lambda: pack_sharing.publication_text(done), as_json=as_json)


@click.command("install")
@click.argument("origin", metavar="FILE|FOLDER|URL|GIT|commons:NAME", shell_complete=places)
@click.option("--replace", is_flag=True, help="Replace the pack of this name, if there is one.")
@click.option(
    "--verify-key", default="", metavar="KEY", help="Take it in only if this public key of minisign signed it."
)
@click.option(
    "--allow-host", "allowed", multiple=True, metavar="HOST", help="Of a URL: a host that need not be public."
)
@json_option
def install_pack_command(origin: str, replace: bool, verify_key: str, allowed: tuple[str, ...], as_json: bool) -> None:
    r"""Take in a pack that somebody made: only what its manifest names, with its hashes; nothing in it is run.

    A URL names a file; a git address may name a folder behind `#`; `commons:` names a pack of the commons that was
    joined, by its hash or its name.

    \b
    repertoire pack install rust-book-0.1.0.pack.zip --verify-key minisign.pub
    repertoire pack install https://example.org/rust-book-0.1.0.pack.zip
    repertoire pack install https://github.com/owner/packs.git#rust-book
    repertoire pack install commons:rust-book
    """
    with open_repertoire() as repertoire, _fetched(repertoire, origin, frozenset(allowed)) as place:
        done = install_pack(repertoire.home, str(place), open_pack_file, replace=replace, verify_key=verify_key)
        tell_graph(repertoire.store, repertoire.packs, repertoire.embedder)
        renew_skills(repertoire.packs)
    show(pack_work.shared_data(done), lambda: pack_work.shared_text("Installed", done), as_json=as_json)


@click.command("remove")
@_name
@yes_option
@json_option
def remove_pack_command(name: str, yes: bool, as_json: bool) -> None:
    r"""Delete the pack NAME, after asking.

    \b
    repertoire pack remove rust-book
    """
    with open_repertoire() as repertoire:
        manifest = removable_pack(repertoire.packs, name)
        if not yes:
            size = f" with {counted(manifest.statistics.articles, 'article')}" if manifest is not None else ""
            ask_to_go_on(f"Delete the pack {name}{size} permanently?")
        done = remove_pack(repertoire.home, repertoire.packs, name)
        tell_graph(repertoire.store, repertoire.packs)
        renew_skills(repertoire.packs)
    show(pack_work.shared_data(done), lambda: pack_work.shared_text("Removed", done), as_json=as_json)


@click.command("skill")
@_name
@click.option("--remove", is_flag=True, help="Take the skill away; the pack stays.")
@json_option
def skill_command(name: str, remove: bool, as_json: bool) -> None:
    r"""Offer the pack NAME to Claude Code as a skill of your own, which each new session lists.

    It is kept up to date with the pack, and goes with it. The text is made from name, description and topics; what a
    stranger's pack brings as skill.md is not used.

    \b
    repertoire pack skill rust-book
    repertoire pack skill rust-book --remove
    """
    with open_repertoire() as repertoire:
        done = withdraw_skill(name) if remove else offer_skill(repertoire.packs, name)
    show(pack_work.skill_data(done), lambda: pack_work.skill_text(done), as_json=as_json)


@contextmanager
def _fetched(repertoire: Repertoire, origin: str, allowed: frozenset[str]) -> Iterator[Path]:
    if origin.startswith(COMMONS):
        with fetched_from_commons(repertoire.home, origin.removeprefix(COMMONS)) as place:
            yield place
    else:
        with fetched_pack(repertoire.home, origin, repertoire.settings, allowed=allowed) as place:
            yield place


def _signing(key: Path | None) -> SigningKey | None:
    if key is None:
        return None
    return SigningKey(key, lambda: str(click.prompt(f"Password of {key}", hide_input=True, err=True)))


SHARING = (export_command, publish_command, install_pack_command, remove_pack_command, skill_command)
