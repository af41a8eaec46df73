"""Shell completion through click's own mechanism, and `completion`, which prints the script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class

from repertoire.app.ask import complete

VARIABLE = "_REPERTOIRE_COMPLETE"  # what click's scripts set
SHELLS = ("bash", "zsh", "fish")


class ColonBash(BashComplete):
    """Bash with ids in one piece: it takes a colon for the end of a word, and wants only what comes after it."""

    _said = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is typed, and that one, put together again around colons."""
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
        """Return what bash is to put in place of what stands after the last colon."""
        return f"{item.type},{item.value.removeprefix(self._said)}"


def prepare() -> None:
    """Let click know our bash."""
    add_completion_class(ColonBash)


def component_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a component's name or id."""
    return complete.components(incomplete)


def source_keys(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a source's key."""
    return complete.sources(incomplete)


def targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete what may be silenced: a component, a source, or this project."""
    own = ["project"] if "project".startswith(incomplete) else []
    return [*own, *complete.sources(incomplete), *complete.components(incomplete)]


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    r"""Print the completion script for SHELL. It completes commands, options, components and sources.

    \b
    eval "$(repertoire completion bash)"                                       in ~/.bashrc
    eval "$(repertoire completion zsh)"                                        in ~/.zshrc
    repertoire completion fish > ~/.config/fish/completions/repertoire.fish    once
    """
    found = get_completion_class(shell)
    if found is None:  # click knows these three; another version of it may not
        message = f"no completion for {shell} in this version of click"
        raise click.ClickException(message)
    click.echo(found(context.find_root().command, {}, "repertoire", VARIABLE).source())
