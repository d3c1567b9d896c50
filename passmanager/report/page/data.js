// The record: events are unpacked once, a text of IR when it is shown.

/** What the page did: tests and the console read it as `passline.work`. */
export const work = { decoded: 0 };

async function unpack(element) {
  const binary = atob(element.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const KEPT = 64;
const decoded = new Map();

/** The text of a top-level op: `{lines, ops}`; the last ones stay unpacked. */
export function textOf(hash) {
  if (hash === null) return Promise.resolve({ lines: [], ops: [] });
  let found = decoded.get(hash);
  if (found === undefined) {
    work.decoded += 1;
    found = unpack(document.getElementById(`ir-${hash}`)).then(({ text, ops }) => ({
      lines: text.split("\n"),
      ops: ops.map(([name, line, parent, operands, place, types = [], attributes = {}]) => ({
        name,
        line,
        parent,
        operands,
        place,
        types,
        attributes,
      })),
    }));
  }
  decoded.delete(hash);
  decoded.set(hash, found);
  if (decoded.size > KEPT) decoded.delete(decoded.keys().next().value);
  return found;
}

const { events, texts, cut_off } = await unpack(document.getElementById("events"));

/** Whether the record ends in the middle of an event. */
export const cutOff = cut_off;

/** The name, symbol, number of lines and number of ops of a text, without unpacking it. */
export function headOf(hash) {
  const [op, symbol, lines, ops] = texts[hash];
  return { hash, op, symbol, lines, ops };
}

/** The rows of the timeline: passes, skipped passes and phases, in the order of time. */
export const rows = [];
/** The states of each run: the hashes of the top-level ops, after each change. */
const states = new Map();
/** The numbers of the ops in these, as ranges, in the same places. */
const numberings = new Map();
/** For each run, what was done to an op: its number -> a list of `{what, row, pattern, place}`. */
const histories = new Map();
/** The sums over the runs of each leaf pass, by name. */
export const statistics = new Map();

const byId = new Map();
const counts = new Map();
const analyses = [];

function total(named) {
  return Object.values(named ?? {}).reduce((sum, n) => sum + n, 0);
}

function applied(hashes, edits) {
  const result = hashes.slice();
  for (const [start, end, added] of edits) result.splice(start, end - start, ...added);
  return result;
}

/** The edits of a state as edits of its numbering. */
function numberedEdits({ ir, numbers }) {
  const rest = numbers.values();
  return ir.map(([start, end, added]) => [start, end, added.map(() => rest.next().value)]);
}

function numbersIn(ranges) {
  const found = [];
  for (const part of ranges ? ranges.split(",") : []) {
    const [first, last = first] = part.split("-").map(Number);
    for (let n = first; n <= last; n++) found.push(n);
  }
  return found;
}

function noteOne(found, number, fact) {
  if (!found.has(number)) found.set(number, []);
  found.get(number).push(fact);
}

/** Note what a pass did to ops; `row.gone` gets where those are now that it moved or merged. */
function noteHistory(found, event, row) {
  for (const [pattern, numbers] of Object.entries(event.created_by ?? {})) {
    for (const number of numbers) noteOne(found, number, { what: "made", row, pattern });
  }
  for (const [holder, numbers] of Object.entries(event.moved ?? {})) {
    for (const number of numbers) {
      row.gone.set(number, holder);
      noteOne(found, number, { what: "moved", row, place: ` into ${holder}` });
    }
  }
  for (const [holder, pairs] of Object.entries(event.merged ?? {})) {
    for (const [number] of pairs) {
      row.gone.set(number, holder);
      noteOne(found, number, { what: "merged", row, place: ` with the equal operation in ${holder}` });
    }
  }
  for (const [pattern, numbers] of Object.entries(event.erased_by ?? {})) {
    for (const number of numbers) {
      if (!row.gone.has(number)) noteOne(found, number, { what: "erased", row, pattern });
    }
  }
}

function addCounts(sums, named) {
  for (const [name, n] of Object.entries(named ?? {})) sums[name] = (sums[name] ?? 0) + n;
}

function addStatistics(row, event) {
  if (!statistics.has(row.name)) {
    statistics.set(row.name, {
      runs: 0,
      changed: 0,
      failed: 0,
      seconds: 0,
      created: {},
      erased: {},
      counters: {},
    });
  }
  const found = statistics.get(row.name);
  found.runs += 1;
  found.changed += row.status === "changed";
  found.failed += row.status === "failed";
  found.seconds += row.seconds;
  for (const kind of ["created", "erased", "counters"]) addCounts(found[kind], event[kind]);
}

const read = {
  run(event) {
    states.set(event.run, [applied([], event.ir)]);
    numberings.set(event.run, [applied([], numberedEdits(event))]);
    histories.set(event.run, new Map());
    counts.set(event.run, event.counts);
  },
  begin(event) {
    const outer = byId.get(event.parent);
    const row = {
      ...event,
      kind: "pass",
      id: event.pass,
      depth: outer ? outer.depth + 1 : 0,
      outer,
      status: "cut off",
      before: states.get(event.run).length - 1,
      countsBefore: counts.get(event.run),
      diagnostics: [],
      counters: {},
      analyses: [],
      seconds: null,
      symbols: [],
      gone: new Map(), // the number of an op -> where the op is now that was moved or merged
    };
    row.after = row.before;
    row.countsAfter = row.countsBefore;
    byId.set(row.id, row);
    rows.push(row);
  },
  end(event) {
    const row = byId.get(event.pass);
    const states_ = states.get(row.run);
    if (event.ir) {
      states_.push(applied(states_.at(-1), event.ir));
      const numbering = numberings.get(row.run);
      numbering.push(applied(numbering.at(-1), numberedEdits(event)));
      const symbols = event.ir.flatMap(([, , added]) => added.map((hash) => headOf(hash).symbol));
      row.symbols = [...new Set(symbols)].filter(Boolean).map((symbol) => `@${symbol}`);
      noteHistory(histories.get(row.run), event, row);
      counts.set(row.run, event.counts);
    }
    row.after = states_.length - 1;
    row.countsAfter = counts.get(row.run);
    row.seconds = event.time - row.time;
    row.verify = event.verify_seconds;
    row.status = event.event === "fail" ? "failed" : event.changed ? "changed" : "unchanged";
    row.diagnostics = event.diagnostics ?? [];
    row.counters = event.counters ?? {};
    row.error = event.event === "fail" ? event : null;
    if (!row.composite) addStatistics(row, event);
  },
  skip(event) {
    const outer = byId.get(event.parent);
    const now = (states.get(event.run)?.length ?? 1) - 1;
    rows.push({
      ...event,
      kind: "pass",
      depth: outer ? outer.depth + 1 : 0,
      outer,
      status: "skipped",
      before: now,
      after: now,
      countsBefore: counts.get(event.run),
      countsAfter: counts.get(event.run),
      diagnostics: [],
      counters: {},
      analyses: [],
      seconds: 0,
      symbols: [],
    });
  },
  analysis(event) {
    analyses.push(event);
  },
  phase(event) {
    rows.push({
      ...event,
      kind: "phase",
      runs: states.size, // that began before the phase ended
      depth: 0,
      status: event.failed ? "failed" : "phase",
      diagnostics: [],
      symbols: [],
      text: event.name,
    });
  },
};
read.fail = read.end;
for (const event of events) read[event.event]?.(event);
rows.sort((a, b) => a.time - b.time);

const isLoad = ({ kind, name }) => kind === "phase" && name === "Load";
const loads = rows.filter(isLoad);
export const hasLoad = loads.length > 0;
if (hasLoad) {
  const others = rows.filter((row) => !isLoad(row));
  const loaded = loads.reduce((sum, { seconds }) => sum + seconds, 0);
  rows.splice(0, rows.length, { ...loads[0], seconds: loaded }, ...others);
}

/** A time on a clock that stands still while code is loaded. */
function onClock(time) {
  const before = ({ time: start, seconds }) => Math.min(Math.max(time - start, 0), seconds);
  return time - loads.reduce((sum, load) => sum + before(load), 0);
}

function spanOf(row) {
  return [onClock(row.time), onClock(row.time + (row.seconds ?? 0))];
}

/** The first and the last time of rows. */
function extent(some) {
  const times = some.flatMap(spanOf);
  return [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), -Infinity)];
}

const [began, ended] = extent(rows.filter((row) => !isLoad(row)));
/** The time of all passes and phases without loading. */
export const allTime = Math.max(ended - began, 0);

const [axisStart, axisEnd] = extent(rows.filter(({ kind }) => kind === "pass"));
/** Where a pass begins and ends on the axis, which has passes alone: from 0 to 1. */
export function placeOnAxis(row) {
  return spanOf(row).map((time) => (time - axisStart) / Math.max(axisEnd - axisStart, 1e-9));
}

rows.forEach((row, index) => {
  row.index = index;
});
for (const analysis of analyses) {
  const inside = (row) =>
    row.kind === "pass" &&
    row.thread === analysis.thread &&
    row.time <= analysis.time &&
    analysis.time <= row.time + (row.seconds ?? Infinity);
  rows.findLast(inside)?.analyses.push(analysis);
}

export const passes = rows.filter((row) => row.kind === "pass");
/** The passes that ran and are no pipelines, in the order of time; `number` counts them from 1. */
export const leaves = passes.filter((row) => !row.composite && row.status !== "skipped");
leaves.forEach((row, i) => {
  row.number = i + 1;
});

const allSeconds = leaves.reduce((sum, row) => sum + (row.seconds ?? 0), 0);
/** The time of the slowest pass. */
export const longest = Math.max(...leaves.map((row) => row.seconds ?? 0), 1e-9);

/** The part of the time of all passes that a pass took. */
export function share(seconds) {
  return allSeconds ? seconds / allSeconds : 0;
}

/** Whether a pass took much of the time: a tenth of all, and twice the mean. */
export function isSlow(row) {
  return row.number > 0 && share(row.seconds ?? 0) >= Math.max(0.1, 2 / leaves.length);
}

/** Where a pass is among those that ran. */
export function placeOf(row) {
  return row.number ? `${row.number} of ${leaves.length}` : "";
}

/** The change of the number of ops by a pass. */
export function growth(row) {
  return total(row.countsAfter) - total(row.countsBefore);
}

export function opCount(row) {
  return total(row.countsAfter);
}

/** The top-level ops after a pass. */
export function stateAfter(row) {
  return states.get(row.run)[row.after];
}

/** The phases that show what the next run starts with. */
const READING = ["Parser", "Import", "Verifier"];
for (const row of rows.filter(({ kind }) => kind === "phase")) {
  const run = row.name === "Output" ? row.runs - 1 : READING.includes(row.name) ? row.runs : -1;
  if (!states.has(run)) continue;
  row.run = run;
  row.before = row.after = row.name === "Output" ? states.get(run).length - 1 : 0;
}

/** The numbers of the ops in a text before or after a pass. */
function numbersOf(row, hash, isBefore) {
  const at = isBefore ? row.before : row.after;
  const place = states.get(row.run)[at].indexOf(hash);
  return place < 0 ? [] : numbersIn(numberings.get(row.run)[at][place]);
}

/** What was done to the ops in a text before or after a pass: index -> list of `{what, row, ...}`. */
export function historyOf(row, hash, isBefore) {
  const numbers = numbersOf(row, hash, isBefore);
  return (index) => {
    if (numbers[index] === undefined) return [];
    const found = histories.get(row.run).get(numbers[index]) ?? [];
    return found[0]?.what === "made" ? found : [{ what: "from the input", row: null }, ...found];
  };
}

/** Where the ops in a text before a pass are that the pass moved or merged: index -> place. */
export function goneFrom(row, hash) {
  if (!row.gone?.size) return () => undefined;
  const numbers = numbersOf(row, hash, true);
  return (index) => row.gone.get(numbers[index]);
}

/** An event of the history of an op as text. */
export function described({ what, row, pattern, place }) {
  if (row === null) return what;
  const name = `${row.name}${pattern ? ` ${pattern}` : ""}`;
  return `${what} by ${name}${row.number ? ` (${placeOf(row)})` : ""}${place ?? ""}`;
}

/** What a pass replaced: pairs of hashes before and after, null where there is none. */
export function replacedBy(row) {
  if (row.kind !== "pass" || row.before === row.after) return [];
  const [old, now] = [states.get(row.run)[row.before], stateAfter(row)];
  const [was, is] = [new Set(old), new Set(now)];
  const key = (hash) => (headOf(hash).symbol ? `${headOf(hash).op} ${headOf(hash).symbol}` : hash);
  const gone = new Map(old.filter((hash) => !is.has(hash)).map((hash) => [key(hash), hash]));
  const pairs = now
    .filter((hash) => !was.has(hash))
    .map((hash) => {
      const before = gone.get(key(hash)) ?? null;
      gone.delete(key(hash));
      return [before, hash];
    });
  pairs.push(...[...gone.values()].map((hash) => [hash, null]));
  const rank = ([before, after]) => (before && after ? 0 : after ? 1 : 2);
  return pairs.sort((a, b) => rank(a) - rank(b));
}

/** The passes after which the numbers of ops are known, for the chart. */
export function countSteps() {
  return passes.filter((row) => !row.composite && ["changed", "unchanged", "failed"].includes(row.status));
}
