// The page: what is selected, the tabs of a pass, the overview, and the keys.

import { showChanges, showState } from "changes.js";
import { redrawChart } from "chart.js";
import { allTime, cutOff, growth, hasLoad, leaves, opCount, placeOf, rows, work } from "data.js";
import { count, h, seconds, signed } from "dom.js";
import { showGraph } from "graph.js";
import { showOverview } from "overview.js";
import { hidePanel } from "panel.js";
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
let selected = null;
let tab = "changes";

window.passline = { work };

function summarize() {
  const changed = leaves.filter((row) => row.status === "changed").length;
  const failed = rows.filter((row) => row.status === "failed" && !row.composite);
  const without = hasLoad ? " without Load" : "";
  const time = rows.length ? `${seconds(allTime)}${without}` : "nothing ran";
  document
    .getElementById("summary")
    .append(
      `${count(leaves.length, "pass")} · ${changed.toLocaleString("en")} changed the IR · ${time}`,
      ...failed.map((row) => h("span.failed", {}, ` · ${row.name} failed`)),
      ...(cutOff ? [h("span.failed", {}, " · the record is incomplete")] : []),
    );
}

// What is shown

function facts(row) {
  const found = [];
  if (row.number) found.push(`pass ${placeOf(row)}`);
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

async function showPhase(row) {
  main.replaceChildren(
    h("div.title", {}, h("h2", {}, row.name), row.failed ? h("span.status.failed", {}, "failed") : ""),
    row.failed ? h("p.error", {}, h("strong", {}, row.error ?? "Failed"), ` ${row.message ?? ""}`) : "",
    h("ul.facts", {}, h("li", {}, seconds(row.seconds))),
  );
  if (row.run !== undefined) {
    const body = h("section.tab");
    main.append(body);
    await showState(body, row);
  }
}

// Selection

/** Show a row of the timeline, or the overview; resolves when its contents are there. */
async function show(row) {
  selected = row;
  markSelected(row);
  hidePanel();
  if (row === null) showOverview(main, select);
  else if (row.kind === "phase") await showPhase(row);
  else await showPass(row);
  if (selected === row) main.dataset.shown = row === null ? "overview" : String(row.index);
}

/** What the address names: a row, the overview, or, if it names nothing, what is shown first. */
function named() {
  const name = location.hash.slice(1);
  if (name === "overview") return null;
  const failed = rows.find((row) => row.status === "failed" && !row.composite);
  return (/^\d+$/.test(name) && rows[Number(name)]) || failed || null;
}

/** Go to a row or the overview; `replace` adds nothing to the history. */
function select(row, replace = false) {
  const address = row === null ? "#overview" : `#${row.index}`;
  if (location.hash !== address) history[replace ? "replaceState" : "pushState"](null, "", address);
  return show(row);
}

function openTab(name) {
  tab = name;
  if (selected?.kind === "pass") show(selected);
}

function step(direction, { repeat }, wanted = () => true) {
  const list = visibleRows();
  const now = selected === null ? -1 : list.indexOf(selected);
  for (let i = now + direction; i >= 0 && i < list.length; i += direction) {
    if (wanted(list[i])) return select(list[i], repeat);
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
  j: (event) => step(1, event),
  k: (event) => step(-1, event),
  ArrowDown: (event) => step(1, event),
  ArrowUp: (event) => step(-1, event),
  n: (event) => step(1, event, isChange),
  p: (event) => step(-1, event, isChange),
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
  else if (event.key === "Escape") hidePanel();
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
  keys[event.key](event);
});
const refilter = () => filterTimeline(filter.value, changedOnly.checked);
filter.addEventListener("input", refilter);
changedOnly.addEventListener("change", refilter);
document.getElementById("theme").addEventListener("click", toggleTheme);
document.getElementById("help").addEventListener("click", keys["?"]);
document.querySelector("h1").addEventListener("click", keys.o);

summarize();
showTimeline(select);
window.addEventListener("hashchange", () => show(named()));
await show(named());
document.documentElement.dataset.ready = "true";
