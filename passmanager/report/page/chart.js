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

const LABEL = 24; // characters of a name on the axis
const LABEL_GAP = 17; // pixels between two names on the axis
const ANGLE = 45;
const PLOT = 230; // pixels
const FONT = "12px system-ui, sans-serif";

const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
const LETTER = 6.8; // pixels
const AXIS = 60; // pixels left of the plot
const SLOPE = Math.sin((ANGLE * Math.PI) / 180);
const clipped = (name, most = LABEL) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

/** The name at a tick of the axis, as long as there is room for it to the left. */
function nameAt(u, i, name) {
  const room = (u.valToPos(i, "x") + AXIS) / SLOPE - 10;
  return clipped(name, Math.min(LABEL, Math.floor(room / LETTER)));
}

/** The steps whose names fit on the axis: first those at which numbers change, then others. */
function labelled(columns, width) {
  const room = Math.ceil((LABEL_GAP * (columns.length - 1)) / width);
  const changes = (i) => JSON.stringify(columns[i]) !== JSON.stringify(columns[i - 1]);
  const all = columns.map((_, i) => i).slice(1, -1);
  const found = [];
  for (const i of [...all.filter(changes), ...all]) {
    if (found.every((other) => Math.abs(other - i) >= room)) found.push(i);
  }
  return found.sort((a, b) => a - b);
}

/** Write the number of ops where it changes, above the line. */
function writeTotals(u) {
  const { ctx } = u;
  const ratio = uPlot.pxRatio;
  const [xs, totals] = u.data;
  ctx.save();
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  ctx.fillStyle = colour("--text")();
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  let free = -Infinity;
  const right = u.bbox.left + u.bbox.width;
  for (let i = 0; i < xs.length - 1; i++) {
    if (i > 0 && totals[i] === totals[i - 1]) continue;
    const next = totals.findIndex((n, at) => at > i && n !== totals[i]);
    const text = totals[i].toLocaleString("en");
    const { width } = ctx.measureText(text);
    const x = Math.min(u.valToPos(xs[i], "x", true) + 4 * ratio, right - width);
    if (x < free || (next > 0 && u.valToPos(xs[next], "x", true) < x + width)) continue;
    ctx.fillText(text, x, u.valToPos(totals[i], "y", true) - 3 * ratio);
    free = x + width + 6 * ratio;
  }
  ctx.restore();
}

/** A value of the legend: under the cursor, or else at the start and at the end. */
function legendValue(u, value, series, i) {
  if (i !== null && i !== undefined) return value.toLocaleString("en");
  const values = u.data[series];
  const [first, last] = [values[0], values.at(-1)].map((n) => n.toLocaleString("en"));
  return first === last ? first : `${first} → ${last}`;
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
    value: legendValue,
  });
  const passAt = (i) => steps[Math.min(i, steps.length) - 1];
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
    font: FONT,
  };
  const splits = labelled(columns, Math.max(200, (element.clientWidth || 800) - AXIS));
  const longestName = Math.max(...splits.map((i) => clipped(passAt(i).name).length));
  const below = 26 + LETTER * longestName * SLOPE;
  const options = {
    width: element.clientWidth || 800,
    height: PLOT + below,
    padding: [22, 8, 0, 0],
    scales: { x: { time: false }, y: { range: (u, low, high) => [0, Math.max(1, high * 1.05)] } },
    axes: [
      {
        ...axis,
        rotate: ANGLE,
        size: below,
        splits: () => splits,
        values: (u, ticks) => ticks.map((i) => nameAt(u, i, passAt(i).name)),
      },
      { ...axis, size: AXIS },
    ],
    series: [
      {
        label: "after",
        value: (u, value, series, i) =>
          i === null || i === undefined ? "start → end" : (passAt(i)?.name ?? "start"),
      },
      line("all ops", "--text", 2),
      ...names.map((name, i) => line(name, `--series-${i + 1}`, 1.5)),
    ],
    cursor: { drag: { x: true, y: false } },
    legend: { live: true },
    hooks: { draw: [writeTotals] },
  };
  const holder = h("div.chart");
  element.append(holder);
  chart = new uPlot(options, data, holder);
  chart.setLegend({ idx: null }, false);
  chart.over.addEventListener("click", () => {
    const i = chart.cursor.idx;
    if (i > 0) select(passAt(i));
  });
  new ResizeObserver(
    () =>
      holder.isConnected && chart?.setSize({ width: holder.clientWidth, height: options.height }),
  ).observe(holder);
}

export function redrawChart() {
  chart?.redraw(false, true);
}
