// The page: what is selected, the tabs of a pass, the overview, and the keys.

import { showChanges } from "changes.js";
import { redrawChart, showChart } from "chart.js";
import { began, cutOff, ended, growth, opCount, passes, rows, statistics, work } from "data.js";
import { count, h, seconds, signed } from "dom.js";
import { showGraph } from "graph.js";
import { showRemarks } from "remarks.js";
import { filterTimeline, markSelected, showTimeline, visibleRows } from "timeline.js";

const main = document.querySelector("main");
const filter = document.getElementById("filter");
const changedOnly = document.getElementById("changed-only");
const TABS = {
  changes: ["Changes", showChanges],
  graph: ["Graph", showGraph],
  remarks: ["Remarks", showRemarks],
};
const LISTED = 100; // passes in the table of the overview
let selected = null;
let tab = "changes";

window.passline = { work };

function summarize() {
  const leaves = passes.filter((row) => !row.composite && row.status !== "skipped");
  const changed = leaves.filter((row) => row.status === "changed").length;
  const failed = rows.filter((row) => row.status === "failed" && !row.composite);
  document
    .getElementById("summary")
    .append(
      `${count(leaves.length, "pass")} · ${changed.toLocaleString("en")} changed the IR · ${rows.length ? seconds(ended - began) : "nothing ran"}`,
      ...failed.map((row) => h("span.failed", {}, ` · ${row.name} failed`)),
      ...(cutOff ? [h("span.failed", {}, " · the record is incomplete")] : []),
    );
}

// What is shown

function facts(row) {
  const found = [];
  if (row.position) found.push(row.position);
  if (row.seconds !== null && row.status !== "skipped") found.push(seconds(row.seconds));
  if (row.verify) found.push(`verification ${seconds(row.verify)}`);
  for (const analysis of row.analyses)
    found.push(`${analysis.name.replace("(A) ", "")} ${seconds(analysis.seconds)}`);
  if (row.status !== "skipped")
    found.push(`${count(opCount(row), "op")}${growth(row) ? ` (${signed(growth(row))})` : ""}`);
  for (const [name, n] of Object.entries(row.counters)) found.push(`${name} ${n.toLocaleString("en")}`);
  return found.map((fact) => h("li", {}, fact));
}

function differences(row) {
  const [before, after] = [row.countsBefore ?? {}, row.countsAfter ?? {}];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changes = names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]).filter(([, n]) => n);
  changes.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const shown = changes
    .slice(0, 12)
    .map(([name, n]) => h(`li.${n > 0 ? "plus" : "minus"}`, {}, h("b", {}, signed(n)), ` ${name}`));
  if (changes.length > 12) shown.push(h("li", {}, `and ${changes.length - 12} more`));
  return shown.length ? h("ul.differences", {}, shown) : null;
}

async function showPass(row) {
  const body = h("section.tab");
  const number = {
    changes: "",
    graph: "",
    remarks: row.diagnostics.length ? ` ${row.diagnostics.length}` : "",
  };
  const tabs = Object.entries(TABS).map(([key, [label]]) =>
    h(
      "button",
      { type: "button", role: "tab", "aria-selected": String(key === tab), onclick: () => openTab(key) },
      label,
      h("small", {}, number[key]),
    ),
  );
  main.replaceChildren(
    h(
      "div.title",
      {},
      h("h2", {}, row.name),
      h(`span.status.${row.status.replace(" ", "-")}`, {}, row.status),
    ),
    row.text === row.name ? "" : h("p.options", {}, h("code", {}, row.text)),
    row.error ? h("p.error", {}, h("strong", {}, row.error.error ?? "Stopped"), ` ${row.error.message}`) : "",
    h("ul.facts", {}, facts(row)),
    differences(row) ?? "",
    h("div.tabs", { role: "tablist" }, tabs),
    body,
  );
  main.scrollTop = 0;
  await TABS[tab][1](body, row);
}

function showPhase(row) {
  main.replaceChildren(
    h("div.title", {}, h("h2", {}, row.name), row.failed ? h("span.status.failed", {}, "failed") : ""),
    row.failed ? h("p.error", {}, h("strong", {}, row.error ?? "Failed"), ` ${row.message ?? ""}`) : "",
    h("ul.facts", {}, h("li", {}, seconds(row.seconds))),
  );
}

function overview() {
  const table = h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Pass", "Runs", "Changed", "Time", "Created", "Erased", "Counters"].map((name) => h("th", {}, name)),
      ),
    ),
  );
  const sum = (named) => Object.values(named).reduce((a, b) => a + b, 0) || "";
  const list = (named) =>
    Object.entries(named)
      .map(([name, n]) => `${name} ${n}`)
      .join(", ");
  const rowOf = ([name, found]) =>
    h(
      "tr",
      {},
      h("td", {}, name),
      h("td", {}, String(found.runs)),
      h("td", {}, found.failed ? `${found.failed} failed` : String(found.changed || "")),
      h("td", {}, seconds(found.seconds)),
      h("td", { title: list(found.created) }, String(sum(found.created))),
      h("td", { title: list(found.erased) }, String(sum(found.erased))),
      h("td", {}, list(found.counters)),
    );
  const sorted = [...statistics].sort((a, b) => b[1].seconds - a[1].seconds).slice(0, LISTED);
  table.append(h("tbody", {}, sorted.map(rowOf)));
  const holder = h("section.overview", {}, h("h3", {}, "Operations over the pipeline"));
  main.replaceChildren(h("div.title", {}, h("h2", {}, "Overview")), holder);
  if (passes.length) showChart(holder, select);
  else holder.append(h("p.empty", {}, "No pass ran."));
  if (sorted.length) holder.append(h("h3", {}, "Passes by time"), h("div.scroll", {}, table));
}

// Selection

/** Show a row of the timeline, or the overview; resolves when its contents are there. */
async function select(row) {
  selected = row;
  markSelected(row);
  history.replaceState(null, "", row ? `#${row.index}` : "#");
  if (row === null) overview();
  else if (row.kind === "phase") showPhase(row);
  else await showPass(row);
  main.dataset.shown = row === null ? "overview" : String(row.index);
}

function openTab(name) {
  tab = name;
  if (selected?.kind === "pass") select(selected);
}

function step(direction, wanted = () => true) {
  const list = visibleRows();
  const now = selected === null ? -1 : list.indexOf(selected);
  for (let i = now + direction; i >= 0 && i < list.length; i += direction) {
    if (wanted(list[i])) return select(list[i]);
  }
}

// Settings

function toggleTheme() {
  const { classList } = document.documentElement;
  const dark =
    classList.contains("dark") ||
    (!classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
  classList.remove("dark", "light");
  classList.add(dark ? "light" : "dark");
  redrawChart();
}

const isChange = (row) => (row.status === "changed" || row.status === "failed") && !row.composite;
const keys = {
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  n: () => step(1, isChange),
  p: () => step(-1, isChange),
  1: () => openTab("changes"),
  2: () => openTab("graph"),
  3: () => openTab("remarks"),
  o: () => select(null),
  t: toggleTheme,
  "/": () => filter.focus(),
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === filter) filter.blur();
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
  )
    return;
  const inMain = event.target.closest("main") !== null && event.key.startsWith("Arrow");
  if (inMain || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});
const refilter = () => filterTimeline(filter.value, changedOnly.checked);
filter.addEventListener("input", refilter);
changedOnly.addEventListener("change", refilter);
document.getElementById("theme").addEventListener("click", toggleTheme);
document.getElementById("help").addEventListener("click", keys["?"]);
document.querySelector("h1").addEventListener("click", keys.o);

summarize();
showTimeline(select);
const asked = location.hash.slice(1);
await select(
  (asked && rows[Number(asked)]) || rows.find((row) => row.status === "failed" && !row.composite) || null,
);
document.documentElement.dataset.ready = "true";
