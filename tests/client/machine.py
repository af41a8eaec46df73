"""A throw-away machine: its own HOME and project, the real client, and nothing to reach but loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client.api_stub import ApiStub, Script
from client.session import TURN_TIMEOUT_S, LiveSession, Session

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = "repertoire@repertoire"
REMOTE = "https://repertoire.invalid/"  # git's insteadOf turns it into the bare clone beside HOME
COMMAND_TIMEOUT_S = 120

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ANTHROPIC_API_KEY": "not-a-key",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",  # closed: else commands wait 17 s each for a name to resolve
    "NO_PROXY": "127.0.0.1,localhost",
    "NO_COLOR": "1",
}


@dataclass(frozen=True, slots=True)
class Completed:
    """How one client command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


HEADLESS = (
    *("-p", "--verbose", "--include-hook-events"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
)


class Machine:
    """One HOME with the client; every run of it sees only the environment given here."""

    def __init__(self, binary: Path, root: Path, env: Mapping[str, str]) -> None:
        self.binary, self.root = binary, root
        self.home, self.project, self._tmp = root / "home", root / "project", root / "tmp"
        for folder in (self.home, self.project, self._tmp):
            folder.mkdir(parents=True)
        interpreter = Path(sys.base_prefix) / "bin"  # a real python3 first: version managers' shims are slow
        self.env = {
            **QUIET,
            "PATH": os.pathsep.join([str(interpreter), os.environ.get("PATH", os.defpath)]),
            "HOME": str(self.home),
            "TMPDIR": str(self._tmp),
            "CLAUDE_CODE_TMPDIR": str(self._tmp),
            "LANG": "C.UTF-8",
            **env,
        }

    def also(self, **env: str) -> Machine:
        """Return the same machine with more in its environment."""
        other = copy(self)
        other.env = {**self.env, **env}
        return other

    def run(self, *command: str | Path) -> Completed:
        """Run a program on this machine, in the project."""
        done = subprocess.run(
            command,
            env=self.env,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        return Completed(done.returncode, done.stdout, done.stderr)

    def command(self, *args: str) -> Completed:
        """Run a client command that holds no conversation, such as `plugin list`."""
        return self.run(self.binary, *args)

    def install(self, plugin: Path, **config: str) -> Path:
        """Install the plugin from a git marketplace, as a user does from a forge, and return where it lies."""
        remote = publish(plugin, self.root / "remote")
        (self.home / ".gitconfig").write_text(f'[url "{remote.parent.as_uri()}/"]\n\tinsteadOf = {REMOTE}\n')
        options = [part for name, value in config.items() for part in ("--config", f"{name}={value}")]
        self._must("plugin", "marketplace", "add", REMOTE + remote.name)
        self._must("plugin", "install", PLUGIN, *options)
        return Path(self.listed_plugin()["installPath"])

    def listed_plugin(self) -> dict[str, Any]:
        """Return what the client's list says of the plugin; it lists plugins that are built into it, too."""
        [listed] = (one for one in self._must("plugin", "list", "--json").json if one["id"] == PLUGIN)
        return dict(listed)

    def _must(self, *args: str) -> Completed:
        done = self.command(*args)
        assert done.returncode == 0, f"claude {' '.join(args)}: {done.stdout}{done.stderr}"
        return done

    def session(
        self,
        *prompts: str,
        script: Script | None = None,
        args: Sequence[str] = (),
        timeout: float = TURN_TIMEOUT_S,
        at_once: bool = False,
    ) -> Session:
        """Hold one headless conversation, prompt after prompt, and return all that was seen of it.

        The first prompt comes once the servers have connected or failed, or `at_once`.
        """
        with self.conversation(script=script, args=args) as live:
            if not at_once:
                live.settle()
            for prompt in prompts:
                live.say(prompt, timeout=timeout)
        return live.seen()

    def answered_session(self, *prompts: str, event: str = "UserPromptSubmit") -> Session:
        """Return the first of ten sessions in which the hooks of an event said something in time, or else the last.

        No start waits for more than 1.2 s, no prompt for more than 1.5 s, and the first prompt of a process loads the
        model: on a machine that is busy with other work one may go without, by design. Beside another client that is
        busy for long, five in a row did.
        """
        for _ in range(9):
            session = self.session(*prompts)
            if session.injected(event):
                return session
        return self.session(*prompts)

    @contextmanager
    def conversation(self, *, script: Script | None = None, args: Sequence[str] = ()) -> Iterator[LiveSession]:
        """Open a conversation for the duration of the block, so that a test can act between prompts."""
        # a plugin server that once failed is not started again for 15 minutes in any session of this HOME
        (self.home / ".claude" / "mcp-needs-auth-cache.json").unlink(missing_ok=True)
        stub = ApiStub(script or Script())
        with tempfile.TemporaryFile("w+", dir=self._tmp) as stderr:
            process = subprocess.Popen(
                [self.binary, *HEADLESS, *args],
                env={**self.env, "ANTHROPIC_BASE_URL": stub.url},
                cwd=self.project,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
            live = LiveSession(process, stub, stderr)
            try:
                yield live
            finally:
                live.end()
                stub.close()


Settle = Callable[..., Machine]  # takes environment variables; gives a machine without the plugin


def publish(plugin: Path, remote: Path) -> Path:
    """Return a bare repository that holds what git tracks, or would track, of the plugin's folder."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, cwd=plugin, check=True, capture_output=True, text=True).stdout.split("\0")
    bare = remote / "repertoire.git"
    git = ["git", "--literal-pathspecs", f"--git-dir={bare}", f"--work-tree={plugin}"]
    author = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    present = "\0".join(file for file in files if file and (plugin / file).exists())
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", bare], check=True)
    pathspecs = ["--pathspec-from-file=-", "--pathspec-file-nul"]
    subprocess.run([*git, "add", "-f", *pathspecs], cwd=plugin, input=present, text=True, check=True)
    subprocess.run([*git, *author, "commit", "-q", "-m", "Publish"], cwd=plugin, check=True)
    return bare
