// The difference of two texts of a function: rows side by side, and the operations in them.

import { described, goneFrom, historyOf } from "data.js";
import { count, h } from "dom.js";
import { markRanges, showLine } from "highlighting.js";
import { showPanel, usesOf } from "panel.js";
import { note } from "remarks.js";

const CONTEXT = 3; // lines around a change
const CHUNK = 50; // rows that are made at once: the next ones when they are scrolled near
const PATIENCE = 1500; // milliseconds that a diff may take

/** Numbers in place of lines, equal for equal lines: they are compared faster. */
function numbered(lines, numbers) {
  return lines.map((line) => {
    if (!numbers.has(line)) numbers.set(line, numbers.size);
    return numbers.get(line);
  });
}

function partsOf(before, after) {
  if (!before.length || !after.length) return undefined;
  const numbers = new Map();
  return Diff.diffArrays(numbered(before, numbers), numbered(after, numbers), { timeout: PATIENCE });
}

/** The rows of a diff: `{old, now}` are numbers of lines, null where there is none. */
function alignLines(before, after) {
  const parts = partsOf(before, after);
  const rows = [];
  let [old, now] = [0, 0];
  const replaced = (removed, added) => {
    for (let i = 0; i < Math.max(removed, added); i++) {
      rows.push({ old: i < removed ? old + i : null, now: i < added ? now + i : null, changed: true });
    }
    old += removed;
    now += added;
  };
  if (parts === undefined) replaced(before.length, after.length);
  else {
    let removed = 0;
    let added = 0;
    for (const part of parts) {
      if (part.removed) removed += part.count;
      else if (part.added) added += part.count;
      else {
        replaced(removed, added);
        removed = added = 0;
        for (let i = 0; i < part.count; i++) rows.push({ old: old++, now: now++, changed: false });
      }
    }
    replaced(removed, added);
  }
  return rows;
}

/** Replace the rows far from a change by gaps, `{gap: rows}`. */
function folded(rows) {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, i) => {
    if (row.changed) near.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  });
  const result = [];
  rows.forEach((row, i) => {
    if (near[i]) result.push(row);
    else if (result.at(-1)?.gap) result.at(-1).gap.push(row);
    else result.push({ gap: [row] });
  });
  return result;
}

const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) target.click();
  },
  { rootMargin: "600px" },
);

/** A text in a diff: its ops by line, and the elements of its lines that are shown. */
export class Side {
  constructor(row, hash, isBefore, text) {
    Object.assign(this, { row, hash, isBefore, text });
    this.history = hash === null ? () => [] : historyOf(row, hash, isBefore);
    this.gone = isBefore && hash !== null ? goneFrom(row, hash) : () => undefined;
    this.ops = new Map();
    text.ops.forEach((op, index) => {
      if (!this.ops.has(op.line)) this.ops.set(op.line, index);
    });
    this.elements = new Map();
    this.marks = new Map(); // the number of a line -> the class that it is marked with
  }

  /** The element of a line; it tells the history of its op, when it is asked for. */
  code(number) {
    const line = this.text.lines[number];
    const index = this.ops.get(number);
    if (index === undefined) return showLine(h("code"), line);
    const { place } = this.text.ops[index];
    const title = [...this.history(index).map(described), place].filter(Boolean).join("\n");
    const code = showLine(h("code.op", { title, tabindex: this.elements.size ? -1 : 0 }), line);
    if (this.marks.has(number)) code.classList.add(this.marks.get(number));
    this.elements.set(number, code);
    return code;
  }

  /** A note that the op of a line is elsewhere after the pass. */
  goneNote(number) {
    const place = this.gone(this.ops.get(number));
    return place === undefined ? null : h("span.gone", {}, `→ ${place}`);
  }

  lineOf(element) {
    return [...this.elements].find(([, other]) => other === element)?.[0];
  }

  mark(number, kind) {
    this.marks.set(number, kind);
    this.elements.get(number)?.classList.add(kind);
  }

  unmark() {
    for (const [number, kind] of this.marks) this.elements.get(number)?.classList.remove(kind);
    this.marks.clear();
  }
}

export class FunctionDiff {
  constructor(before, after, notes) {
    [this.old, this.new] = [before, after];
    [this.before, this.after, this.notes] = [before.text, after.text, notes];
    this.hidden = new Map(); // a button -> the rows that it shows
    this.body = h("div.code", {
      onclick: (event) => this.click(event),
      onkeydown: (event) => this.key(event),
    });
    this.oldNotes = this.notesByLine(this.before, this.after);
    this.newNotes = this.notesByLine(this.after);
  }

  sideOf(element) {
    return element.closest(".old") ? this.old : this.new;
  }

  click({ target }) {
    const code = target.closest("code.op");
    if (code === null || !getSelection().isCollapsed) return;
    const side = this.sideOf(code);
    this.pick(side, side.ops.get(side.lineOf(code)));
  }

  /** Mark an op and its uses, and show the panel about it. */
  pick(side, index) {
    const { row, hash, isBefore, text } = side;
    const reveal = (other) => this.reveal(side, other);
    showPanel({ row, hash, isBefore, text, index, reveal }, () => side.unmark());
    for (const user of usesOf(text.ops, index)) side.mark(text.ops[user].line, "use");
    const { line } = text.ops[index];
    side.mark(line, "picked");
    side.elements.get(line)?.scrollIntoView({ block: "nearest" });
  }

  /** Show an op, unfolding what hides it, and pick it. */
  reveal(side, index) {
    const { line } = side.text.ops[index];
    const hides = ([, rows]) => rows.some((row) => row[side.isBefore ? "old" : "now"] === line);
    while (!side.elements.has(line)) {
      const found = [...this.hidden].find(hides);
      if (!found) return;
      found[0].click();
    }
    const code = side.elements.get(line);
    this.pick(side, index);
    code.scrollIntoView({ block: "center" });
    code.focus({ preventScroll: true });
  }

  /** Go to the next or previous op with the arrows; Enter picks it. */
  key(event) {
    const code = event.target.closest("code.op");
    if (code === null) return;
    if (event.key === "Enter" || event.key === " ") {
      const side = this.sideOf(code);
      this.pick(side, side.ops.get(side.lineOf(code)));
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const kind = code.closest(".old") ? ".old" : ".new";
      const codes = [...this.body.querySelectorAll(`${kind} code.op`)];
      const next = codes[codes.indexOf(code) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next === undefined) return;
      code.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else return;
    event.preventDefault();
  }

  /** The notes at each line of a text; none of those at places that `other` has too. */
  notesByLine(text, other) {
    const elsewhere = new Set(other?.ops.map((op) => op.place));
    const found = new Map();
    for (const op of text.ops) {
      if (op.place && !elsewhere.has(op.place) && this.notes.has(op.place)) {
        found.set(op.line, [...(found.get(op.line) ?? []), ...this.notes.get(op.place)]);
      }
    }
    return found;
  }

  show() {
    const rows = alignLines(this.before.lines, this.after.lines);
    this.added = rows.filter((row) => row.changed && row.now !== null).length;
    this.removed = rows.filter((row) => row.changed && row.old !== null).length;
    this.append(
      this.after.lines.length && this.before.lines.length && this.added + this.removed ? folded(rows) : rows,
    );
    return this;
  }

  /** Append the first rows, and a button for the others, which works by itself when it is near. */
  append(rows, anchor = null) {
    this.body.insertBefore(this.fragment(rows.slice(0, CHUNK)), anchor);
    const rest = rows.slice(CHUNK);
    if (!rest.length) return;
    const button = this.opener("more", rest, `${count(rest.length, "row")} more`);
    this.body.insertBefore(button, anchor);
    nearby.observe(button);
  }

  fragment(rows) {
    const fragment = document.createDocumentFragment();
    for (const row of rows) fragment.append(...(row.gap ? [this.gap(row.gap)] : this.row(row)));
    return fragment;
  }

  /** A button that shows rows in its place. */
  opener(kind, rows, label) {
    const open = () => {
      nearby.unobserve(button);
      this.hidden.delete(button);
      this.append(rows, button);
      button.remove();
    };
    const button = h(`button.${kind}`, { type: "button", onclick: open }, label);
    this.hidden.set(button, rows.flatMap((row) => row.gap ?? [row]));
    return button;
  }

  gap(rows) {
    return this.opener("gap", rows, count(rows.length, "unchanged line"));
  }

  row({ old, now, changed }) {
    const left = old === null ? null : this.before.lines[old];
    const right = now === null ? null : this.after.lines[now];
    const oldCode = left === null ? h("code") : this.old.code(old);
    const newCode = right === null ? h("code") : this.new.code(now);
    if (changed && left !== null && right !== null) markWords(oldCode, left, newCode, right);
    const notes = [...(this.oldNotes.get(old) ?? []), ...(this.newNotes.get(now) ?? [])];
    const row = h(
      `div.row${changed ? ".changed" : ""}`,
      {},
      h("span.number", {}, old === null ? "" : String(old + 1)),
      h(`span.ir.old${left === null ? ".none" : ""}`, {}, oldCode, changed ? this.old.goneNote(old) : null),
      h("span.number", {}, now === null ? "" : String(now + 1)),
      h(
        `span.ir.new${right === null ? ".none" : ""}`,
        {},
        newCode,
        notes.length ? noteButton(notes, () => row) : null,
      ),
    );
    return [row];
  }
}

function noteButton(notes, row) {
  const worst = notes.find(({ severity }) => severity !== "remark") ?? notes[0];
  return h(
    `button.note-mark.${worst.severity}`,
    {
      type: "button",
      title: notes.map(({ message }) => message).join("\n"),
      onclick: () => {
        const next = row().nextElementSibling;
        if (next?.classList.contains("inline-notes")) next.remove();
        else row().after(h("ul.inline-notes", {}, notes.map(note)));
      },
    },
    String(notes.length),
  );
}

function markWords(oldElement, old, newElement, now) {
  if (old.length > 1000 || now.length > 1000) return;
  const parts = Diff.diffWordsWithSpace(old, now);
  const same = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.length, 0);
  if (same < 0.7 * Math.min(old.length, now.length)) return;
  markRanges(oldElement, ranges(parts, "added", "removed"));
  markRanges(newElement, ranges(parts, "removed", "added"));
}

function ranges(parts, absent, marked) {
  let offset = 0;
  const found = [];
  for (const part of parts.filter((part) => !part[absent])) {
    if (part[marked]) found.push([offset, offset + part.value.length]);
    offset += part.value.length;
  }
  return found;
}
