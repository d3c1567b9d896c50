// The overview: the chart, and a table of the passes by time.

import { showChart } from "chart.js";
import { passes, share, statistics } from "data.js";
import { h, seconds } from "dom.js";

const LISTED = 100; // passes in the table
const COLUMNS = ["Pass", "Runs", "Changed", "Time", "Share", "Created", "Erased", "Counters"];

const sum = (named) => Object.values(named).reduce((a, b) => a + b, 0) || "";
const list = (named) =>
  Object.entries(named)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");

function shareBar(part) {
  const bar = h("span.bar");
  bar.style.width = `${100 * part}%`;
  return h("span.duration", {}, bar);
}

function rowOf([name, found]) {
  const part = share(found.seconds);
  return h(
    "tr",
    {},
    h("td", {}, name),
    h("td", {}, String(found.runs)),
    h("td", {}, found.failed ? `${found.failed} failed` : String(found.changed || "")),
    h("td", {}, seconds(found.seconds)),
    h("td", {}, h("div.share", {}, shareBar(part), `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`)),
    h("td", { title: list(found.created) }, String(sum(found.created))),
    h("td", { title: list(found.erased) }, String(sum(found.erased))),
    h("td", {}, list(found.counters)),
  );
}

/** Show the overview in an element; `select` is called with the pass that is clicked. */
export function showOverview(element, select) {
  const holder = h("section.overview", {}, h("h3", {}, "Operations over the pipeline"));
  element.replaceChildren(h("div.title", {}, h("h2", {}, "Overview")), holder);
  if (passes.length) showChart(holder, select);
  else holder.append(h("p.empty", {}, "No pass ran."));
  const sorted = [...statistics].sort((a, b) => b[1].seconds - a[1].seconds).slice(0, LISTED);
  if (!sorted.length) return;
  const head = h(
    "tr",
    {},
    COLUMNS.map((name) => h("th", {}, name)),
  );
  const table = h("table", {}, h("thead", {}, head), h("tbody", {}, sorted.map(rowOf)));
  holder.append(h("h3", {}, "Passes by time"), h("div.scroll", { tabindex: 0 }, table));
}
