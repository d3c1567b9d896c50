// The diagnostics and remarks of a pass.

import { count, h } from "dom.js";

const SHOWN = 200;

/** A diagnostic as an item of a list. */
export function note(diagnostic) {
  const { remark } = diagnostic;
  const label = remark ? remark.kind : diagnostic.severity;
  const message = remark ? (remark.arguments.Remark ?? diagnostic.message) : diagnostic.message;
  const more = remark
    ? Object.entries(remark.arguments).filter(([key]) => key !== "Remark" && key !== "Op")
    : [];
  return h(
    `li.note.${diagnostic.severity}.${label.toLowerCase()}`,
    {},
    h("span.label", {}, label),
    h(
      "div",
      {},
      h("p", {}, remark ? h("strong", {}, remark.name) : null, remark ? " " : null, message),
      h(
        "p.about",
        {},
        [
          remark?.arguments.Op,
          remark?.function && `@${remark.function}`,
          diagnostic.location,
          ...more.map(([key, value]) => `${key} ${value}`),
        ]
          .filter(Boolean)
          .join(" · "),
      ),
      diagnostic.notes ? h("ul", {}, diagnostic.notes.map(note)) : null,
    ),
  );
}

/** Show the diagnostics and remarks of a pass in an element, with a filter. */
export function showRemarks(element, row) {
  if (row.error) {
    element.append(
      h(
        "div.failure",
        {},
        h("p", {}, h("strong", {}, row.error.error ?? "Stopped"), ` ${row.error.message}`),
        h(
          "ul",
          {},
          row.error.notes.map((text) => h("li", {}, text)),
        ),
      ),
    );
  }
  if (!row.diagnostics.length) {
    if (!row.error) element.append(h("p.empty", {}, "This pass reported nothing."));
    return;
  }
  const list = h("ol.remarks");
  const summary = h("p.found");
  const input = h("input", {
    type: "search",
    placeholder: "Filter remarks",
    "aria-label": "Filter remarks",
    oninput: () => show(SHOWN),
  });
  const show = (limit) => {
    const wanted = input.value.trim().toLowerCase();
    const found = row.diagnostics.filter((d) => `${d.message} ${d.location}`.toLowerCase().includes(wanted));
    list.replaceChildren(...found.slice(0, limit).map(note));
    summary.textContent = count(found.length, "remark");
    if (found.length > limit)
      list.append(
        h(
          "li",
          {},
          h(
            "button.more",
            { type: "button", onclick: () => show(limit * 5) },
            `${count(found.length - limit, "remark")} more`,
          ),
        ),
      );
  };
  element.append(h("div.toolbar", {}, input, summary), list);
  show(SHOWN);
}
