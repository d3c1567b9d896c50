// The panel about an operation: its type, attributes, uses and history.

import { historyOf, placeOf } from "data.js";
import { count, h } from "dom.js";
import { showLine } from "highlighting.js";

const panel = document.getElementById("operation");
const USES = 30; // uses that are listed

let onClose = () => {};

export function hidePanel() {
  panel.hidden = true;
  onClose();
  onClose = () => {};
}

/** An event of the history as an item: who did it, with a link to the pass, and where the op went. */
function historyItem({ what, row, pattern, place }) {
  if (row === null) return h("li", {}, what);
  const name = `${row.name}${pattern ? ` ${pattern}` : ""}`;
  const number = row.number ? ` (${placeOf(row)})` : "";
  return h("li", {}, `${what} by `, h("a", { href: `#${row.index}` }, name), number, place ?? "");
}

function code(text) {
  return showLine(h("code"), text);
}

function facts({ text, index }) {
  const { types, attributes, place } = text.ops[index];
  const found = [];
  if (types.length) {
    const items = types.map((type) => h("div", {}, code(type)));
    found.push([types.length === 1 ? "Type" : "Types", items]);
  }
  const named = Object.entries(attributes);
  if (named.length) {
    const items = named.map(([name, value]) => h("li", {}, h("b", {}, name), " = ", code(value)));
    found.push(["Attributes", h("ul.attributes", {}, items)]);
  }
  if (place) found.push(["Source", h("code", {}, place)]);
  return found;
}

/** The indices of the ops that use a result of the op. */
export function usesOf(ops, index) {
  return ops.flatMap(({ operands }, user) => (operands.includes(index) ? [user] : []));
}

function useList({ text, index, reveal }) {
  const uses = usesOf(text.ops, index);
  if (!uses.length) return text.ops[index].types.length ? "none" : null;
  const items = uses.slice(0, USES).map((user) => {
    const line = text.lines[text.ops[user].line].trim();
    const button = h("button.line", { type: "button", onclick: () => reveal(user) }, code(line));
    return h("li", {}, button);
  });
  if (uses.length > USES) items.push(h("li", {}, `and ${count(uses.length - USES, "other")}`));
  return h("ol", {}, items);
}

/**
 * Show what is known of an op of a text: `{row, hash, isBefore, text, index, reveal}`; `reveal` shows
 * another op of the same text. `closed` is called when the panel no longer shows the op.
 */
export function showPanel(picked, closed) {
  onClose();
  onClose = closed;
  const { row, hash, isBefore, text, index } = picked;
  const entries = facts(picked);
  entries.push(["History", h("ol.history", {}, historyOf(row, hash, isBefore)(index).map(historyItem))]);
  const uses = useList(picked);
  if (uses !== null) entries.push(["Uses", uses]);
  const close = { type: "button", title: "Close (Esc)", "aria-label": "Close", onclick: hidePanel };
  panel.replaceChildren(
    h("div.title", {}, h("h3", {}, text.ops[index].name), h("button.close", close, "✕")),
    h("p.line", {}, code(text.lines[text.ops[index].line].trim())),
    h(
      "dl",
      {},
      entries.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
  );
  panel.scrollTop = 0;
  panel.hidden = false;
}
