"""Prints the installed components that stored advisories concern, as JSON; `doctor` runs it in the environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from repertoire.app.sources.advisories import kept_advisories
from repertoire.ingestion.advisories import AFFECTED
from repertoire.store.database import Store


def main(database: str) -> None:
    """Print the ids of components that surely require an affected version, and of those that possibly do."""
    with Store.open(Path(database), read_only=True) as store:
        found = [match for match in kept_advisories(store).matches if match.installed]
    sure = {match.component for match in found if match.certainty == AFFECTED}
    told = {"affected": sorted(sure), "possible": sorted({match.component for match in found} - sure)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
