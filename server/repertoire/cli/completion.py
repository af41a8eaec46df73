"""Completes command lines through click's mechanism, and defines `completion`, which prints a shell's script."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class

from repertoire.app.ask import complete

VARIABLE = "_REPERTOIRE_COMPLETE"  # the environment variable that click's completion scripts set
SHELLS = ("bash", "zsh", "fish")


class ColonBash(BashComplete):
    """Click's bash completion, corrected for ids: bash splits words at colons and expects only the last part."""

    _said = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the complete words and the word being typed, with the parts around colons joined again."""
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        for word in (*args, incomplete):
            if words and word and (word.startswith(":") or words[-1].endswith(":")):
                words[-1] += word
            else:
                words.append(word)
        self._said = words[-1][: words[-1].rfind(":") + 1]
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the text that replaces the part after the last colon."""
        return f"{item.type},{item.value.removeprefix(self._said)}"


def prepare() -> None:
    """Register the corrected bash completion with click."""
    add_completion_class(ColonBash)


def component_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a component's name or id."""
    return complete.components(incomplete)


def source_keys(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a source's key."""
    return complete.sources(incomplete)


def targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a target of `mute`: a component, a source, or this project."""
    own = ["project"] if "project".startswith(incomplete) else []
    return [*own, *complete.sources(incomplete), *complete.components(incomplete)]


def places(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Let the shell complete a path: of what names a new source, only the paths are known here."""
    return [CompletionItem(incomplete, type="file")]


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    r"""Print the completion script for SHELL. It completes commands, options, names, sources and paths.

    \b
    eval "$(repertoire completion bash)"                                       in ~/.bashrc
    eval "$(repertoire completion zsh)"                                        in ~/.zshrc
    repertoire completion fish > ~/.config/fish/completions/repertoire.fish    once
    """
    found = get_completion_class(shell)
    if found is None:  # another version of click may not support this shell
        message = f"no completion for {shell} in this version of click"
        raise click.ClickException(message)
    click.echo(found(context.find_root().command, {}, "repertoire", VARIABLE).source())
