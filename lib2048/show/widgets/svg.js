// Elements of SVG, apart from board.js: the pages that play without a kernel draw none.

// Make one; text: what stands in it.
export function drawing(tag, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.textContent = text;
  return element;
}
