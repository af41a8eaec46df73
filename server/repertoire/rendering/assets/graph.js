"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const shapes = { capability: "diamond", requirement: "triangle", pattern: "hexagon" };
const kind = (type) => (color(type) ? type : "component");
const style = () => [
  { selector: "node", style: {
    label: "data(name)", color: color("ink"), "font-size": 10, "text-wrap": "ellipsis", "text-max-width": 140,
    "background-color": (node) => color(kind(node.data("type"))),
    shape: (node) => shapes[node.data("type")] || "ellipse",
    width: (node) => 10 + 26 * Math.sqrt(node.data("weight")), height: (node) => 10 + 26 * Math.sqrt(node.data("weight")),
    "text-valign": "bottom", "text-margin-y": 3, "text-outline-color": color("paper"), "text-outline-width": 2 } },
  { selector: "node[?chosen]", style: {
    "border-width": 4, "border-color": color("ink"), "font-size": 14, "font-weight": "bold", "z-index": 1 } },
  { selector: "edge", style: {
    width: 1, "line-color": color("faint"), "target-arrow-color": color("faint"), "target-arrow-shape": "triangle",
    "arrow-scale": 0.6, "curve-style": "bezier", opacity: 0.6 } },
  { selector: "edge:selected, edge.near", style: {
    label: "data(relation)", "font-size": 8, color: color("ink"), opacity: 1, "text-rotation": "autorotate",
    "text-outline-color": color("paper"), "text-outline-width": 2 } },
];
const graph = cytoscape({
  container: document.getElementById("graph"),
  elements: [...data.nodes.map((node) => ({ data: node })), ...data.edges.map((edge) => ({ data: edge }))],
  style: style(),
  layout: {
    name: "cose", animate: false, randomize: true, nodeDimensionsIncludeLabels: true, nodeRepulsion: () => 40000, idealEdgeLength: () => 90,
  },
});
graph.on("tap", "node", (event) => {
  graph.edges().removeClass("near");
  event.target.connectedEdges().addClass("near");
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.style(style()));
const legend = document.getElementById("legend");
const signs = { capability: "◆ ", requirement: "▲ ", pattern: "⬢ " };
const explain = (text, name) => {
  const item = document.createElement("span");
  item.textContent = text;
  item.style.color = "var(--" + name + ")";
  legend.append(item);
};
if (data.nodes.some((node) => node.chosen)) explain("◉ the answer", "ink");
for (const name of new Set(data.nodes.map((node) => kind(node.type)))) {
  explain((signs[name] || "● ") + name.replace("_", " "), name);
}
