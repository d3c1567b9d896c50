// MLIR for highlight.js.

import hljs from "highlight.js";

function mlir() {
  return {
    name: "MLIR",
    contains: [
      hljs.COMMENT("//", "$"),
      hljs.QUOTE_STRING_MODE,
      { scope: "keyword", match: /(?<=^\s*|= )"?[a-z_][\w$]*\.[\w$.]+"?/ },
      { scope: "title", match: /@[\w$.-]+/ },
      { scope: "variable", match: /%[\w$.-]+(#\d+)?/ },
      { scope: "symbol", match: /\^[\w$.-]+/ },
      {
        scope: "type",
        match:
          /\b(?:tensor|memref|vector|tuple|complex)(?=<)|(?<![\w.])(?:[su]?i\d+|b?f\d+\w*|index|none)\b|![\w.]+|(?<=x)(?:[su]?i\d+|b?f\d+\w*|index)(?=[,> ])/,
      },
      { scope: "arrow", match: /->/ },
      { scope: "meta", match: /#[\w.]+/ },
      { scope: "number", match: /(?<![\w.%@])-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|0x[0-9A-Fa-f]+/ },
      { scope: "literal", match: /\b(?:true|false|unit|dense|dense_resource|array)\b/ },
    ],
  };
}

hljs.registerLanguage("mlir", mlir);

const LONGEST = 4000;

/** Fill an element with a line of IR; highlight.js escapes the text. */
export function showLine(element, line) {
  if (line.length > LONGEST) element.textContent = line;
  else element.innerHTML = hljs.highlight(line, { language: "mlir", ignoreIllegals: true }).value;
  return element;
}

/** Mark ranges of characters, `[start, end]` in ascending order, in an element with text. */
export function markRanges(element, ranges) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  let offset = 0;
  for (const node of nodes) {
    const { length } = node.data;
    markNode(
      node,
      ranges.map(([start, end]) => [start - offset, end - offset]),
    );
    offset += length;
  }
}

function markNode(node, ranges) {
  const { length } = node.data;
  for (const [start, end] of ranges.filter(([s, e]) => s < length && e > 0).reverse()) {
    const range = document.createRange();
    range.setStart(node, Math.max(0, start));
    range.setEnd(node, Math.min(length, end));
    range.surroundContents(document.createElement("mark"));
  }
}
