// A board on the page: tiles that slide, merge and appear as people know it from the game, and what
// every view needs: elements, keys that stay here, swipes.  It knows no kernel and no notebook.

import { ACTIONS, WHOLE } from "./game.js";

const SLIDE = 100; // milliseconds, as in the original game
const POP = 120;

// ---------------------------------------------------------------- elements

// Make an element: make("p.lib-small", {title: "…"}, "words", …), the attributes left out where there
// are none.  One that is a function listens: { onclick: … }.  What it returns is dropped, since
// `false` would cancel what the browser does by itself.
export function make(name, ...parts) {
  const [tag, ...classes] = name.split(".");
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  const element = document.createElement(tag);
  element.classList.add(...classes);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[name] = (event) => void value(event);
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...parts);
  return element;
}

export const row = (...children) => make("div.lib-row", ...children);

// A menu; options: [value, text], to be given later where there are none yet.
export function menu(label, options, onchange = null) {
  const element = make("select", { "aria-label": label, onchange });
  fill(element, options);
  return element;
}

export function fill(menu, options) {
  menu.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
}

// A box to tick, and its label.
export function box(text, onchange, more = {}) {
  const tick = make("input", { type: "checkbox", onchange, ...more });
  return [tick, make("label", tick, text)];
}

// A table; head: texts; rows: of `tr`.
export function table(caption, head, rows) {
  const columns = head.map((text) => make("th", { scope: "col" }, text));
  return make("table.lib-table", make("caption", caption),
    make("thead", make("tr", ...columns)), make("tbody", ...rows));
}

// Numbers with their names: [the element, {name: where its number goes}].
export function tally(...names) {
  const numbers = Object.fromEntries(names.map((name) => [name, make("b", "–")]));
  const named = (name) => make("p", make("span", name), numbers[name]);
  return [make("div.lib-scores", ...names.map(named)), numbers];
}

// What a widget says, and what a reader of the screen reads out.
export const messageLine = () => make("p.lib-message", { "aria-live": "polite", role: "status" });

// Put a widget on the page; name: what it is, for those who do not see it; keys: what they do.
export function furnish(root, { name, keys, kinds = [], role = "application" }, ...parts) {
  root.classList.add("lib2048", ...kinds);
  root.setAttribute("role", role);
  root.setAttribute("aria-label", `${name}. Keys: ${keys}`);
  root.append(...parts, make("p.lib-keys", keys));
}

// Say something below a widget; trouble: in the colour of what went wrong; details: to unfold.
export function putWords(place, words, trouble = false, details = "") {
  place.classList.toggle("lib-trouble", trouble);
  place.textContent = words;
  if (!details) return;
  const folded = make("details", make("summary", "Where it happened"));
  folded.append(make("pre", details));
  place.append(folded);
}

export function button(text, title, onclick, more = {}) {
  return make("button", { type: "button", title, onclick, ...more }, text);
}

// The four actions as buttons, in the places that .lib-cross has for them.
export function arrows(act) {
  return ACTIONS.map((name, action) => {
    const style = `grid-area:${name.toLowerCase()}`;
    return button(name, name, () => act(action), { style });
  });
}

// How long tiles may travel at so many actions a second: not at all where there are many.
export const slideTime = (rate) => (rate > 12 ? 0 : Math.min(SLIDE, 600 / rate));

// A button that cannot be used stays focusable: were it `disabled`, a click on it would hand the
// keyboard to the notebook.
export function enable(element, enabled) {
  element.setAttribute("aria-disabled", String(!enabled));
}

const THIN = "\u202f";

// A text of digits, or a BigInt, with its thousands set apart.
export const grouped = (digits) => String(digits).replace(/\B(?=(\d{3})+$)/g, THIN);

// A number as people read it: thousands set apart, a real minus.
export function points(number, digits = 0) {
  const [whole, rest] = Math.abs(number).toFixed(digits).split(".");
  const text = grouped(whole) + (rest ? `.${rest}` : "");
  return number < 0 && Number(number.toFixed(digits)) !== 0 ? `−${text}` : text;
}

export const counted = (n, word) => `${points(n)} ${word}${n === 1 ? "" : "s"}`;

export const FASTEST = 200; // actions a second

// A slider of actions a second, from 1 to the fastest: {element, rate()}.  endless: its end is no number,
// but as fast as it can, Infinity.
export function speedSlider(rate, changed = () => {}, { endless = false, fastest = FASTEST } = {}) {
  const said = make("output");
  const slider = make("input", {
    type: "range", min: 0, max: 100, value: Math.round((100 * Math.log(rate)) / Math.log(fastest)),
    "aria-label": "Speed in actions a second", oninput: () => say(),
  });
  const now = () => {
    const share = Number(slider.value);
    return endless && share === 100 ? Infinity : Math.round(fastest ** (share / 100));
  };
  const say = () => {
    said.textContent = now() === Infinity ? "as fast as it can" : `${now()} actions/s`;
    slider.setAttribute("aria-valuetext", said.textContent);
    changed();
  };
  say();
  return { element: make("label.lib-speed", slider, said), rate: now };
}

// Let things happen at so many a second: in each frame step(n) hears how many are due, and returns how
// many it took; what it leaves stays due, up to a second of them.  Returns a function that ends it.
export function paced(rate, step) {
  let [due, then, frame] = [0, performance.now(), null];
  const tick = (now) => {
    const passed = Math.max(0, now - then); // a frame may have begun before this was called
    due = Math.min(due + (passed * rate()) / 1000, 1 + rate());
    then = now;
    frame = requestAnimationFrame(tick);
    due -= step(Math.floor(due));
  };
  frame = requestAnimationFrame(tick);
  return () => cancelAnimationFrame(frame);
}

// ---------------------------------------------------------------- the board

// Whether people asked for less motion.
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The face of a tile, whose looks go by its game's rules and its number.
function tileFace(tile, { rules }) {
  const text = String(tile);
  return make("span", { "data-rules": rules, "data-tile": tile, "data-digits": text.length }, text);
}

// What the style sheet has to know of a board's size.
export const sizes = ({ rows, columns }) => `--rows:${rows};--columns:${columns}`;

const FRAMES = {
  grow: [{ scale: 0, opacity: 0 }, { scale: 1, opacity: 1 }],
  pop: [
    { scale: 0.9, opacity: 0, offset: 0 },
    { scale: 0.9, opacity: 1, offset: 0.01 },
    { scale: 1.15, opacity: 1, offset: 0.5 },
    { scale: 1, opacity: 1 },
  ],
};

export class Board {
  // name: what it is, for those who do not see it; game: its `Rules`.
  constructor(name = "board", game = WHOLE) {
    Object.assign(this, { name, game });
    this.tiles = make("div.lib-tiles");
    const cells = make("div.lib-cells", ...game.cells.map(() => make("div.lib-cell")));
    const style = sizes(game);
    this.element = make("div.lib-board", { role: "img", style }, cells, this.tiles);
  }

  tileAt(cell, exponent) {
    const [row, column] = [Math.floor(cell / this.game.columns), cell % this.game.columns];
    const style = `--row:${row};--column:${column}`;
    const face = tileFace(this.game.tiles[exponent], this.game);
    return make("div.lib-tile", { "data-cell": cell, style }, face);
  }

  // Show a board as it is; fresh: the cell of the tile that came last.
  show(cells, fresh = null) {
    const tiles = cells.map((exponent, cell) => exponent && this.tileAt(cell, exponent));
    this.tiles.replaceChildren(...tiles.filter((tile) => tile));
    if (fresh !== null) this.at(fresh)?.classList.add("lib-fresh");
    this.element.setAttribute("aria-label", `${this.name}: ${this.game.inWords(cells)}`);
  }

  at(cell) {
    return this.tiles.querySelector(`[data-cell="${cell}"]`);
  }

  // Show what an action made of `before`; `turn` is what `Rules.next` returns.  The board is
  // there at once; its tiles then travel to where they already are.
  slide(before, turn, milliseconds = SLIDE) {
    this.show(turn.cells, turn.cell);
    if (still() || milliseconds < 20) return;
    const merged = new Set(turn.travels.filter(({ merges }) => merges).map(({ to }) => to));
    for (const { from, to } of turn.travels) {
      if (merged.has(to)) this.ghost(before[from], from, to, milliseconds);
      else this.travel(this.at(to), from, to, milliseconds);
    }
    merged.forEach((cell) => this.appear(cell, "pop", milliseconds));
    if (turn.cell !== undefined) this.appear(turn.cell, "grow", milliseconds);
  }

  // A tile that merges travels as a copy and is gone when it arrives.
  ghost(exponent, from, to, milliseconds) {
    const tile = this.tileAt(to, exponent);
    delete tile.dataset.cell;
    this.tiles.prepend(tile);
    this.travel(tile, from, to, milliseconds).onfinish = () => tile.remove();
  }

  travel(tile, from, to, duration) {
    const { columns } = this.game;
    const [start, end] = [from, to].map((cell) => ({
      transform: `translate(${110 * (cell % columns)}%, ${110 * Math.floor(cell / columns)}%)`,
    }));
    return tile.animate([start, end], { duration, easing: "ease-in-out" });
  }

  appear(cell, how, delay) {
    const options = { duration: POP, delay, fill: "backwards" };
    this.at(cell).firstChild.animate(FRAMES[how], options);
  }

  // Put an arrow on the side of an action, or none: null.
  point(action) {
    this.element.dataset.points = action === null ? "" : ACTIONS[action];
  }
}

// What a game shows of what comes next, beside its board; nothing where it shows nothing.
export class Shown {
  constructor(game) {
    this.game = game;
    this.card = make("div.lib-tile");
    this.element = make("p.lib-next", { hidden: game.shown.length ? null : "" }, "next", this.card);
  }

  show(word) {
    const { shown } = this.game;
    if (shown.length) this.card.replaceChildren(tileFace(shown[word & 3], this.game));
  }
}

// ---------------------------------------------------------------- keys and fingers

const KEYS = { arrowup: 0, arrowright: 1, arrowdown: 2, arrowleft: 3, w: 0, d: 1, s: 2, a: 3 };

export const actionOf = (key) => KEYS[key.toLowerCase()];

const WRITES = "input:not([type=range]):not([type=checkbox]), select, textarea";

// Keep the keyboard here: the notebook never sees a key pressed inside `root`, since `d d` there
// deletes a cell.  `pressed(key, event)` says whether it used a key; fields and menus keep theirs.
// Keys that are the notebook's own go there: Shift or Ctrl with Enter runs the cell.  Escape, and Tab at
// the end, give the keyboard back to the cell.
export function holdKeys(root, pressed) {
  root.tabIndex = 0;
  hold(root);
  root.onkeydown = (event) => {
    if (isTheirs(event)) return;
    event.stopPropagation();
    const { target, ctrlKey, metaKey, altKey } = event;
    if (event.key === "Escape" && !target.closest("form, .lib-fields") && toTheCell(root)) return;
    if (event.key === "Tab" && leaves(root, event) && toTheCell(root)) return event.preventDefault();
    if (ctrlKey || metaKey || altKey || target.matches(WRITES)) return;
    if (target.matches("[type=range]") && event.key.startsWith("Arrow")) return;
    if (target.matches("button, summary") && ["Enter", " "].includes(event.key)) return;
    if (pressed(event.key.toLowerCase(), event)) event.preventDefault(); // no scrolling
  };
  root.onkeyup = root.onkeypress = (event) => event.stopPropagation();
}

// Whether a key belongs to the notebook in any case: it runs cells, or saves.
const isTheirs = ({ key, shiftKey, ctrlKey, metaKey, altKey }) =>
  (key === "Enter" && (shiftKey || ctrlKey || metaKey || altKey)) || (key === "s" && (ctrlKey || metaKey));

// JupyterLab hears keys before anybody else, but for those of elements that say so.
function hold(root) {
  root.dataset.lmSuppressShortcuts = "true";
  const heard = (event) => {
    if (!root.isConnected && heard.shown) return removeEventListener("keydown", heard, true);
    heard.shown ||= root.isConnected;
    if (!root.contains(event.target)) return;
    if (isTheirs(event)) delete root.dataset.lmSuppressShortcuts;
    else root.dataset.lmSuppressShortcuts = "true";
  };
  addEventListener("keydown", heard, true); // of the window: before JupyterLab's, of the document
}

// Whether Tab would go beyond the first or the last part that can be pressed.
function leaves(root, { target, shiftKey }) {
  const all = [...root.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]")]
    .filter((part) => part.tabIndex >= 0 && part.getClientRects().length);
  return shiftKey ? target === root : target === (all.at(-1) ?? root);
}

// Give the keyboard to the notebook's cell around an element, as Escape does in an editor; say whether
// there is one.
function toTheCell(root) {
  const cell = root.closest(".jp-Cell");
  cell?.focus({ preventScroll: true });
  return Boolean(cell);
}

const SWIPE = 24; // pixels that a finger has to move

export function onSwipe(element, swiped) {
  let begin = null;
  element.onpointerdown = (event) => {
    begin = event;
    element.setPointerCapture(event.pointerId); // it may end outside
  };
  element.onpointercancel = () => (begin = null);
  element.onpointerup = (event) => {
    if (!begin) return;
    const [x, y] = [event.clientX - begin.clientX, event.clientY - begin.clientY];
    begin = null;
    if (Math.max(Math.abs(x), Math.abs(y)) < SWIPE) return;
    if (Math.abs(x) > Math.abs(y)) swiped(x > 0 ? 1 : 3);
    else swiped(y > 0 ? 2 : 0);
  };
}
