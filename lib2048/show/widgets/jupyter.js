// What Jupyter needs: anywidget calls `render` with a model, which has the traits of the widget's
// Python and brings its messages.  Nothing else here knows of Jupyter.

import { make } from "./board.js";

const PAUSE = 200; // milliseconds before a position is reported

// What brings a widget back whose kernel is gone: it needs what the cells above it made.
export const AGAIN = "choose Run All Above Selected Cell in the menu Run, then run this cell";

// A `render`; begin: puts a view on the page, {close()}, and hear(message) and lose() where it has a
// use for them.
export const rendering = (begin) => ({ model, el }) => {
  const root = make("div");
  el.append(root);
  const view = begin(root, model, (message) => model.send(message));
  model.on("msg:custom", (message) => view.hear?.(message));
  model.on("comm_live_update", () => view.lose?.()); // after the start, it only ever dies
  return () => view.close();
};

// A `render` of a view of a position; View: its class; about: the trait that says of what.
export const exploring = (View, about) => rendering((root, model, send) => {
  const changed = (position) => {
    model.set("position", position); // for other views of it
    tell(send, { kind: "position", position });
  };
  const position = model.get("position");
  const view = new View(root, { about: model.get(about), position, send, changed });
  model.on("change:position", () => view.adopt(model.get("position")));
  return view;
});

// What reports positions to the kernel, the last of those that come fast one after the other; go:
// where the kernel leads.  Its answer to a report leads nowhere, for we may be further by then.
export function reporting(model, send, go) {
  const reported = [];
  let timer = null;
  model.on("change:position", () => {
    const at = reported.indexOf(model.get("position"));
    if (at < 0) go(model.get("position"));
    else reported.splice(0, at + 1);
  });
  return (position) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (position !== model.get("position")) reported.push(position);
      tell(send, { kind: "position", position });
    }, PAUSE);
  };
}

// Send what needs no answer; lost: what follows where there is no kernel.
export function tell(send, message, lost = () => {}) {
  try {
    send(message);
  } catch {
    lost();
  }
}
