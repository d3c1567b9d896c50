// The changes of a pass, function by function.

import { headOf, replacedBy, stateAfter, textOf } from "data.js";
import { FunctionDiff, Side } from "diff.js";
import { count, h } from "dom.js";

const OPENED = 300; // lines of functions that are opened without a click

function section(pair, row, notes, open) {
  const [before, after] = pair;
  const head = headOf(after ?? before);
  const what = before === null ? "added" : after === null ? "removed" : before === after ? "" : "changed";
  const counts = h("span.counts");
  const body = h("div.body");
  const details = h(
    `details.function.${what || "same"}`,
    { open: false, "data-symbol": head.symbol },
    h(
      "summary",
      {},
      h("span.symbol", {}, head.symbol ? `@${head.symbol}` : head.op),
      h(`span.what.${what || "same"}`, {}, what || (row.kind === "pass" ? "unchanged" : "")),
      h("span.size", {}, count(head.ops, "op")),
      counts,
    ),
    body,
  );
  const load = async () => {
    if (details.dataset.loaded) return;
    details.dataset.loaded = "true";
    const [old, now] = await Promise.all([textOf(before), textOf(after)]);
    const oldSide = new Side(row, before, before !== after, old);
    const diff = new FunctionDiff(oldSide, new Side(row, after, false, now), notes).show();
    body.append(diff.body);
    if (diff.added || diff.removed) {
      counts.append(
        diff.added ? h("span.plus", {}, `+${diff.added} `) : "",
        diff.removed ? h("span.minus", {}, `−${diff.removed}`) : "",
      );
    }
  };
  details.addEventListener("toggle", () => details.open && load());
  if (open) details.open = true;
  return { details, ready: open ? load() : Promise.resolve() };
}

/** The diagnostics of a pass by place in the source. */
function notesByPlace(row) {
  const found = new Map();
  for (const note of row.diagnostics) {
    if (note.location) found.set(note.location, [...(found.get(note.location) ?? []), note]);
  }
  return found;
}

function whyNothing(row) {
  if (row.status === "skipped") return `Skipped: ${row.reason}.`;
  if (row.status === "cut off") return "The record ends before this pass does.";
  return row.status === "changed"
    ? "This pass changed what the text of the IR does not show."
    : "This pass changed nothing.";
}

const LISTED = 60; // functions that are listed at once

/** Append sections for pairs of hashes, and a button for those beyond the first ones. */
function addSections(parent, list, row, opens) {
  const notes = notesByPlace(row);
  const ready = [];
  let budget = OPENED;
  for (const pair of list.slice(0, LISTED)) {
    const lines = headOf(pair[1] ?? pair[0]).lines;
    const open = opens && (budget === OPENED || lines <= budget);
    budget -= open ? lines : 0;
    const made = section(pair, row, notes, open);
    parent.append(made.details);
    ready.push(made.ready);
  }
  const rest = list.slice(LISTED);
  if (rest.length) {
    const more = () => {
      button.remove();
      addSections(parent, rest, row, opens);
    };
    const label = `${count(rest.length, "function")} more`;
    const button = h("button.more", { type: "button", onclick: more }, label);
    parent.append(button);
  }
  return Promise.all(ready);
}

/** Show the IR at a row in an element; resolves when the opened functions are there. */
export function showState(element, row) {
  const same = stateAfter(row).map((hash) => [hash, hash]);
  if (!same.length) element.append(h("p.empty", {}, "The module is empty."));
  return addSections(element, same, row, true);
}

/** Show the changes of a pass in an element; resolves when the opened functions are there. */
export function showChanges(element, row) {
  const pairs = replacedBy(row);
  if (!pairs.length) element.append(h("p.empty", {}, whyNothing(row)));
  const ready = addSections(element, pairs, row, true);
  const others = stateAfter(row)
    .filter((hash) => !pairs.some((pair) => pair[1] === hash))
    .map((hash) => [hash, hash]);
  if (others.length) {
    const inner = h("div");
    const summary = h("summary", {}, count(others.length, "unchanged function"));
    const details = h("details.others", {}, summary, inner);
    details.addEventListener("toggle", () => {
      if (details.open && !inner.childElementCount) addSections(inner, others, row, false);
    });
    element.append(details);
  }
  return ready;
}
