// The number of ops over the pipeline.

import { countSteps } from "data.js";
import { h } from "dom.js";

const SERIES = 8;

/** A colour of the style sheet as the canvas takes it: resolved for light or dark. */
function colour(name) {
  return () => {
    const probe = h("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

/** The names of the ops to draw: those that are most frequent at any time. */
function frequent(steps) {
  const most = new Map();
  for (const { countsAfter } of steps) {
    for (const [name, n] of Object.entries(countsAfter ?? {})) most.set(name, Math.max(most.get(name) ?? 0, n));
  }
  return [...most].sort((a, b) => b[1] - a[1]).slice(0, SERIES).map(([name]) => name);
}

let chart = null;

/** Show the chart in an element; `select` is called with the pass that is clicked. */
export function showChart(element, select) {
  chart?.destroy();
  chart = null;
  const steps = countSteps();
  if (!steps.length) return;
  const names = frequent(steps);
  const first = steps[0].countsBefore ?? {};
  const columns = [first, ...steps.map((row) => row.countsAfter ?? {})];
  const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const data = [columns.map((_, i) => i), columns.map(sum), ...names.map((name) => columns.map((c) => c[name] ?? 0))];
  const stepped = uPlot.paths.stepped({ align: 1 });
  const line = (label, variable, width) => ({ label, stroke: colour(variable), width, paths: stepped, points: { show: false } });
  const at = (i) => (i === 0 ? "start" : steps[i - 1].name);
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui" };
  const options = {
    width: element.clientWidth || 800,
    height: 280,
    // Half a step more, so that the counts after the last pass have a width.
    scales: { x: { time: false, range: (u, low, high) => [low, high === columns.length - 1 ? high + 0.5 : high] }, y: { range: (u, low, high) => [0, Math.max(1, high * 1.05)] } },
    axes: [{ ...axis, values: (u, ticks) => ticks.map((i) => (Number.isInteger(i) && i < columns.length ? String(i) : "")) }, { ...axis, size: 60 }],
    series: [{ label: "after", value: (u, i) => (i === null ? "" : at(i)) }, line("all ops", "--text", 2), ...names.map((name, i) => line(name, `--series-${i + 1}`, 1.5))],
    cursor: { drag: { x: true, y: false } },
    legend: { live: true },
  };
  const holder = h("div.chart");
  element.append(holder);
  chart = new uPlot(options, data, holder);
  chart.over.addEventListener("click", () => {
    const i = chart.cursor.idx;
    if (i > 0) select(steps[i - 1]);
  });
  new ResizeObserver(() => holder.isConnected && chart?.setSize({ width: holder.clientWidth, height: 280 })).observe(holder);
}

export function redrawChart() {
  chart?.redraw(false, true);
}
