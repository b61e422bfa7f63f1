// A part of a page of the book that comes alive: what lies beside its script, and when to begin.

import { make } from "../../lib2048/show/widgets/board.js";

// Fetch what lies beside a script by an element, which a page opened as a file may do as well.
export function beside(name, source, found) {
  return new Promise((resolve, reject) => {
    if (found) return resolve();
    const address = new URL(name, source).href;
    const link = { rel: "stylesheet", href: address };
    const element = name.endsWith(".css") ? make("link", link) : make("script", { src: address });
    element.onload = () => resolve();
    element.onerror = () => reject(new Error(`${name} is not there`));
    document.head.append(element);
  });
}

// Let `start(element, the script's address)` begin as soon as a page has an element of this id; looks:
// the name of its style sheet.
export function onPage(id, looks, start) {
  if (!globalThis.document) return;
  const source = document.currentScript.src;
  const begin = () => {
    const root = document.getElementById(id);
    if (!root) return;
    beside(looks, source, document.querySelector(`link[href*="${looks}"]`)).catch(() => {});
    start(root, source);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
}
