// Elements of the page. Text is set as text: no part of a record is ever read as HTML.

/** Make an element: `h("p.note", {title: "..."}, "text", child)`. */
export function h(selector, attributes = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return fill(element, attributes, children);
}

/** Make an element of SVG. */
export function svg(selector, attributes = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  return fill(element, attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function seconds(value) {
  if (value >= 1) return `${value.toFixed(2)} s`;
  if (value >= 0.1) return `${(1e3 * value).toFixed(0)} ms`;
  if (value >= 0.001) return `${(1e3 * value).toFixed(1)} ms`;
  return `${(1e6 * value).toFixed(0)} µs`;
}

export function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
}

/** A number with its sign, with a true minus. */
export function signed(n) {
  return n > 0 ? `+${n.toLocaleString("en")}` : n < 0 ? `−${(-n).toLocaleString("en")}` : "";
}
