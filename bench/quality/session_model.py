"""What a model in a session names of a set: `session_model.py ask HOME SET FOLDER`, then `score SET FOLDER`.

`ask` calls recommend_set through a real MCP client, as Claude Code does, and writes FOLDER/entries.md: the skill
`recommend`, and for each task the text that the model reads. A language model answers with FOLDER/named.tsv: the number
of an entry, a tab, and what it would name, first things first, with commas (`1`, `2`: of the set or of the nearest
misses; `n1`, `n2`: of the next likeliest; `-`: nothing fits; `?`: it asks back). `score` tells how good the sets are as
the tool gave them, without what stands in reserve, and as the model would name them, with paired differences.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "bench" / "quality")]

import numpy as np  # noqa: E402
from graded import SERVES, Figures, Graded, judge_tasks, plain  # noqa: E402
from judge import interval  # noqa: E402
from mcp import ClientSession, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from opening import UNHURRIED, labelled_sets  # noqa: E402

SKILL = ROOT / "skills" / "recommend" / "SKILL.md"
NEXT = "Next likeliest"
SEED = 39
ROLE = """You play the model in a Claude Code session. For each entry below the user typed `/repertoire:recommend TASK`,
the skill above was loaded, and you called the tool once; its answer follows (skip the call itself). Follow the skill.
Write one line for each entry: its number, a tab, and the components that your reply would recommend, the first first,
with commas: `1`, `2` for what the answer numbers or lists first, `n1`, `n2` for the next likeliest, `-` if your reply
says that nothing fits, `?` if it asks back. What you would only mention is not written. Judge by reading, not by a
program.
"""


def main() -> None:
    """Ask, or score."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("ask", "score"):
        own = verbs.add_parser(verb)
        if verb == "ask":
            own.add_argument("home", type=Path)
        own.add_argument("set")
        own.add_argument("folder", type=Path)
        own.add_argument("--split", default="dev")
        own.add_argument("--grades", type=Path, help="further grades of what the set's own leave out")
        own.add_argument("--most", type=int, default=1000, help="tasks, drawn by chance")
    given = parser.parse_args()
    graded = drawn(Graded.read(labelled_sets(parser) / given.set, given.split, given.grades), given.most)
    if given.verb == "ask":
        answers = asyncio.run(asked(given.home, [task["text"] for task in graded.tasks]))
        given.folder.mkdir(parents=True, exist_ok=True)
        (given.folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        (given.folder / "entries.md").write_text("\n".join(entries(graded, answers)), encoding="utf-8")
        print(f"{len(answers)} entries in {given.folder / 'entries.md'}")
    else:
        score(graded, given.folder)


def drawn(graded: Graded, most: int) -> Graded:
    """Return the tasks that want a component, or as many of them by chance."""
    wanted = [task for task in graded.tasks if task["wants"]]
    order = np.random.default_rng(SEED).permutation(len(wanted))[:most]
    return replace(graded, tasks=[wanted[place] for place in order.tolist()])


async def asked(home: Path, texts: Iterable[str]) -> list[dict]:
    """Return for each task what the server's recommend_set answers: the text, and the data behind it."""
    environment = {"PYTHONPATH": str(ROOT / "server"), "REPERTOIRE_HOME": str(home), "REPERTOIRE_BACKGROUND": "0"}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "repertoire.mcp_server"],
        env={**os.environ, **environment, "REPERTOIRE_QUERY_MS": str(UNHURRIED)},
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        answers = [await session.call_tool("recommend_set", {"task": text}) for text in texts]
    return [{"text": answer.content[0].text, "data": answer.structured_content} for answer in answers]


def entries(graded: Graded, answers: Iterable[Mapping]) -> list[str]:
    """Return what a model is given to read: the skill, its role, and an entry for each task."""
    told = [SKILL.read_text(encoding="utf-8").split("---", 2)[2], ROLE]
    for number, (task, answer) in enumerate(zip(graded.tasks, answers, strict=True)):
        told.append(f"##### {number}\nTask: {task['text']}\n\n{numbered(answer['text'])}\n")
    return told


def numbered(text: str) -> str:
    """Return an answer with the next likeliest numbered, so that they can be named."""
    lines, number, inside = [], 0, False
    for line in text.splitlines():
        inside = line.startswith(NEXT) or (inside and line.startswith("   "))
        first = inside and line.startswith("   ") and line[3] != " "
        number += first
        lines.append(f"   [n{number}] {line[3:]}" if first else line)
    return "\n".join(lines)


def score(graded: Graded, folder: Path) -> None:
    """Print how good the sets are as the tool gave them and as a model would name them."""
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    lines = (line.split("\t") for line in (folder / "named.tsv").read_text(encoding="utf-8").splitlines() if line)
    named = {int(number): said for number, said in lines}
    given = [[item["id"] for item in answer["data"]["items"] if not item["spare"]] for answer in answers]
    chosen = [ids(answer["data"], named[number]) for number, answer in enumerate(answers)]
    tool, model = (judged(graded, sets) for sets in (given, chosen))
    for name, values in tool.items():
        low = interval(model[name] - values)
        print(
            f"{name:22} {np.nanmean(values):5.1f} -> {np.nanmean(model[name]):5.1f}  {low[0]:+.1f} [{low[1]}, {low[2]}]"
        )


def ids(data: Mapping, said: str) -> list[str]:
    """Return the components that a model named by number."""
    places = [] if said.strip() in {"-", "?"} else [place.strip() for place in said.split(",")]
    first = data["items"] or data["near"]
    return [
        data["near"][int(place[1:]) - 1]["id"] if place[0] == "n" else first[int(place) - 1]["id"] for place in places
    ]


def judged(graded: Graded, sets: Iterable[list[str]]) -> Figures:
    """Return the figures of the sets, and in how many tasks nothing is named though something serves."""
    tasks = list(zip(graded.tasks, sets, strict=True))
    answers = {task["text"]: {"set": found, "search": [], "hint": [], "confidence": 1.0} for task, found in tasks}
    figures = judge_tasks(graded, answers)
    missed = [not found and SERVES in graded.grades.get(task["id"], {}).values() for task, found in tasks]
    ungraded = [any(plain(key) not in graded.grades.get(task["id"], {}) for key in found) for task, found in tasks]
    kept = {name: figures[name] for name in ("Good", "Bad", "Precision")}
    return kept | {"Silent, one serves": 100.0 * np.array(missed), "Ungraded": 100.0 * np.array(ungraded)}


if __name__ == "__main__":
    main()
