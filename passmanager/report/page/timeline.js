// The list of passes as a timeline.

import { growth, isSlow, longest, placeOnAxis, rows, share } from "data.js";
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

/** A bar as wide as the pass was long, beside the slowest; pipelines and phases have none. */
function durationBar(row) {
  const bar = h("span.bar");
  bar.style.width = row.number ? `${(100 * (row.seconds ?? 0)) / longest}%` : "0";
  return h("span.duration", {}, row.number ? bar : null);
}

/** A bar at the time at which a pass ran; a phase has none. */
function timeBar(row) {
  if (row.kind === "phase") return h("span");
  const [start, end] = placeOnAxis(row);
  const bar = h("span.bar");
  bar.style.left = `min(${100 * start}%, 100% - 2px)`;
  bar.style.width = `${100 * (end - start)}%`;
  return h("span.track", {}, bar);
}

function item(row) {
  const name = h("span.name", { title: row.text }, row.name);
  name.style.paddingLeft = `${Math.min(row.depth, 8) * 0.9}em`;
  const change = row.kind === "pass" && row.status !== "skipped" && !row.composite ? signed(growth(row)) : "";
  const notes = row.diagnostics.filter((d) => d.severity !== "remark").length;
  const slow = isSlow(row);
  const link = h(
    "a",
    { href: `#${row.index}` },
    h("span.dot", { title: row.status, role: "img", "aria-label": row.status }),
    name,
    notes ? h("span.notes", { title: "warnings and errors" }, String(notes)) : h("span"),
    timeBar(row),
    durationBar(row),
    h(
      "span.time",
      { title: slow ? `${Math.round(100 * share(row.seconds))} % of the time of all passes` : null },
      row.status === "skipped" ? "skipped" : row.seconds === null ? "" : seconds(row.seconds),
    ),
    h("span.change", {}, change),
  );
  return h(
    `li.${row.status.replace(" ", "-")}${row.composite ? ".composite" : ""}${slow ? ".slow" : ""}`,
    { "data-index": row.index },
    link,
  );
}

/** Show the rows; `select` is called with the row that is clicked. */
export function showTimeline(select) {
  for (const row of rows) items.set(row, item(row));
  list.append(...items.values());
  // Not at the links: a click can hit the item of one that is not yet drawn after scrolling.
  list.addEventListener("click", (event) => {
    const clicked = event.target.closest("li");
    if (clicked === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    select(rows[Number(clicked.dataset.index)]);
  });
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

/** Mark the row that is shown; the focus follows it, if it is in the list. */
export function markSelected(row) {
  const focused = list.contains(document.activeElement);
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = row && items.get(row).firstElementChild;
  link?.setAttribute("aria-current", "true");
  if (focused) link?.focus({ preventScroll: true });
  link?.scrollIntoView({ block: "nearest" });
}
