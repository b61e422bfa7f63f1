/* Made by tools/play_page.py: change what it is made of. */
"use strict";
{
const SPEC = {"name": "2048", "rules": "2048", "rows": 4, "columns": 4, "fours": 429496730, "tiles": [0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768], "shown": []};
const $game = (() => {
// The rules of 2048 on any board and with any odds, with the library's own luck: the same seed and the
// same actions give the same game here and in lib2048 (tests/test_game_js.py plays both).
//
// A board is an array of exponents, row by row, of as many cells as its game has: 0 is empty, 1 is a 2,
// 11 is a 2048.  An action is 0..3: Up, Right, Down, Left.  A random state is a BigInt of 64 bits.

const ACTIONS = ["Up", "Right", "Down", "Left"];
const LARGEST = 15; // two 32768 do not merge: the library keeps a cell in four bits

// ---------------------------------------------------------------- luck
// SplitMix64, as in game/rng.py.

const GOLDEN = 0x9e3779b97f4a7c15n;
const bits64 = (number) => BigInt.asUintN(64, number);

function mix(z) {
  z = bits64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = bits64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

// The random state with which game `number` of `seed` begins; both any integers.
function stream(seed, number) {
  const ours = mix(bits64(bits64(BigInt(seed)) + GOLDEN));
  return mix(ours ^ mix(bits64(bits64(BigInt(number)) * GOLDEN)));
}

// [next state, 64 random bits]
function draw(state) {
  state = bits64(state + GOLDEN);
  return [state, mix(state)];
}

// One of n numbers, 0 … n − 1, by the upper half of 64 random bits.
const below = (bits, n) => Number(((bits >> 32n) * BigInt(n)) >> 32n);

// The same by their lower half.
const alsoBelow = (bits, n) => below(bits64(bits << 32n), n);

// ---------------------------------------------------------------- the rules

// The cells that an action slides along, a line each, the cell at the edge first.
function linesOf(rows, columns, action) {
  const upright = action % 2 === 0;
  const back = action === 1 || action === 2;
  const [count, length] = upright ? [columns, rows] : [rows, columns];
  return Array.from({ length: count }, (_, line) => {
    const at = (i) => (upright ? columns * i + line : columns * line + i);
    return Array.from({ length }, (_, i) => at(back ? length - 1 - i : i));
  });
}

// A game as it is played here.  What another game does otherwise, it says in a class of its own.
class Rules {
  // told: {name, rules, rows, columns, fours, tiles, shown}, see `told` in game.py: fours is the number
  // that 32 random bits fall below where a 4 spawns; tiles are what is written on each exponent's; shown
  // is what the lowest two bits of a word say, [] for nothing.
  constructor(told) {
    Object.assign(this, told);
    this.cells = [...Array(this.rows * this.columns).keys()];
    this.lines = [0, 1, 2, 3].map((action) => linesOf(this.rows, this.columns, action));
  }

  get empty() {
    return this.cells.map(() => 0);
  }

  // How to play, in words.
  get how() {
    return "Slide the tiles: two equal ones merge.";
  }

  // ---- sliding and spawning

  // What two tiles that meet become: an exponent, or 0 where they do not merge.
  merged(one, other) {
    return one === other && one < LARGEST ? one + 1 : 0;
  }

  // Slide a board: {cells, reward, travels}; a travel is {from, to, merges}.
  // An action that changes nothing is not legal; `slides` says so.
  slide(cells, action) {
    const after = this.empty;
    const travels = [];
    let reward = 0;
    for (const line of this.lines[action]) {
      let filled = 0;
      let open = false; // whether the tile that came last may still merge
      for (const from of line.filter((cell) => cells[cell])) {
        const last = line[filled - 1];
        const made = open ? this.merged(after[last], cells[from]) : 0;
        const to = made ? last : line[filled++];
        after[to] = made || cells[from];
        reward += made ? this.tiles[made] : 0;
        open = !made;
        travels.push({ from, to, merges: made > 0 });
      }
    }
    return { cells: after, reward, travels };
  }

  slides(cells, action) {
    return this.slide(cells, action).travels.some(({ from, to }) => from !== to);
  }

  legalActions(cells) {
    return [0, 1, 2, 3].filter((action) => this.slides(cells, action));
  }

  isOver(cells) {
    return this.legalActions(cells).length === 0;
  }

  // Put a 2 or, with the game's chance, a 4 into an empty cell of {cells, state}; the same and the cell.
  spawn({ cells, state }) {
    const [next, bits] = draw(state);
    const exponent = (bits & 0xffffffffn) < BigInt(this.fours) ? 2 : 1;
    return { ...this.place(cells, bits, exponent), word: 0, state: next, pays: 0 };
  }

  // Put a tile into an empty cell by 64 random bits: {cells, cell}.
  place(cells, bits, exponent) {
    const empty = this.cells.filter((cell) => cells[cell] === 0);
    const cell = empty[below(bits, empty.length)];
    const board = [...cells];
    board[cell] = exponent;
    return { cells: board, cell };
  }

  // What a board's tiles are worth where that is what a score counts.
  points() {
    return 0;
  }

  // Begin a game: {cells, word, state}; the word is what a game remembers beside its tiles.
  begin(state) {
    const { cells, word, state: next } = this.spawn(this.spawn({ cells: this.empty, state }));
    return { cells, word, state: next };
  }

  // What an action makes of {cells, word, state, score}: the same and how it came about, or null.
  next({ cells, word, state, score }, action) {
    const { cells: after, reward, travels } = this.slide(cells, action);
    if (travels.every(({ from, to }) => from === to)) return null;
    const spawned = this.spawn({ cells: after, word, state, action, travels });
    return { ...spawned, score: score + reward + spawned.pays, action, reward, travels, after };
  }

  // ---- boards as text

  // A board as 16 hexadecimal digits, the last cell first: the digits of the library's integer, which
  // has a smaller board in the upper left corner of 4×4.
  toHex(cells) {
    const whole = Array(16).fill(0);
    cells.forEach((exponent, cell) => (whole[this.packed(cell)] = exponent));
    return whole.map((exponent) => exponent.toString(16)).reverse().join("");
  }

  fromHex(text) {
    const whole = [...text.padStart(16, "0")].reverse().map((digit) => parseInt(digit, 16));
    return this.cells.map((cell) => whole[this.packed(cell)]);
  }

  // The number of a cell in the library's integer, and back.
  packed(cell) {
    return 4 * Math.floor(cell / this.columns) + (cell % this.columns);
  }

  cellOf(packed) {
    return this.columns * (packed >> 2) + (packed & 3);
  }

  // A board in words, row by row, for those who do not see it.
  inWords(cells) {
    const word = (cell) => this.tiles[cells[cell]] || "empty";
    return this.lines[3].map((row) => row.map(word).join(" ")).join(", ");
  }

  placeInWords(cell) {
    return `row ${Math.floor(cell / this.columns) + 1}, column ${(cell % this.columns) + 1}`;
  }

  // ---- positions that people type

  // Read a position to which a game can come; see `readBoard`.
  readPosition(text) {
    return this.possible(this.readBoard(text));
  }

  // Read a board: its tiles with anything between them, or the library's integer.
  // Returns the cells; throws an Error that says in words what is wrong.
  readBoard(text) {
    const plain = text.trim().replace(/^(np\.)?uint64\((.*)\)$/, "$2");
    const packed = /^(0x[0-9a-f]+|\d+)$/i.test(plain) ? BigInt(plain) : null;
    if (packed === null || packed >> 64n !== 0n) return this.readCells(plain);
    const digits = packed.toString(16).padStart(16, "0");
    const cells = this.fromHex(digits);
    if (this.toHex(cells) === digits) return cells;
    throw new Error(`${plain} is no board of ${this.rows}×${this.columns} cells`);
  }

  // Read the tiles of all cells, with anything between them.
  readCells(text) {
    const { length: count } = this.cells;
    const words = text.split(/[\s,;|/[\]()]+/).filter((word) => word !== "");
    const place = (n) => (words.length === count ? ` (${this.placeInWords(n)})` : "");
    const cells = words.map((word, n) => this.exponentOf(word, place(n)));
    const off = Math.abs(cells.length - count);
    if (!off) return cells;
    throw new Error(`a board has ${count} cells, and here are ${cells.length}: ${off} too ` +
      (cells.length > count ? "many" : "few"));
  }

  // The largest exponent that a game can come to: where the last tile may be a 4, one more than cells.
  get largest() {
    return Math.min(LARGEST, this.cells.length + (this.fours > 0));
  }

  exponentOf(word, place) {
    if (["0", ".", "-", "_"].includes(word)) return 0;
    const { largest, tiles } = this;
    const other = [...word].find((character) => !/\d/.test(character));
    const exponent = other ? -1 : tiles.indexOf(Number(word));
    if (exponent > 0 && exponent <= largest) return exponent;
    const shown = word.length > 20 ? `${word.slice(0, 20)}…` : word;
    const some = `${tiles.slice(1, 4).join(", ")} … ${tiles[largest]}`;
    const why = other ? `${other} is no digit` : Number(word) > tiles[largest]
      ? `the largest on a board of ${this.cells.length} cells is ${tiles[largest]}`
      : `tiles are ${some}, and 0 is an empty cell`;
    throw new Error(`${shown} is not a tile${place}: ${why}`);
  }

  // Return the cells; throw an Error where no game can come to such a board.
  possible(cells) {
    const tiles = cells.filter((exponent) => exponent).sort((a, b) => b - a);
    if (tiles.length < 2) throw new Error("a game has at least two tiles on its board, at any time");
    if (tiles[tiles.length - 1] > 2) {
      throw new Error("no 2 and no 4: the tile that came last is missing");
    }
    const top = cells.length + (this.fours > 0); // not `largest`: two of 32768 do not merge
    const tight = tiles.findIndex((exponent, larger) => exponent > top - larger);
    if (tight < 0) return cells;
    throw new Error(
      `too many large tiles: beside ${tight} as large, there was no room to make another ` +
        `${this.tiles[tiles[tight]]}`,
    );
  }
}

const WHOLE = new Rules(SPEC); // 2048 on 4×4; SPEC is what Python says, see base.py

// ---------------------------------------------------------------- a game

// A game is what was decided: {seed, number, start, actions, helped}; boards, score, luck follow.
// seed: a whole number as text; start: a board as hexadecimal digits where it did not begin as the
// seed says; actions: a text of digits 0..3; helped: whether a player took some of them.
class Game {
  constructor(decisions = {}, rules = WHOLE) {
    const { seed = "1", number = 0, start = null, actions = "", helped = false } = decisions;
    Object.assign(this, { seed, number, start, helped, rules });
    const state = stream(seed, number);
    const begun = rules.begin(state);
    const first = start ? { ...begun, cells: rules.fromHex(start), state } : begun;
    this.turns = [{ ...first, score: rules.points(first.cells) }]; // the last one is where the game stands
    [...actions].forEach((action) => this.act(Number(action)));
  }

  get here() {
    return this.turns[this.turns.length - 1];
  }

  get length() {
    return this.turns.length - 1;
  }

  get largest() {
    return this.rules.tiles[Math.max(...this.here.cells)];
  }

  get actions() {
    return this.turns.slice(1).map((turn) => turn.action).join("");
  }

  get decisions() {
    const { seed, number, start, actions, helped } = this;
    return { seed, number, start, actions, helped };
  }

  // Take an action; return the turn, or null where it is not legal.
  act(action) {
    const turn = this.rules.next(this.here, action);
    if (turn) this.turns.push(turn);
    return turn;
  }

  // Take the last action back; the same action will meet the same spawn again.
  undo() {
    return this.length ? this.turns.pop() : null;
  }
}
return { ACTIONS, LARGEST, stream, draw, below, alsoBelow, Rules, WHOLE, Game };
})();

const $board = (() => {
// A board on the page: tiles that slide, merge and appear as people know it from the game, and what
// every view needs: elements, keys that stay here, swipes.  It knows no kernel and no notebook.

const { ACTIONS, WHOLE } = $game;

const SLIDE = 100; // milliseconds, as in the original game
const POP = 120;

// ---------------------------------------------------------------- elements

// Make an element: make("p.lib-small", {title: "…"}, "words", …), the attributes left out where there
// are none.  One that is a function listens: { onclick: … }.  What it returns is dropped, since
// `false` would cancel what the browser does by itself.
function make(name, ...parts) {
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

const row = (...children) => make("div.lib-row", ...children);

// A menu; options: [value, text], to be given later where there are none yet.
function menu(label, options, onchange = null) {
  const element = make("select", { "aria-label": label, onchange });
  fill(element, options);
  return element;
}

function fill(menu, options) {
  menu.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
}

// A box to tick, and its label.
function box(text, onchange, more = {}) {
  const tick = make("input", { type: "checkbox", onchange, ...more });
  return [tick, make("label", tick, text)];
}

// A table; head: texts; rows: of `tr`.
function table(caption, head, rows) {
  const columns = head.map((text) => make("th", { scope: "col" }, text));
  return make("table.lib-table", make("caption", caption),
    make("thead", make("tr", ...columns)), make("tbody", ...rows));
}

// Numbers with their names: [the element, {name: where its number goes}].
function tally(...names) {
  const numbers = Object.fromEntries(names.map((name) => [name, make("b", "–")]));
  const named = (name) => make("p", make("span", name), numbers[name]);
  return [make("div.lib-scores", ...names.map(named)), numbers];
}

// What a widget says, and what a reader of the screen reads out.
const messageLine = () => make("p.lib-message", { "aria-live": "polite", role: "status" });

// Put a widget on the page; name: what it is, for those who do not see it; keys: what they do.
function furnish(root, { name, keys, kinds = [], role = "application" }, ...parts) {
  root.classList.add("lib2048", ...kinds);
  root.setAttribute("role", role);
  root.setAttribute("aria-label", `${name}. Keys: ${keys}`);
  root.append(...parts, make("p.lib-keys", keys));
}

// Say something below a widget; trouble: in the colour of what went wrong; details: to unfold.
function putWords(place, words, trouble = false, details = "") {
  place.classList.toggle("lib-trouble", trouble);
  place.textContent = words;
  if (!details) return;
  const folded = make("details", make("summary", "Where it happened"));
  folded.append(make("pre", details));
  place.append(folded);
}

function button(text, title, onclick, more = {}) {
  return make("button", { type: "button", title, onclick, ...more }, text);
}

// How long tiles may travel at so many actions a second: not at all where there are many.
const slideTime = (rate) => (rate > 12 ? 0 : Math.min(SLIDE, 600 / rate));

// A button that cannot be used stays focusable: were it `disabled`, a click on it would hand the
// keyboard to the notebook.
function enable(element, enabled) {
  element.setAttribute("aria-disabled", String(!enabled));
}

const THIN = "\u202f";

// A text of digits, or a BigInt, with its thousands set apart.
const grouped = (digits) => String(digits).replace(/\B(?=(\d{3})+$)/g, THIN);

// A number as people read it: thousands set apart, a real minus.
function points(number, digits = 0) {
  const [whole, rest] = Math.abs(number).toFixed(digits).split(".");
  const text = grouped(whole) + (rest ? `.${rest}` : "");
  return number < 0 && Number(number.toFixed(digits)) !== 0 ? `−${text}` : text;
}

const counted = (n, word) => `${points(n)} ${word}${n === 1 ? "" : "s"}`;

// A slider of actions a second, from 1 to 200: {element, rate()}.  endless: its end is no number,
// but as fast as it can, Infinity.
function speedSlider(rate, changed = () => {}, endless = false) {
  const said = make("output");
  const slider = make("input", {
    type: "range", min: 0, max: 100, value: Math.round((100 * Math.log(rate)) / Math.log(200)),
    "aria-label": "Speed in actions a second", oninput: () => say(),
  });
  const now = () => {
    const share = Number(slider.value);
    return endless && share === 100 ? Infinity : Math.round(200 ** (share / 100));
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
function paced(rate, step) {
  let [due, then, frame] = [0, performance.now(), null];
  const tick = (now) => {
    due = Math.min(due + ((now - then) * rate()) / 1000, 1 + rate());
    then = now;
    frame = requestAnimationFrame(tick);
    due -= step(Math.floor(due));
  };
  frame = requestAnimationFrame(tick);
  return () => cancelAnimationFrame(frame);
}

// ---------------------------------------------------------------- the board

// Whether people asked for less motion.
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The face of a tile, whose looks go by its game's rules and its number.
function tileFace(tile, { rules }) {
  const text = String(tile);
  return make("span", { "data-rules": rules, "data-tile": tile, "data-digits": text.length }, text);
}

// What the style sheet has to know of a board's size.
const sizes = ({ rows, columns }) => `--rows:${rows};--columns:${columns}`;

const FRAMES = {
  grow: [{ scale: 0, opacity: 0 }, { scale: 1, opacity: 1 }],
  pop: [
    { scale: 0.9, opacity: 0, offset: 0 },
    { scale: 0.9, opacity: 1, offset: 0.01 },
    { scale: 1.15, opacity: 1, offset: 0.5 },
    { scale: 1, opacity: 1 },
  ],
};

class Board {
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
    tile.classList.add("lib-ghost");
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
class Shown {
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

const actionOf = (key) => KEYS[key.toLowerCase()];

const WRITES = "input:not([type=range]):not([type=checkbox]), select, textarea";

// Keep the keyboard here: the notebook never sees a key pressed inside `root`, since `d d` there
// deletes a cell.  `pressed(key, event)` says whether it used a key; fields and menus keep theirs.
function holdKeys(root, pressed) {
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true"; // what JupyterLab looks for
  root.onkeydown = (event) => {
    event.stopPropagation();
    const { target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || target.matches(WRITES)) return;
    if (target.matches("[type=range]") && event.key.startsWith("Arrow")) return;
    if (target.matches("button") && ["Enter", " "].includes(event.key)) return;
    if (pressed(event.key.toLowerCase(), event)) event.preventDefault(); // no scrolling
  };
  root.onkeyup = root.onkeypress = (event) => event.stopPropagation();
}

const SWIPE = 24; // pixels that a finger has to move

function onSwipe(element, swiped) {
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
return { make, row, menu, fill, box, table, tally, messageLine, furnish, putWords, button, slideTime, enable, grouped, points, counted, speedSlider, paced, still, tileFace, sizes, Board, Shown, actionOf, holdKeys, onSwipe };
})();

const $beside = (() => {
// A part of a page of the book that comes alive: what lies beside its script, and when to begin.

const { make } = $board;

// Fetch what lies beside a script by an element, which a page opened as a file may do as well.
function beside(name, source, found) {
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
function onPage(id, looks, start) {
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
return { beside, onPage };
})();

const $luck = (() => {
// The library's luck without BigInt: SplitMix64 (game/rng.py) on two halves of 32 bits, for games
// that are played as fast as a page can.  A `Luck` walks; game.js has the same in a line or two.

const { WHOLE, stream } = $game;

const GOLDEN_HIGH = 0x9e3779b9;
const GOLDEN_LOW = 0x7f4a7c15;
const TWO32 = 4294967296;

// The upper 32 bits of the product of two numbers of 32 bits.
function upper(a, b) {
  const low = a & 0xffff;
  const high = a >>> 16;
  const less = b & 0xffff;
  const more = b >>> 16;
  const middle = high * less + ((low * less) >>> 16);
  const other = low * more + (middle & 0xffff);
  return (high * more + Math.floor(middle / 65536) + (other >>> 16)) >>> 0;
}

class Luck {
  // state: a BigInt of 64 bits, as `stream` of game.js returns it.
  constructor(state) {
    this.high = Number(state >> 32n);
    this.low = Number(state & 0xffffffffn);
    this.above = 0; // what was drawn last: its upper and its lower half
    this.below = 0;
  }

  static of(seed, number) {
    return new Luck(stream(seed, number));
  }

  draw() {
    const low = this.low + GOLDEN_LOW;
    this.low = low >>> 0;
    this.high = (this.high + GOLDEN_HIGH + (low >= TWO32)) >>> 0;
    let h = (this.high ^ (this.high >>> 30)) >>> 0;
    let l = (this.low ^ ((this.low >>> 30) | (this.high << 2))) >>> 0;
    h = (upper(l, 0x1ce4e5b9) + Math.imul(h, 0x1ce4e5b9) + Math.imul(l, 0xbf58476d)) >>> 0;
    l = Math.imul(l, 0x1ce4e5b9) >>> 0;
    l = (l ^ ((l >>> 27) | (h << 5))) >>> 0;
    h = (h ^ (h >>> 27)) >>> 0;
    h = (upper(l, 0x133111eb) + Math.imul(h, 0x133111eb) + Math.imul(l, 0x94d049bb)) >>> 0;
    l = Math.imul(l, 0x133111eb) >>> 0;
    this.below = (l ^ ((l >>> 31) | (h << 1))) >>> 0;
    this.above = (h ^ (h >>> 31)) >>> 0;
  }

  // A number from 0 to n − 1, from the upper half of the last draw.
  choose(n) {
    return Math.floor((this.above * n) / TWO32);
  }

  // The exponent of the tile that spawns, from its lower half.
  tile() {
    return this.below < WHOLE.fours ? 2 : 1;
  }
}
return { Luck };
})();

const $quick = (() => {
// The game at full speed: a board as four rows of 16 bits, each row slid by a table.  The tables are
// made in some milliseconds; game.js has the same rules to be read, and a test compares all rows.  A
// seed gives the same games as there and as in lib2048.

const { LARGEST } = $game;
const { Luck } = $luck;

const ROWS = 65536;
const TURN = 5; // numbers that `Quick` keeps of a turn

// What sliding makes of each row: {left, right: the row, reward: the points, the same both ways}.
function rowTables() {
  const [left, right, reward] = [new Uint16Array(ROWS), new Uint16Array(ROWS), new Int32Array(ROWS)];
  for (let row = 0; row < ROWS; row++) {
    left[row] = slideLeft(row, reward);
    right[mirrored(row)] = mirrored(left[row]);
  }
  return { left, right, reward };
}

const mirrored = (row) => (row >> 12) | ((row >> 4) & 0xf0) | ((row & 0xf0) << 4) | ((row & 15) << 12);

// Slide a row towards its lowest bits; what merges is added to the row's reward.
function slideLeft(row, reward) {
  let slid = 0;
  let filled = 0;
  let last = 0; // the tile that may still merge, 0 for none
  for (let rest = row; rest; rest >>= 4) {
    const tile = rest & 15;
    if (!tile) continue;
    if (tile === last && tile < LARGEST) {
      slid += 1 << (4 * (filled - 1));
      reward[row] += 2 << tile;
      last = 0;
    } else {
      slid |= tile << (4 * filled++);
      last = tile;
    }
  }
  return slid;
}

// Four rows of four exponents, the first in the lowest bits, as 16 exponents.
function cellsOf(rows) {
  return Array.from({ length: 16 }, (_, cell) => (rows[cell >> 2] >> (4 * (cell & 3))) & 15);
}

function turned(from, to) {
  for (let i = 0; i < 4; i++) {
    const at = 4 * i;
    to[i] = ((from[0] >> at) & 15) | (((from[1] >> at) & 15) << 4) |
      (((from[2] >> at) & 15) << 8) | (((from[3] >> at) & 15) << 12);
  }
}

let tables = null; // made when they are first needed

// A game, and the four afterstates of where it stands.
class Quick {
  // seed: a whole number as text; number: of the game.
  constructor(seed, number) {
    tables ??= rowTables();
    Object.assign(this, { seed, number, luck: Luck.of(seed, number), score: 0, past: [] });
    this.rows = new Int32Array(4);
    this.columns = new Int32Array(4);
    // Up and Down are kept as columns: a network gives a board and its mirror image one value.
    this.after = [0, 1, 2, 3].map(() => new Int32Array(4));
    this.rewards = new Int32Array(4); // −1 for an action that is not legal
    this.spawned = this.spawn();
    this.spawned = this.spawn();
    this.look();
  }

  get cells() {
    return cellsOf(this.rows);
  }

  get length() {
    return this.past.length / TURN;
  }

  get largest() {
    return 2 ** Math.max(...this.cells);
  }

  get over() {
    const { rewards } = this;
    return rewards[0] < 0 && rewards[1] < 0 && rewards[2] < 0 && rewards[3] < 0;
  }

  // Work out where the four actions lead.
  look() {
    turned(this.rows, this.columns);
    this.lookAlong(0, this.columns, tables.left);
    this.lookAlong(1, this.rows, tables.right);
    this.lookAlong(2, this.columns, tables.right);
    this.lookAlong(3, this.rows, tables.left);
  }

  lookAlong(action, lines, slid) {
    const after = this.after[action];
    let changed = 0;
    let reward = 0;
    for (let i = 0; i < 4; i++) {
      const line = lines[i];
      after[i] = slid[line];
      changed |= after[i] ^ line;
      reward += tables.reward[line];
    }
    this.rewards[action] = changed ? reward : -1;
  }

  // Take an action and let a tile spawn; return its points, or −1 where it is not legal.
  act(action) {
    const reward = this.rewards[action];
    if (reward < 0) return -1;
    const { rows, luck } = this;
    this.past.push(rows[0] | (rows[1] << 16), rows[2] | (rows[3] << 16), luck.high, luck.low,
      this.score);
    if (action & 1) rows.set(this.after[action]);
    else turned(this.after[action], rows);
    this.score += reward;
    this.spawned = this.spawn();
    this.look();
    return reward;
  }

  // Put a tile into an empty cell; return that cell.
  spawn() {
    const { rows, luck } = this;
    let empty = 0;
    for (let cell = 0; cell < 16; cell++) empty += !((rows[cell >> 2] >> (4 * (cell & 3))) & 15);
    luck.draw();
    let skip = luck.choose(empty);
    let cell = 0;
    while ((rows[cell >> 2] >> (4 * (cell & 3))) & 15 || skip-- > 0) cell++;
    rows[cell >> 2] |= luck.tile() << (4 * (cell & 3));
    return cell;
  }

  // Take the last action back; the same action will meet the same tile again.  Returns whether
  // there was one.
  undo() {
    if (!this.past.length) return false;
    const [north, south, high, low, score] = this.past.splice(-TURN);
    this.rows.set([north & 0xffff, north >>> 16, south & 0xffff, south >>> 16]);
    Object.assign(this.luck, { high, low });
    Object.assign(this, { score, spawned: null });
    this.look();
    return true;
  }
}
return { Quick };
})();

const $values = (() => {
// An n-tuple network of whole numbers: from a board to its value, exactly as lib2048 has it.
//
// A value is the sum of eight look-ups a tuple, one on each symmetric image of the board, times
// `unit`, the points that one step of a weight is worth.

const IMAGES = eightImages();

// The eight symmetric images of a board: where each of its cells goes.
function eightImages() {
  const cells = [...Array(16).keys()];
  const turn = (cell) => 4 * (cell & 3) + (cell >> 2);
  const flip = (cell) => cell ^ 3; // left to right
  const both = [cells, cells.map(turn)];
  const flipped = both.flatMap((image) => [image, image.map(flip)]);
  return flipped.flatMap((image) => [image, image.map((cell) => cell ^ 12)]); // and upside down
}

class Network {
  // tuples: lists of cells; unit: points; weights: an Int16Array a tuple, where the exponents
  // e0, e1 … in its cells have index e0 + 16·e1 + 256·e2 …
  constructor(tuples, unit, weights) {
    Object.assign(this, { unit, weights, cells: new Int32Array(16) });
    this.sizes = tuples.map((tuple) => tuple.length);
    this.places = tuples.map((tuple) => Uint8Array.from(
      IMAGES.flatMap((image) => tuple.map((cell) => image[cell]).reverse())));
  }

  // The value, in points, of a board of four rows.  `rows` may be its columns as well.
  value(rows) {
    const { cells } = this;
    for (let i = 0; i < 4; i++) {
      const row = rows[i];
      cells[4 * i] = row & 15;
      cells[4 * i + 1] = (row >> 4) & 15;
      cells[4 * i + 2] = (row >> 8) & 15;
      cells[4 * i + 3] = row >> 12;
    }
    let sum = 0;
    for (let t = 0; t < this.weights.length; t++) {
      sum += this.lookUp(this.weights[t], this.places[t], this.sizes[t]);
    }
    return sum * this.unit;
  }

  lookUp(weights, places, size) {
    const { cells } = this;
    let sum = 0;
    for (let at = 0; at < places.length; at += size) {
      let index = 0;
      for (let j = 0; j < size; j++) index = (index << 4) | cells[places[at + j]];
      sum += weights[index];
    }
    return sum;
  }

  // Write reward + value of each legal action of a `Quick` game into `worth`, −Infinity for the
  // others; return the best action, the first of equals as in the library, −1 when none is legal.
  choose(game, worth) {
    let best = -1;
    for (let action = 0; action < 4; action++) {
      const reward = game.rewards[action];
      worth[action] = reward < 0 ? -Infinity : reward + this.value(game.after[action]);
      if (reward >= 0 && (best < 0 || worth[action] > worth[best])) best = action;
    }
    return best;
  }
}

// ---------------------------------------------------------------- unpacking

// Read a network as tools/play_page.py writes it: {tuples: ["01245", …], unit, weights, count, scored}:
// how many weights are not 0, and what it has scored.  weights is base64 of what zlib made of three parts: a bit for each index, whether its weight is
// there; a byte for each weight that is; and its second byte.  Small numbers of either sign are
// small: 0, −1, 1, −2 … are 0, 1, 2, 3 …  Returns a promise of a `Network`.
async function readNetwork({ tuples, unit, weights, count, scored }) {
  const packed = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(plain).arrayBuffer());
  const cells = tuples.map((word) => [...word].map((digit) => parseInt(digit, 16)));
  const tables = unpacked(bytes, cells.map((tuple) => 16 ** tuple.length));
  return Object.assign(new Network(cells, unit, tables), { count, scored });
}

function unpacked(bytes, sizes) {
  const all = sizes.reduce((a, b) => a + b);
  const low = all / 8;
  const high = low + (bytes.length - low) / 2;
  const weights = new Int16Array(all);
  let n = 0;
  for (let i = 0; i < low; i++) {
    for (let bits = bytes[i], at = 8 * i; bits; bits >>= 1, at++) {
      if (!(bits & 1)) continue;
      const folded = bytes[low + n] | (bytes[high + n] << 8);
      weights[at] = (folded >>> 1) ^ -(folded & 1);
      n++;
    }
  }
  let end = 0;
  return sizes.map((size) => weights.subarray(end, (end += size)));
}
return { Network, readNetwork };
})();

// The board of the front page: a person plays, with the network's hints or without, or it plays.
// There is no kernel and no server: the network comes as a script beside this one.

const { ACTIONS, WHOLE } = $game;
const {
  Board, actionOf, button, counted, enable, furnish, holdKeys, make, messageLine, onSwipe, points,
  slideTime, speedSlider, still, tally,
} = $board;
const { beside, onPage } = $beside;
const { Quick } = $quick;
const { readNetwork } = $values;

const REST = 1500; // milliseconds between two games that the network plays
const SLICE = 10; // milliseconds of each frame that go into playing at full speed
const CALM = 500; // milliseconds between two pictures for those who asked for less motion

const WATCH = "Watch it play";
const KEYS_HELP = "Arrows or W A S D slide · U undo · N new game · H hints · P lets it play";

class Page {
  // root: an element; its data-seed, a whole number, says which games are played; network: a promise
  // of a `Network`.
  constructor(root, network) {
    const seed = root.dataset.seed ?? String(Math.floor(Math.random() * 1e9));
    Object.assign(this, { root, seed, network: null, former: null, auto: null, frame: null });
    Object.assign(this, { advice: null, watched: { games: 0, sum: 0, best: 0 } });
    this.game = new Quick(seed, 0);
    this.build();
    holdKeys(root, (key) => this.pressed(key));
    this.draw();
    this.say("Click the board, then use the arrow keys, or swipe. Equal tiles merge.");
    network.then((ready) => this.wake(ready), (error) => this.fail(error));
  }

  // ---- what is on the page

  build() {
    this.board = new Board("2048");
    const over = make("span", "Game over"); // the message says it to those who do not see it
    this.over = make("div.lib-over", { hidden: "", "aria-hidden": "true" }, over);
    onSwipe(this.board.element, (action) => this.act(action));
    this.message = messageLine();
    const frame = make("div.lib-frame", this.board.element, this.over);
    const left = make("div.lib-left", frame, this.message);
    const [scores, numbers] = tally("score", "best tile", "actions");
    this.tally = numbers;
    const side = make("div.lib-side", scores, this.cross(), this.extras(), this.watching());
    this.root.replaceChildren();
    furnish(this.root, { name: "2048, to play here", keys: KEYS_HELP, kinds: ["lib-page"] },
      make("div.lib-columns.lib-play", left, side));
  }

  cross() {
    this.arrows = ACTIONS.map((name, action) => {
      const worth = make("span.lib-worth");
      const style = `grid-area:${name.toLowerCase()}`;
      const arrow = button("", name, () => this.act(action), { style });
      arrow.append(name, worth);
      return Object.assign(arrow, { worth });
    });
    return make("div.lib-cross", ...this.arrows);
  }

  extras() {
    this.undoing = button("Undo", "Take the last action back", () => this.undo());
    const fresh = button("New game", "Begin another game", () => this.renew());
    const title = "What the network expects after each action, and which it would take";
    this.hints = button("Hints", title, () => this.toggleHints(), { "aria-pressed": "false" });
    return make("div.lib-row.lib-extras", this.undoing, fresh, this.hints);
  }

  watching() {
    const first = { class: "lib-first" };
    this.watch = button(WATCH, "Let the network play", () => this.toggle(), first);
    this.speed = speedSlider(10, () => {}, true);
    this.record = make("p.lib-small");
    enable(this.hints, false);
    enable(this.watch, false);
    return make("div.lib-mind", this.watch, this.speed.element, this.record);
  }

  // ---- the network

  wake(network) {
    this.network = network;
    const { games, mean } = network.scored;
    this.record.textContent = `The network learned from its own games: ${points(network.count)} ` +
      `weights. Without looking ahead it scored ${points(mean)} on average over ${points(games)} games.`;
    this.worth = [0, 0, 0, 0];
    enable(this.hints, true);
    enable(this.watch, true);
    this.root.dataset.ready = "";
    this.think();
  }

  fail(error) {
    this.say(`You can play, but not watch: the network could not be read (${error.message}).`, true);
  }

  get hinting() {
    return this.hints.getAttribute("aria-pressed") === "true";
  }

  toggleHints() {
    if (!this.network) return;
    this.hints.setAttribute("aria-pressed", String(!this.hinting));
    this.think();
    if (!this.auto) this.say(this.hinting ? "" : "The network keeps its thoughts to itself.");
  }

  // Show what the network thinks of the four actions, where somebody wants to know.
  think() {
    const shown = this.network && this.hinting && !this.game.over;
    this.advice = shown ? this.network.choose(this.game, this.worth) : null;
    this.arrows.forEach((arrow, action) => {
      const legal = this.game.rewards[action] >= 0;
      arrow.worth.textContent = shown && legal ? points(this.worth[action]) : "";
      arrow.classList.toggle("lib-best", this.advice === action);
    });
    this.board.point(this.advice);
  }

  // What it would do, in words: reward and value of its action.
  get opinion() {
    if (this.advice === null) return "";
    const reward = this.game.rewards[this.advice];
    const more = points(this.worth[this.advice] - reward);
    return `The network would play ${ACTIONS[this.advice]}: ${counted(reward, "point")} now, and it ` +
      `expects ${more} more.`;
  }

  // ---- drawing

  draw() {
    this.board.show(this.game.cells, this.game.spawned);
    this.refresh();
  }

  refresh() {
    const { game } = this;
    this.tally.score.textContent = points(game.score);
    this.tally["best tile"].textContent = game.largest; // as it stands on the board
    this.tally.actions.textContent = points(game.length);
    this.arrows.forEach((arrow, action) => enable(arrow, game.rewards[action] >= 0));
    enable(this.undoing, game.length > 0 || this.former !== null);
    this.over.hidden = !game.over;
    this.root.dataset.board = WHOLE.toHex(game.cells);
    this.root.dataset.actions = game.length;
    this.think();
  }

  say(words, trouble = false) {
    this.message.classList.toggle("lib-trouble", trouble);
    const end = `The game is over: no action is legal. ${counted(this.game.score, "point")}.`;
    const said = this.game.over && !trouble ? end : words;
    this.message.textContent = [said, this.auto ? "" : this.opinion].filter(Boolean).join(" ");
  }

  // ---- a person plays

  pressed(key) {
    const action = actionOf(key);
    if (action !== undefined) this.act(action);
    else if (key === "u" || key === "backspace") this.undo();
    else if (key === "n") this.renew();
    else if (key === "h") this.toggleHints();
    else if (key === "p" || key === " ") this.toggle();
    else return false;
    return true;
  }

  act(action) {
    this.halt();
    const { game } = this;
    const [before, largest] = [game.cells, game.largest];
    const reward = game.act(action);
    const name = ACTIONS[action];
    if (reward < 0) return this.say(`${name} changes nothing: it is not legal, and no tile spawns.`);
    game.touched = true;
    this.slide(before, action, slideTime(10));
    const record = game.largest > largest && game.largest >= 2048;
    const came = `a ${WHOLE.tiles[game.cells[game.spawned]]} came in ` +
      WHOLE.placeInWords(game.spawned);
    this.say(`${record ? `You made a ${game.largest}! ` : ""}${name}: ` +
      `${counted(reward, "point")}; ${came}.`);
  }

  // Let the tiles travel to where an action has brought them.
  slide(before, action, milliseconds) {
    const { travels } = WHOLE.slide(before, action);
    this.board.slide(before, { cells: this.game.cells, cell: this.game.spawned, travels },
      milliseconds);
    this.refresh();
  }

  // Take an action back; before the first one, the new game.
  undo() {
    this.halt();
    if (this.game.undo()) this.game.touched = true;
    else if (this.former) [this.game, this.former] = [this.former, null];
    else return this.say("There is nothing to take back.");
    this.draw();
    this.say("Taken back. The same action will meet the same tile again.");
  }

  renew() {
    this.halt();
    this.begin();
    this.say("A new game. Undo brings the old one back.");
  }

  begin() {
    this.former = this.game.length ? this.game : this.former;
    this.game = new Quick(this.seed, this.game.number + 1);
    this.draw();
  }

  // ---- the network plays

  toggle() {
    if (!this.network) return;
    if (this.auto) {
      this.halt();
      return this.say("Paused: it is your turn.");
    }
    if (this.game.over) this.begin();
    const now = performance.now();
    this.auto = { due: 1, then: now, since: now, moves: 0, drawn: 0, rest: 0, rate: 0 };
    this.watch.textContent = "Pause";
    this.message.setAttribute("aria-live", "off"); // nobody wants to hear so many actions a second
    this.say("The network plays. Any key of the game takes over.");
    this.next();
  }

  next() {
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (!this.auto) return;
    if (!this.game.over) this.play(now);
    else if (now - this.auto.rest > REST) {
      this.begin();
      Object.assign(this.auto, { since: now, moves: 0 });
    }
    this.auto.then = now;
    this.next();
  }

  play(now) {
    const rate = this.speed.rate();
    if (rate === Infinity) this.sprint(now);
    else this.stroll(now, rate);
    if (this.game.over) this.finish(now);
  }

  // As many actions as a frame has time for.
  sprint(now) {
    const { auto, game, network, worth } = this;
    const end = performance.now() + SLICE;
    while (!game.over && performance.now() < end) {
      for (let i = 0; i < 16 && !game.over; i++, auto.moves++) game.act(network.choose(game, worth));
    }
    if (game.over || !still() || now - auto.drawn > CALM) {
      auto.drawn = now;
      this.draw();
    }
    this.count();
  }

  // Say how many actions a second it takes.
  count() {
    const { auto, game } = this;
    const passed = performance.now() - auto.since;
    if (passed < CALM && !game.over) return;
    auto.rate = (1000 * auto.moves) / passed;
    this.root.dataset.rate = Math.round(auto.rate);
    this.say(`The network takes ${points(auto.rate)} actions a second. Any key of the game takes over.`);
    Object.assign(auto, { since: performance.now(), moves: 0 });
  }

  // The actions that are due at so many a second.
  stroll(now, rate) {
    const { auto, game } = this;
    auto.due = Math.min(auto.due + ((now - auto.then) * rate) / 1000, 1 + rate / 10);
    let before = null;
    let action = 0;
    for (; auto.due >= 1 && !game.over; auto.due--) {
      before = game.cells;
      action = this.network.choose(game, this.worth);
      game.act(action);
    }
    if (before) this.slide(before, action, slideTime(rate));
  }

  finish(now) {
    const { game, watched } = this;
    this.auto.rest = now;
    this.root.dataset.finished = [game.number, game.score, game.length, WHOLE.toHex(game.cells)].join(" ");
    this.say("");
    if (game.touched) return; // only games that it played alone are counted
    watched.games += 1;
    watched.sum += game.score;
    watched.best = Math.max(watched.best, game.score);
    this.record.textContent = this.account;
  }

  // What the games that it played alone came to, in words.
  get account() {
    const { games, sum, best } = this.watched;
    const came = games === 1 ? counted(sum, "point")
      : `mean score ${points(sum / games)}, best ${points(best)}`;
    const fast = this.auto.rate && this.speed.rate() === Infinity;
    return `You watched ${counted(games, "game")} to the end: ${came}.` +
      (fast ? ` It takes ${points(this.auto.rate)} actions a second.` : "");
  }

  halt() {
    if (!this.auto) return;
    cancelAnimationFrame(this.frame);
    this.auto = null;
    this.watch.textContent = WATCH;
    this.message.setAttribute("aria-live", "polite");
    this.draw();
  }
}

// ---------------------------------------------------------------- on the page

async function networkBeside(source) {
  await beside("network.js", source, globalThis.lib2048Network);
  return readNetwork(globalThis.lib2048Network);
}

onPage("play-2048", "play.css", (root, source) => new Page(root, networkBeside(source)));

globalThis.lib2048Play = { Quick, readNetwork }; // for tests, and for whoever is curious
}
