"""A copy of the plugin with the real boot code, a small server, and a lock of one tiny package."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TOOLS = {
    "serverInfo": {"name": "graph", "version": "7.7"},
    "instructions": "Ask for components.",
    "capabilities": {"tools": {"listChanged": True}},
    "tools": [
        {"name": name, "description": f"{name}, as shipped", "inputSchema": {"type": "object"}}
        for name in ("search_components", "recommend_set", "status")
    ],
    "hooks": ["hook_prompt", "hook_stop"],
}


@dataclass(frozen=True)
class Checkout:
    """The copied plugin and the data folder it is used with."""

    root: Path
    home: Path
    path: str = os.environ.get("PATH", os.defpath)

    @property
    def environments(self) -> list[Path]:
        """The finished environments."""
        return [marker.parent for marker in self.home.glob("env/*/.ready")]

    def environ(self, **more: str) -> dict[str, str]:
        """What a process of this plugin is started with: nothing leads to a registry."""
        own = {"PATH": self.path, "HOME": str(self.home.parent), "REPERTOIRE_HOME": str(self.home)}
        return {**own, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1", **more}

    def command(self, *arguments: str, python: str = sys.executable) -> list[str]:
        """The command line, started by the given Python."""
        return [python, str(self.root / "bin" / "repertoire"), *arguments]

    def build_command(self, python: str = sys.executable) -> list[str]:
        return [python, "-I", str(self.root / "server/repertoire/boot/run.py"), "repertoire.boot.build"]

    def build(self, **more: str) -> subprocess.CompletedProcess[str]:
        """Build the environment, as a person would."""
        return run(self.build_command(), self.environ(**more))

    def lock(self, *requirements: str) -> None:
        (self.root / "requirements.lock").write_text("".join(f"{line}\n" for line in requirements))

    @contextlib.contextmanager
    def build_held_up(self) -> Iterator[None]:
        """Keep every build waiting while the block runs."""
        folder = self.home / "env"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def adopt(self, env: Path) -> None:
        """Let an environment that was built elsewhere stand finished here, as if another process had just built it."""
        (self.home / "env").mkdir(parents=True, exist_ok=True)
        link = self.home / "env" / env.name
        if not link.is_symlink():
            link.symlink_to(env)

    def take_copy(self, env: Path) -> Path:
        """Return an environment of our own that may be harmed."""
        return Path(shutil.copytree(env, self.home / "env" / env.name, symlinks=True))


def run(command: list[str], environ: dict[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environ,
        cwd=cwd,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )


def copy_plugin(root: Path, home: Path) -> Checkout:
    """Lay out the plugin: everything that boots is real, what it boots is small."""
    source, package = REPOSITORY / "server", root / "server" / "repertoire"
    shutil.copytree(source / "repertoire" / "boot", package / "boot", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "launch.py", root / "server")
    shutil.copytree(REPOSITORY / "bin", root / "bin")
    (package / "__init__.py").touch()
    (package / "mcp_server").mkdir()
    (package / "mcp_server" / "__init__.py").touch()
    shutil.copy(HERE / "small_server.py", package / "mcp_server" / "__main__.py")
    shutil.copy(HERE / "small_command.py", package / "__main__.py")
    (root / "server" / "tools.json").write_text(json.dumps(TOOLS))
    checkout = Checkout(root, home)
    checkout.lock(pebble(root / "wheels"))
    return checkout


def pebble(folder: Path, version: str = "1.0") -> str:
    """Make a wheel of a package with one attribute, and return the line that locks it."""
    return make_wheel(folder, "pebble", version, {"pebble.py": f"WEIGHT = {version!r}\n"})


def make_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> str:
    """Make a wheel of a package, and return the line that locks it."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return f"{name} @ {wheel.as_uri()} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"


def without(tool: str) -> str:
    """Return PATH less the folders that have the tool."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder) / tool).exists())


def script(path: Path, text: str) -> Path:
    """Write an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
