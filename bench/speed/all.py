"""Runs every measurement of speed, each in a process of its own, and keeps what they found in bench/results."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import harness

SCRIPTS = ("search", "hook", "handshake", "memory", "prompts", "ingest")
LARGE = ("scale",)  # only when named: it makes homes of 0.4 and 2 GB
RESULTS = harness.ROOT / "bench" / "results"
SKIPPED = 3


def main() -> int:
    """Run the scripts, or those named; the exit status is not 0 where one failed or was skipped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scripts", nargs="*", metavar="script", help=f"only these of: {', '.join(SCRIPTS + LARGE)}")
    parser.add_argument("--out", type=Path, default=RESULTS / f"speed-{harness.today()}.json", help="the artefact")
    options = parser.parse_args()
    unknown = set(options.scripts) - {*SCRIPTS, *LARGE}
    if unknown:
        parser.error(f"unknown script {', '.join(sorted(unknown))}")
    told = {"date": harness.today(), **harness.commit(), "machine": harness.machine(), "sections": []}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="repertoire-speed-") as place:
        for name in options.scripts or SCRIPTS:
            found = Path(place) / f"{name}.json"
            script = str(Path(__file__).with_name(f"{name}.py"))
            status = subprocess.run([sys.executable, script, "--json", str(found)], check=False).returncode
            if status == 0:
                told["sections"].append(json.loads(found.read_text(encoding="utf-8")))
            else:
                told["sections"].append({"name": name, "missing": "skipped" if status == SKIPPED else "failed"})
                failed += 1
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(options.out)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
