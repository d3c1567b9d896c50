// The graph of a function: ops as boxes, values as arrows, calls of small functions as groups.

import { headOf, replacedBy, stateAfter, textOf } from "data.js";
import { count, h, svg } from "dom.js";
import { showPanel, usesOf } from "panel.js";

const WINDOW = 100; // ops of a function that are drawn at once
const SMALL = 12; // ops of a function that is drawn in the place of its call
const HEIGHT = 26;
const HIDDEN = /\.(return|yield)$/;

/** The function to draw first: the largest that changed, or else that is new, or else of all. */
function favourite(hashes, pairs) {
  const groups = [hashes.filter((hash) => pairs.get(hash)), hashes.filter((hash) => pairs.has(hash)), hashes];
  const candidates = groups.find((group) => group.length);
  return candidates.reduce((a, b) => (headOf(a).ops >= headOf(b).ops ? a : b));
}

/** The op directly in the function around an op: what is drawn of nested ops. */
function outermost(ops, index) {
  while (ops[index].parent > 0) index = ops[index].parent;
  return index;
}

/** The nodes of a function: `{id, label, line, inputs}`, with the values used in nested ops. */
function nodesOf({ ops, lines }) {
  const nodes = new Map();
  ops.forEach((op, index) => {
    if (index === 0 || HIDDEN.test(op.name)) return;
    const top = outermost(ops, index);
    if (top === index)
      nodes.set(index, {
        index,
        name: op.name,
        symbol: symbolIn(op),
        line: lines[op.line] ?? "",
        operands: op.operands,
        inputs: new Set(),
      });
    for (const operand of op.operands) {
      if (operand === null) continue;
      const from = operand < 0 ? operand : outermost(ops, operand);
      if (from !== top) nodes.get(top)?.inputs.add(from);
    }
  });
  return nodes;
}

/** The symbol that an op refers to, such as the function that it calls, by any of its attributes. */
function symbolIn({ attributes }) {
  const found = Object.values(attributes).find((value) => /^@[\w$.-]+(::@[\w$.-]+)*$/.test(value));
  return found?.slice(1);
}

function calleeOf({ symbol }, bySymbol) {
  const hash = symbol && bySymbol.get(symbol);
  return hash && headOf(hash).ops <= SMALL ? { symbol, hash } : null;
}

function isConstant(name) {
  return /const|full/.test(name);
}

/** What a node is called: the symbol that it refers to, or else the op. */
function labelOf({ name, symbol }) {
  return symbol ? `@${symbol}` : name.replace(/^(relax|func|tir)\./, "");
}

class Drawing {
  constructor() {
    this.graph = new dagre.graphlib.Graph({ compound: true });
    this.graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 26, marginx: 12, marginy: 12 });
    this.graph.setDefaultEdgeLabel(() => ({}));
    this.outputs = new Map(); // index of an op -> the node that gives its value
  }

  /** Add a node; `origin` is the op that it stands for, `{hash, text, index}`. */
  box(id, label, title, kind, origin, parent) {
    const width = Math.max(40, 7.2 * label.length + 20);
    this.graph.setNode(id, { id, label, title, kind, origin, width, height: HEIGHT });
    if (parent) this.graph.setParent(id, parent);
    return id;
  }

  edge(from, to) {
    if (from !== undefined && to !== undefined && from !== to) this.graph.setEdge(from, to);
  }

  /** Add a call as the ops of its function, in a group if there are several. */
  group(node, origin, { symbol, hash }, callee, isNew) {
    const inner = new Map(
      [...nodesOf(callee)].filter(([, { name, operands }]) => operands.length || !isConstant(name)),
    );
    const id = `g${node.index}`;
    const group = inner.size > 1 ? id : null;
    if (group) this.graph.setNode(group, { label: symbol, group: true });
    const ids = new Map();
    const kind = isNew ? "new" : "";
    for (const [index, op] of inner) {
      const title = `@${symbol}\n${op.line.trim()}`;
      const inside = { hash, text: callee, index };
      ids.set(index, this.box(`${id}.${index}`, labelOf(op), title, kind, inside, group));
    }
    if (!ids.size) ids.set(0, this.box(`${id}.0`, labelOf(node), node.line, kind, origin, group));
    for (const [index, { inputs }] of inner) {
      for (const from of inputs) {
        if (from >= 0) this.edge(ids.get(from), ids.get(index));
        else this.edge(this.outputs.get(node.operands[-1 - from]), ids.get(index));
      }
    }
    this.outputs.set(node.index, [...ids.values()].at(-1));
  }

  /** Draw the graph; `pick` is called with the element and the op of a node that is chosen. */
  layout(pick) {
    dagre.layout(this.graph);
    const { width, height } = this.graph.graph();
    const root = svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
      svg(
        "defs",
        {},
        svg(
          "marker",
          {
            id: "arrow",
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 6,
            markerHeight: 6,
            orient: "auto",
          },
          svg("path.arrow", { d: "M0 0 8 4 0 8z" }),
        ),
      ),
    );
    const nodes = this.graph.nodes().map((id) => this.graph.node(id));
    for (const node of nodes.filter((node) => node.group)) {
      root.append(
        svg(
          "g.group",
          {},
          svg("rect", {
            x: node.x - node.width / 2,
            y: node.y - node.height / 2,
            width: node.width,
            height: node.height,
            rx: 8,
          }),
          svg("title", {}, `@${node.label}`),
        ),
      );
    }
    for (const id of this.graph.edges()) {
      const points = this.graph.edge(id).points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
      root.append(svg("path.edge", { d: `M${points.join("L")}`, "marker-end": "url(#arrow)" }));
    }
    for (const node of nodes.filter((node) => !node.group)) {
      const choose = () => pick(root, node.origin);
      root.append(
        svg(
          `g.node${node.kind ? `.${node.kind}` : ""}`,
          {
            tabindex: 0,
            role: "button",
            "data-op": `${node.origin.hash} ${node.origin.index}`,
            onclick: choose,
            onkeydown: ({ key }) => key === "Enter" && choose(),
            transform: `translate(${node.x - node.width / 2} ${node.y - HEIGHT / 2})`,
          },
          svg("rect", { width: node.width, height: HEIGHT, rx: 5 }),
          svg("text", { x: node.width / 2, y: HEIGHT / 2 }, node.label),
          svg("title", {}, node.title.trim().slice(0, 400)),
        ),
      );
    }
    return root;
  }
}

const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;

/** A drawn graph in the language of Graphviz. */
function dotOf(graph, name) {
  const inside = (group) => graph.nodes().filter((id) => graph.parent(id) === group);
  const box = (id) => `${quoted(id)} [label=${quoted(graph.node(id).label)}];`;
  const lines = [`digraph ${quoted(name)} {`, "  node [shape=box];"];
  for (const id of inside(undefined)) {
    const { group, label } = graph.node(id);
    if (!group) lines.push(`  ${box(id)}`);
    else {
      lines.push(`  subgraph ${quoted(`cluster_${id}`)} {`, `    label=${quoted(`@${label}`)};`);
      lines.push(...inside(id).map((other) => `    ${box(other)}`), "  }");
    }
  }
  lines.push(...graph.edges().map(({ v, w }) => `  ${quoted(v)} -> ${quoted(w)};`), "}");
  return `${lines.join("\n")}\n`;
}

/** Save a text as a file of the reader. */
function save(text, name) {
  const link = h("a", { download: name, href: `data:text/vnd.graphviz;charset=utf-8,${encodeURIComponent(text)}` });
  link.click();
}

async function draw(hash, bySymbol, oldLines, start, constants, pick) {
  const text = await textOf(hash);
  const all = [...nodesOf(text).values()].filter(
    (node) => constants || node.inputs.size || !isConstant(node.name),
  );
  const shown = all.slice(start, start + WINDOW);
  const drawing = new Drawing();
  for (const node of shown) {
    const isNew = oldLines !== null && !oldLines.has(node.line);
    const callee = calleeOf(node, bySymbol);
    const origin = { hash, text, index: node.index };
    if (callee) drawing.group(node, origin, callee, await textOf(callee.hash), isNew);
    else {
      drawing.outputs.set(
        node.index,
        drawing.box(`n${node.index}`, labelOf(node), node.line, isNew ? "new" : "", origin),
      );
      for (const from of node.inputs)
        drawing.edge(drawing.outputs.get(from), drawing.outputs.get(node.index));
    }
  }
  const picture = drawing.layout(pick);
  return { picture, graph: drawing.graph, total: all.length, shown: shown.length };
}

/** Mark the nodes of an op and of its uses, and show the panel about it. */
function pickNode(row, picture, { hash, text, index }) {
  const mark = (kind, at) => {
    for (const node of picture.querySelectorAll(`[data-op="${hash} ${at}"]`)) node.classList.add(kind);
  };
  const unmark = () => {
    for (const node of picture.querySelectorAll(".picked, .use")) node.classList.remove("picked", "use");
  };
  const reveal = (other) => pickNode(row, picture, { hash, text, index: other });
  showPanel({ row, hash, isBefore: false, text, index, reveal }, unmark);
  for (const user of usesOf(text.ops, index)) mark("use", outermost(text.ops, user));
  mark("picked", index);
}

/** Show the graph of a function after a pass, with a choice of functions. */
export async function showGraph(element, row) {
  const hashes = stateAfter(row).filter((hash) => headOf(hash).ops > 1);
  if (!hashes.length) return void element.append(h("p.empty", {}, "There is no function to draw."));
  const pairs = new Map(replacedBy(row).map(([before, after]) => [after, before]));
  const bySymbol = new Map(hashes.map((hash) => [headOf(hash).symbol, hash]));
  const select = h(
    "select",
    { "aria-label": "Function" },
    hashes.map((hash) =>
      h(
        "option",
        { value: hash },
        `@${headOf(hash).symbol || headOf(hash).op}${pairs.has(hash) ? " •" : ""}`,
      ),
    ),
  );
  select.value = favourite(hashes, pairs);
  const constants = h("input", { type: "checkbox" });
  const position = h("span.found");
  const previous = h("button", { type: "button", title: "Earlier ops" }, "↑");
  const next = h("button", { type: "button", title: "Later ops" }, "↓");
  const dot = h("button", { type: "button", title: "Save what is shown, for Graphviz" }, "DOT");
  const canvas = h("div.graph");
  let start = 0;
  let graph = null;
  const show = async () => {
    const before = pairs.get(select.value);
    const oldLines = before ? new Set((await textOf(before)).lines) : null;
    const pick = (picture, origin) => pickNode(row, picture, origin);
    const { value: hash } = select;
    const drawn = await draw(hash, bySymbol, oldLines, start, constants.checked, pick);
    const { picture, total, shown } = drawn;
    graph = drawn.graph;
    canvas.replaceChildren(picture);
    const first = picture.querySelector(".node")?.getBoundingClientRect();
    if (first) canvas.scrollLeft = first.left - canvas.getBoundingClientRect().left - canvas.clientWidth / 2;
    canvas.scrollTop = 0;
    position.textContent =
      total > shown ? `ops ${start + 1}–${start + shown} of ${total}` : count(total, "op");
    previous.disabled = start === 0;
    next.disabled = start + shown >= total;
    previous.hidden = next.hidden = total <= WINDOW;
  };
  const restart = () => {
    start = 0;
    return show();
  };
  select.addEventListener("change", restart);
  constants.addEventListener("change", restart);
  previous.addEventListener("click", () => {
    start = Math.max(0, start - WINDOW);
    show();
  });
  next.addEventListener("click", () => {
    start += WINDOW;
    show();
  });
  dot.addEventListener("click", () => {
    const { symbol, op } = headOf(select.value);
    save(dotOf(graph, symbol || op), `${symbol || op}.dot`);
  });
  const choice = h("label", {}, constants, " constants");
  element.append(
    h("div.toolbar", {}, select, choice, previous, next, position, dot),
    canvas,
  );
  await show();
}
