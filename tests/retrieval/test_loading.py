"""Models and snapshots are loaded only when needed, outside an answer's time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import repertoire

SERVER = Path(repertoire.__file__).resolve().parents[1]


def test_importing_retrieval_imports_neither_model_nor_networkx():
    heavy = "{'fastembed', 'networkx', 'onnxruntime'}"
    code = f"import sys, repertoire.retrieval.pipeline; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=SERVER)
    assert done.stdout.strip() == "[]"


LOADING = """
import sys
from pathlib import Path
import numpy as np
from repertoire.domain.answer import Query
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.resources import Options
from repertoire.retrieval.plan import RECOMMEND
from repertoire.retrieval.priors import Prior
from repertoire.retrieval.stage_reports import TimeLimit
from repertoire.store.database import Store

class Slow:  # each import takes ten seconds of this clock
    seconds = 0.0
    def find_spec(self, name, path=None, target=None):
        self.seconds += 10.0

def slow_prior(snapshot):
    slow.seconds += 10.0
    return np.zeros(len(snapshot))

slow = Slow()
with Store.open(Path(sys.argv[1])) as store:
    pace = TimeLimit(budget_ms=500, clock=lambda: slow.seconds)
    options = Options(pace=pace, priors=(Prior("slow", 0.1, slow_prior),))
    pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=options)
    sys.meta_path.insert(0, slow)
    ranking = pipeline.rank(Query("deploy to kubernetes with helm"), intent=RECOMMEND)
print(slow.seconds > 10.0, "networkx" in sys.modules, [note for note in ranking.degraded if "no time" in note])
"""


def test_what_has_to_be_loaded_is_no_answers_time(embedded):
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(embedded.path)], capture_output=True, text=True, check=True, cwd=SERVER
    )
    assert done.stdout.strip() == "True True []"
