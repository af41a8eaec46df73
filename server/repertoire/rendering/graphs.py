"""Draws a neighbourhood of the graph as Mermaid or as one offline HTML page; names are always escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any

from repertoire.domain.text import clean_line, counted
from repertoire.retrieval.neighbourhood import Neighbourhood

FORMATS = ("text", "json", "mermaid", "html")
_ASSETS = Path(__file__).resolve().parent / "assets"
_NAME, _TIES = 60, 4
_PLAIN = frozenset(" -_./@+")  # characters besides letters and digits that have no meaning in Mermaid


def drawn(graph: Neighbourhood, form: str, *, title: str) -> str:
    """Return the graph in the form asked for: Mermaid or HTML."""
    if form == "json":
        return json.dumps(graph_data(graph), indent=2)
    if form == "mermaid":
        return _mermaid(graph)
    return _page(graph, title, graph_text(graph)) if form == "html" else graph_text(graph)


def graph_text(graph: Neighbourhood) -> str:
    """Render the nodes around a component, the nearest first, each with its edges to the nodes before it."""
    place = {node.key: number for number, node in enumerate(graph.nodes)}
    ties: dict[str, list[str]] = {node.key: [] for node in graph.nodes}
    for edge in graph.edges:
        later, earlier = sorted((edge.source, edge.target), key=place.__getitem__, reverse=True)
        arrow = "→" if edge.source == later else "←"
        name = clean_line(graph.nodes[place[earlier]].name, _NAME)
        ties[later].append(f"{edge.relation} {arrow} {name}")
    lines = [f"around it: {counted(len(graph.nodes), 'node')}, {counted(len(graph.edges), 'edge')}"]
    for node in graph.nodes:
        told = "; ".join(ties[node.key][:_TIES])
        more = f"; and {len(ties[node.key]) - _TIES} more" if len(ties[node.key]) > _TIES else ""
        kind = f"{node.type}, chosen" if node.chosen else node.type
        lines.append(f"  - {clean_line(node.name, _NAME)} ({kind}){': ' + told + more if told else ''}")
    return "\n".join(lines)


def graph_data(graph: Neighbourhood) -> dict[str, Any]:
    """Return nodes and edges as a JSON object, with the ids of the store."""
    nodes = [
        {
            "id": node.key,
            "name": clean_line(node.name, _NAME),
            "type": node.type,
            "weight": round(node.weight, 4),
            "chosen": node.chosen,
        }
        for node in graph.nodes
    ]
    edges = [
        {"source": edge.source, "target": edge.target, "relation": edge.relation, "weight": edge.weight}
        for edge in graph.edges
    ]
    return {"nodes": nodes, "edges": edges}


def _mermaid(graph: Neighbourhood) -> str:
    number = {node.key: at for at, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [f'  n{number[node.key]}["{_quoted(node.name)} ({_quoted(node.type)})"]' for node in graph.nodes]
    lines += [
        f'  n{number[edge.source]} -- "{_quoted(edge.relation)}" --> n{number[edge.target]}' for edge in graph.edges
    ]
    chosen = ",".join(f"n{number[node.key]}" for node in graph.nodes if node.chosen)
    lines += ["  classDef chosen stroke-width:4px", f"  class {chosen} chosen"] if chosen else []
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a label in which every character with a meaning in Mermaid or HTML is a character reference."""
    line = clean_line(text, _NAME)
    return "".join(sign if sign.isalnum() or sign in _PLAIN else f"#{ord(sign)};" for sign in line)


def _page(graph: Neighbourhood, title: str, text: str) -> str:
    library = (_ASSETS / "cytoscape.min.js").read_text(encoding="utf-8")
    script = (_ASSETS / "graph.js").read_text(encoding="utf-8")
    shown = graph_data(graph)
    number = {node["id"]: f"n{at}" for at, node in enumerate(shown["nodes"])}
    data = {
        "nodes": [{**node, "id": number[node["id"]]} for node in shown["nodes"]],
        "edges": [
            {**edge, "source": number[edge["source"]], "target": number[edge["target"]]} for edge in shown["edges"]
        ],
    }
    page = (_ASSETS / "graph.html").read_text(encoding="utf-8")
    parts = {
        "POLICY": f"default-src 'none'; style-src 'unsafe-inline'; script-src {_hash(library)} {_hash(script)}",
        "TITLE": html.escape(clean_line(title, 200)),
        "TEXT": html.escape(text),
        "DATA": _inert(data),
        "LIBRARY": library,
        "SCRIPT": script,
    }
    pieces = page.split("@@")  # in one pass, so that inserted text is not scanned for placeholders
    return "".join(parts[piece] if at % 2 else piece for at, piece in enumerate(pieces))


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _inert(value: Any) -> str:
    """Return JSON that cannot close the HTML element around it."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
