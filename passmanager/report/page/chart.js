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
    for (const [name, n] of Object.entries(countsAfter ?? {}))
      most.set(name, Math.max(most.get(name) ?? 0, n));
  }
  return [...most]
    .sort((a, b) => b[1] - a[1])
    .slice(0, SERIES)
    .map(([name]) => name);
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
  columns.push(columns.at(-1)); // half a step more, so that the last counts have a width
  const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const data = [
    columns.map((_, i) => Math.min(i, steps.length + 0.5)),
    columns.map(sum),
    ...names.map((name) => columns.map((c) => c[name] ?? 0)),
  ];
  const stepped = uPlot.paths.stepped({ align: 1 });
  const line = (label, variable, width) => ({
    label,
    stroke: colour(variable),
    width,
    paths: stepped,
    points: { show: false },
  });
  const passAt = (i) => steps[Math.min(i, steps.length) - 1];
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
    font: "12px system-ui",
  };
  const options = {
    width: element.clientWidth || 800,
    height: 280,
    scales: { x: { time: false }, y: { range: (u, low, high) => [0, Math.max(1, high * 1.05)] } },
    axes: [
      {
        ...axis,
        values: (u, ticks) => ticks.map((i) => (Number.isInteger(i) && i <= steps.length ? String(i) : "")),
      },
      { ...axis, size: 60 },
    ],
    series: [
      { label: "after", value: (u, value, series, i) => (i === null ? "" : (passAt(i)?.name ?? "start")) },
      line("all ops", "--text", 2),
      ...names.map((name, i) => line(name, `--series-${i + 1}`, 1.5)),
    ],
    cursor: { drag: { x: true, y: false } },
    legend: { live: true },
  };
  const holder = h("div.chart");
  element.append(holder);
  chart = new uPlot(options, data, holder);
  chart.over.addEventListener("click", () => {
    const i = chart.cursor.idx;
    if (i > 0) select(passAt(i));
  });
  new ResizeObserver(
    () => holder.isConnected && chart?.setSize({ width: holder.clientWidth, height: 280 }),
  ).observe(holder);
}

export function redrawChart() {
  chart?.redraw(false, true);
}
