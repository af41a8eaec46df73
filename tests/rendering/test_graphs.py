"""Graphs as Mermaid and as one page: hostile names stay text, and a page reaches for nothing outside itself."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.rendering.graphs import drawn
from repertoire.retrieval.neighbourhood import NearbyNode, Neighbourhood, Tie

ASSETS = Path(__file__).resolve().parents[2] / "server" / "repertoire" / "rendering" / "assets"
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"]; click n0 "javascript:alert(1)"',
    "<img src=x onerror=alert(1)>",
    "@@SCRIPT@@ @@DATA@@",
    "`**end**` subgraph x",
    "end\nn0 --> n1\n%%{init: {}}%%",
    "#quot;--><!--",
    "\u202eevil \u2028 name",
)


def graph_of(*names: str) -> Neighbourhood:
    places = tuple(NearbyNode(f"s:{n}", name, "component", 1.0 / (n + 1)) for n, name in enumerate(names))
    ties = tuple(Tie(places[0].key, place.key, "provides", 1.0) for place in places[1:])
    return Neighbourhood(places, ties)


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and what scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts and self.cdata_elem == "script":
            self.scripts[-1] += data


def test_a_page_holds_the_data_and_hostile_names_add_no_element_to_it() -> None:
    plain, hostile = (
        Page(drawn(graph_of("a", "b"), "html", title="t")),
        Page(drawn(graph_of(*HOSTILE), "html", title=HOSTILE[0])),
    )
    assert hostile.tags == plain.tags
    assert hostile.attributes[3:] == plain.attributes[3:]
    assert hostile.scripts[1:] == plain.scripts[1:]
    data = json.loads(hostile.scripts[0])
    assert [node["id"] for node in data["nodes"]] == [f"n{n}" for n in range(len(HOSTILE))]
    assert data["nodes"][0]["name"].startswith("</script>")
    assert {edge["source"] for edge in data["edges"]} == {"n0"}


def test_a_page_reaches_for_nothing_and_runs_only_the_two_scripts_that_it_came_with() -> None:
    text = drawn(graph_of(*HOSTILE), "html", title="t")
    page = Page(text)
    assert not {name for name, _ in page.attributes} & {"src", "href", "srcset", "action"}
    policy = next(value for name, value in page.attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none';")
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in page.scripts[1:]]
    assert re.findall(r"sha256-([^']+)", policy) == hashes
    assert "prefers-color-scheme: dark" in text
    assert text.index("Cytoscape Consortium") > 0  # its licence travels in it


def test_the_library_is_the_one_that_the_notice_names() -> None:
    digest = hashlib.sha256((ASSETS / "cytoscape.min.js").read_bytes()).hexdigest()
    assert digest in (ASSETS / "NOTICE").read_text(encoding="utf-8")


def test_the_pages_own_script_is_sound() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("THE PAGE'S SCRIPT WAS NOT READ BY A JAVASCRIPT ENGINE: no node on PATH")
    subprocess.run([node, "--check", str(ASSETS / "graph.js")], check=True, timeout=60)


@given(st.text())
def test_a_label_of_mermaid_holds_nothing_that_could_mean_something_to_it(name: str) -> None:
    lines = drawn(graph_of("a", name), "mermaid", title="t").split("\n")
    assert len(lines) == 4
    assert re.fullmatch(r'  n1\["(?:[^\W]|[ _./@+-]|#\d+;)* \(component\)"\]', lines[2])


def test_mermaid_itself_reads_hostile_names(tmp_path: Path) -> None:
    modules, node = os.environ.get("REPERTOIRE_MERMAID"), shutil.which("node")
    if not modules or node is None:
        pytest.skip("NOT READ BY MERMAID ITSELF: REPERTOIRE_MERMAID names no folder with mermaid and jsdom in it")
    file = tmp_path / "graph.mmd"
    file.write_text(drawn(graph_of(*HOSTILE), "mermaid", title="t"), encoding="utf-8")
    script = Path(modules) / "read.mjs"
    script.write_text(
        "import { JSDOM } from 'jsdom'; import { readFileSync } from 'fs';\n"
        "const { window } = new JSDOM(''); globalThis.window = window; globalThis.document = window.document;\n"
        "const mermaid = (await import('mermaid')).default;\n"
        "console.log(JSON.stringify(await mermaid.parse(readFileSync(process.argv[2], 'utf8'))));\n"
    )
    done = subprocess.run([node, str(script), str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["diagramType"].startswith("flowchart")


def test_what_was_chosen_is_marked_in_every_form_and_each_type_told() -> None:
    places = (NearbyNode("s:0", "a", "skill", 1.0, chosen=True), NearbyNode("s:1", "b", "agent", 0.5))
    graph = Neighbourhood(places, (Tie("s:0", "s:1", "mentions", 1.0),))
    nodes = json.loads(drawn(graph, "json", title="t"))["nodes"]
    assert [(node["type"], node["chosen"]) for node in nodes] == [("skill", True), ("agent", False)]
    assert drawn(graph, "mermaid", title="t").splitlines()[-1] == "  class n0 chosen"
    assert "  - a (skill, chosen)" in drawn(graph, "text", title="t")
    assert "  - b (agent): mentions ← a" in drawn(graph, "text", title="t")
    [data] = [json.loads(script) for script in Page(drawn(graph, "html", title="t")).scripts[:1]]
    assert [(node["type"], node["chosen"]) for node in data["nodes"]] == [("skill", True), ("agent", False)]


BROWSER = """
import chromium from '@sparticuz/chromium'; import puppeteer from 'puppeteer-core';
const executablePath = await chromium.executablePath();
const browser = await puppeteer.launch({ args: [...chromium.args, '--no-sandbox'], executablePath, headless: 'shell' });
const page = await browser.newPage(), said = [];
page.on('console', (line) => said.push(line.text())); page.on('pageerror', (error) => said.push(error.message));
page.on('request', (request) => { if (!request.url().startsWith('file:')) said.push(request.url()); });
await page.goto('file://' + process.argv[2]);
const legend = await page.$eval('#legend', (found) => found.textContent);
const drawn = await page.$$eval('#graph canvas', (found) => found.some((canvas) =>
  canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part)));
console.log(JSON.stringify({ said, legend, drawn }));
await browser.close();
"""


def test_a_browser_draws_a_page_of_hostile_names_says_nothing_and_reaches_for_nothing(tmp_path: Path) -> None:
    modules, node = os.environ.get("REPERTOIRE_BROWSER"), shutil.which("node")
    if not modules or node is None:
        pytest.skip(
            "NOT OPENED BY A BROWSER: REPERTOIRE_BROWSER names no folder with @sparticuz/chromium, puppeteer-core"
        )
    kinds = ("skill", "agent", "mcp_server", "capability", "requirement", "pattern", "component", "plugin")
    places = tuple(
        NearbyNode(f"s:{n}", name, kind, 1.0 / (n + 1), chosen=not n)
        for n, (name, kind) in enumerate(zip(HOSTILE, kinds, strict=True))
    )
    ties = tuple(Tie(places[0].key, place.key, "provides", 1.0) for place in places[1:])
    file, script = tmp_path / "graph.html", Path(modules) / "look.mjs"
    file.write_text(drawn(Neighbourhood(places, ties), "html", title=HOSTILE[0]), encoding="utf-8")
    script.write_text(BROWSER)
    done = subprocess.run([node, str(script), str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["said"], told["drawn"]) == ([], True)
    assert told["legend"].startswith("◉ the answer")
    assert all(kind.replace("_", " ") in told["legend"] for kind in kinds)


def test_json_holds_keys_and_what_lies_between_them() -> None:
    told = json.loads(drawn(graph_of("a", "b"), "json", title="t"))
    assert told["edges"] == [{"source": "s:0", "target": "s:1", "relation": "provides", "weight": 1.0}]
    assert [node["id"] for node in told["nodes"]] == ["s:0", "s:1"]


def test_text_lists_the_nodes_with_their_ties() -> None:
    assert "b (component): provides ← a" in drawn(graph_of("a", "b"), "text", title="t")
