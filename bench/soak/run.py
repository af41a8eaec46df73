"""Does all of it and keeps what came of it: `python bench/soak/run.py [--out FILE] [--keep FOLDER]`.

Each script runs in a process of its own, one after the other. With `--keep`, figures that lie there already are taken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "speed")]

from harness import commit, machine, today  # noqa: E402

SCRIPTS = ("kills", "crowd", "prompts")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "soak-2.json")
    parser.add_argument("--keep", type=Path, help="where the figures of each script lie, or are put")
    parser.add_argument("--note", default="", help="what else a reader should know, kept with the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = options.keep or Path(own)
        failed = [name for name in SCRIPTS if not (folder / f"{name}.json").exists() and _run(name, folder)]
        found = {name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in SCRIPTS}
    about = {"date": today(), **commit(), "machine": machine(), "note": options.note}
    options.out.write_text(json.dumps({**about, **found}, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.out}" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return int(bool(failed))


def _run(name: str, folder: Path) -> int:
    arguments = (str(HERE / f"{name}.py"), "--json", str(folder / f"{name}.json"))
    return subprocess.run([sys.executable, *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
