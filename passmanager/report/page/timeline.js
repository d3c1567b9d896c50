// The list of passes as a timeline.

import { began, ended, growth, rows } from "data.js";
import { h, seconds, signed } from "dom.js";

const list = document.getElementById("timeline");
const items = new Map();

function matches(row, text, changedOnly) {
  if (changedOnly && row.status !== "changed" && row.status !== "failed") return false;
  if (!text) return true;
  const searched = [
    row.name,
    row.text,
    row.reason ?? "",
    ...row.symbols,
    ...row.diagnostics.map((d) => d.message),
  ];
  return searched.some((part) => part.toLowerCase().includes(text));
}

function item(row, select) {
  const whole = Math.max(ended - began, 1e-9);
  const bar = h("span.bar");
  bar.style.left = `min(${(100 * (row.time - began)) / whole}%, 100% - 2px)`;
  bar.style.width = `${(100 * (row.seconds ?? 0)) / whole}%`;
  const name = h("span.name", { title: row.text }, row.name);
  name.style.paddingLeft = `${Math.min(row.depth, 8) * 0.9}em`;
  const change = row.kind === "pass" && row.status !== "skipped" && !row.composite ? signed(growth(row)) : "";
  const notes = row.diagnostics.filter((d) => d.severity !== "remark").length;
  return h(
    `li.${row.status.replace(" ", "-")}${row.composite ? ".composite" : ""}`,
    { "data-index": row.index, onclick: () => select(row) },
    h("span.dot", { title: row.status }),
    name,
    notes ? h("span.notes", { title: "warnings and errors" }, String(notes)) : h("span"),
    h("span.track", {}, bar),
    h(
      "span.time",
      {},
      row.status === "skipped" ? "skipped" : row.seconds === null ? "" : seconds(row.seconds),
    ),
    h("span.change", {}, change),
  );
}

/** Show the rows; `select` is called with the row that is clicked. */
export function showTimeline(select) {
  for (const row of rows) items.set(row, item(row, select));
  list.append(...items.values());
}

/** Hide the rows that do not match; return the visible ones. */
export function filterTimeline(text, changedOnly) {
  const wanted = text.trim().toLowerCase();
  for (const [row, element] of items) element.hidden = !matches(row, wanted, changedOnly);
  list.classList.toggle("empty", visibleRows().length === 0);
}

export function visibleRows() {
  return rows.filter((row) => !items.get(row).hidden);
}

export function markSelected(row) {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const element = row && items.get(row);
  element?.setAttribute("aria-current", "true");
  element?.scrollIntoView({ block: "nearest" });
}
