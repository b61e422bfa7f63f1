// A tuple on a board: its size, its index digit by digit, its eight placements.  All that needs no
// kernel; weights, visits and how an entry went through training are asked of one.

import { ACTIONS, LARGEST } from "../../show/widgets/game.js";
import {
  Board, box, button, counted, furnish, grouped, holdKeys, make, menu, messageLine, points,
  putWords, row, sizes,
} from "../../show/widgets/board.js";
import { Chart, brief } from "../../show/widgets/chart.js";
import { rulesOf } from "../../show/widgets/games.js";
import { AGAIN, rendering } from "../../show/widgets/jupyter.js";
import { Mind } from "../../show/widgets/mind.js";

const WEIGHT_BYTES = 4n;
const MOST_WEIGHTS = 4294967295n; // of a network of this library: a place fits 32 bits
const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const MANY = 300; // points of a line from which on it is thin
const GOES = { arrowup: [-1, 0], arrowright: [0, 1], arrowdown: [1, 0], arrowleft: [0, -1] };

class Tuples {
  // boards: a text of 16 hexadecimal digits each; words: what their game shows beside each; cells: the
  // tuple at first; images: where each cell of the eight images stands on the board; game: what Python
  // tells of it; network: {name, words, form, places: of each tuple the eight, optimistic} or null;
  // counted: {are, words, word}; x: what the chart is over, or null; charts: [{title, lines, most,
  // steep, whole: whether it is of whole boards}], of which one is shown; trouble: words to begin
  // with; send: takes questions.
  // Cells of a tuple have the library's numbers, 4 × row + column on any board; `cells` holds the board,
  // and `focused` is one of its places.
  constructor(root, { boards, cells, game, send, ...about }) {
    Object.assign(this, { root, ...about, rules: rulesOf(game), tuple: cells, at: 0, focused: 0 });
    this.boards = boards.match(/.{16}/g).map((text) => this.rules.fromHex(text));
    this.cells = [...this.boards[0]];
    this.mind = new Mind(send, (words) => this.say(words));
    this.build();
    holdKeys(root, (key, event) => this.pressed(key, event));
    this.fold();
    this.draw();
    if (this.trouble) this.say(this.trouble, true);
  }

  // ---- what is on the page

  build() {
    const left = make("div.lib-left", this.frame(), ...this.mover(), this.digits(), this.position());
    this.message = messageLine();
    this.sum = make("p.lib-small");
    this.placing = make("div.lib-places", ...this.cards());
    this.heading = make("p.lib-small",
      "The eight entries that it reads, one in each turned or mirrored place. Press one:");
    const over = make("p.lib-small", this.counted.words);
    this.size = make("p.lib-size");
    const side = make("div.lib-side", this.message, this.heading, this.placing, this.sum, over, this.size);
    const keys = "Arrows move · Space takes a cell in or out · + and − change its tile · " +
      "Page Up and Page Down go to another board · C clears";
    furnish(this.root, { name: "A tuple on a board", keys, kinds: ["lib-tuples", "lib-wide"] },
      make("div.lib-parts", make("div.lib-chosen", this.chooser(), ...this.chart()), left, side));
  }

  frame() {
    const { rules } = this;
    this.board = new Board("board", rules);
    this.picks = rules.cells.map((place) => make("button.lib-pick", {
      type: "button", onclick: () => this.toggle(rules.packed(place)),
      onfocus: () => this.focusOn(place),
    }, make("span")));
    const cells = make("div.lib-cells.lib-picks", { style: sizes(rules) }, ...this.picks);
    return make("div.lib-frame", this.board.element, cells);
  }

  // Ways to another of the boards, where there are several.
  mover() {
    if (this.boards.length < 2) return [];
    this.slider = make("input", {
      type: "range", min: 1, max: this.boards.length, value: 1, "aria-label": "Number of the board",
      oninput: () => this.go(this.slider.value - 1),
    });
    this.where = make("output.lib-small");
    const by = (step, text, title) => button(text, title, () => this.go(this.at + step));
    return [make("div.lib-row.lib-mover", by(-1, "◀", "The board before"),
      by(1, "▶", "The next board"), this.slider, this.where)];
  }

  position() {
    this.text = make("textarea", {
      "aria-label": `Board: ${this.rules.cells.length} tiles, to edit or paste`,
      rows: this.rules.rows, autocomplete: "off",
      spellcheck: "false", onchange: () => this.typed(),
      onkeydown: (event) => event.key === "Enter" && !event.shiftKey && this.entered(event),
    });
    return make("label.lib-position", "tiles", this.text);
  }

  entered(event) {
    event.preventDefault();
    this.typed();
  }

  chooser() {
    const clear = button("Clear", "A tuple without cells", () => this.choose([]));
    const { network } = this;
    if (!network) return row(clear);
    const digits = (cells) => cells.map((cell) => cell.toString(16)).join("");
    const tuples = network.places.map(([cells], t) => [t, `${t + 1}: ${digits(cells)}`]);
    this.menu = menu(`Tuple of ${network.name}`, [["", "cells of your own"], ...tuples],
      () => this.menu.value !== "" && this.choose(network.places[this.menu.value][0]));
    const parts = [make("label", "tuple", this.menu)];
    if (network.form === "q") {
      this.action = menu("Action", ACTIONS.map((name, a) => [a, name]), () => this.draw());
      parts.push(this.action);
    }
    const { shown } = this.rules;
    if (shown.length) {
      this.coming = menu("What comes next", shown.map((card, n) => [n, card]), () => this.draw());
      this.coming.value = this.words[0];
      parts.push(make("label", "next", this.coming));
    }
    return row(...parts, clear, ...this.axis());
  }

  digits() {
    const head = ["digit", "cell", "tile", "counts", ""].map((text) => make("th", text));
    this.rows = make("tbody");
    this.index = make("p.lib-size");
    const table = make("table.lib-digits", make("thead", make("tr", ...head)), this.rows);
    return make("div", table, this.index);
  }

  cards() {
    this.places = [...Array(8).keys()].map((n) => {
      const mini = make("span.lib-placing", { "aria-hidden": "true", style: sizes(this.rules) },
        ...this.rules.cells.map(() => make("i")));
      const card = { mini, words: make("span") };
      card.element = make("button.lib-place", {
        type: "button", onclick: () => this.choose(this.eight()[n]),
        onmouseenter: () => this.hint(n), onmouseleave: () => this.hint(null),
        onfocus: () => this.hint(n), onblur: () => this.hint(null),
      }, mini, card.words);
      return card;
    });
    return this.places.map(({ element }) => element);
  }

  // What is along y, where there is something to choose.
  axis() {
    const named = this.charts.map(({ title }, n) => [n, title]);
    this.shows = menu("What the curve shows", named, () => this.plot());
    [this.steep, this.steepLabel] = box("logarithmic", () => this.plot(), { checked: "" });
    return this.charts.length ? [make("label", "show", this.shows), this.steepLabel] : [];
  }

  chart() {
    if (!this.charts.length) return [];
    const picked = this.x === "boards" ? (at) => this.go(at) : null;
    const where = picked ? (at) => `board ${points(at)}` : (at) => `${brief(at)} ${this.x}`;
    const said = (words) => this.say(words);
    this.curve = new Chart({ title: "", names: [], large: true, x: this.x, write: fine, tick: fine,
      said, picked, where });
    return [this.curve.element];
  }

  // ---- keys

  pressed(key, event) {
    if (event.target === this.curve?.place && this.curve.pressed(key, event.shiftKey)) return true;
    const step = GOES[key];
    const here = this.rules.packed(this.focused);
    if (key === "pageup" || key === "pagedown") this.go(this.at + (key === "pageup" ? -1 : 1));
    else if (key === "c") this.choose([]);
    else if (step) this.walk(step);
    else if (key === " ") this.toggle(here);
    else if (key === "+" || key === "=") this.change(here, 1);
    else if (key === "-") this.change(here, -1);
    else return false;
    return true;
  }

  // Move the keyboard to a neighbouring cell, or to where it was.
  walk([down, right]) {
    const { rows, columns } = this.rules;
    const inside = document.activeElement.closest(".lib-pick");
    const row = Math.floor(this.focused / columns) + down;
    const column = (this.focused % columns) + right;
    const open = row >= 0 && row < rows && column >= 0 && column < columns;
    if (inside && open) this.focusOn(columns * row + column);
    this.picks[this.focused].focus();
  }

  focusOn(place) {
    this.focused = place;
    this.picks.forEach((pick, n) => (pick.tabIndex = n === place ? 0 : -1));
  }

  // The exponent in a cell of a tuple, and its tile in words.
  inCell(cell) {
    return this.cells[this.rules.cellOf(cell)];
  }

  tileIn(cell) {
    return this.rules.tiles[this.inCell(cell)] || "empty";
  }

  // ---- the tuple

  get match() {
    const all = (this.network?.places ?? []).flatMap((eight, table) =>
      eight.map((cells, place) => ({ table, place, cells })));
    const { tuple } = this;
    const same = all.filter(({ cells }) =>
      cells.length === tuple.length && cells.every((cell) => tuple.includes(cell)));
    return same.find(({ cells }) => cells.join() === tuple.join()) ?? same[0] ?? null;
  }

  // The eight placements of the tuple: the network's, or those of the chosen cells.
  eight() {
    const { match, tuple, images } = this;
    if (match) return this.network.places[match.table];
    return images.map((image) => tuple.map((cell) => image[cell]));
  }

  toggle(cell) {
    const without = this.tuple.filter((other) => other !== cell);
    this.focusOn(this.rules.cellOf(cell));
    this.choose(without.length < this.tuple.length ? without : [...this.tuple, cell]);
  }

  choose(cells) {
    this.tuple = [...cells];
    this.fold();
    this.draw();
  }

  // A network has its own order of these cells: the first digit of an index is its first cell's.
  fold() {
    const { match } = this;
    if (match) this.tuple = [...match.cells];
    if (this.menu) this.menu.value = match ? match.table : "";
  }

  // ---- the board

  go(number) {
    if (this.boards.length < 2) return;
    this.at = Math.max(0, Math.min(this.boards.length - 1, number));
    this.cells = [...this.boards[this.at]];
    if (this.coming) this.coming.value = this.words[this.at];
    this.draw();
  }

  change(cell, by) {
    const exponent = this.inCell(cell) + by;
    if (exponent < 0 || exponent > LARGEST) return;
    this.cells[this.rules.cellOf(cell)] = exponent;
    this.draw();
  }

  typed() {
    try {
      this.cells = this.rules.inFourBits(this.rules.readBoard(this.text.value));
      this.draw();
    } catch (error) {
      this.say(`This is no board: ${error.message}.`, true);
    }
  }

  // ---- drawing

  draw() {
    this.board.show(this.cells);
    this.text.value = this.inTiles;
    if (this.slider) this.slider.value = this.at + 1;
    const own = this.boards.length && this.cells.join() !== this.boards[this.at].join();
    if (this.where) this.where.textContent = `${points(this.at + 1)} of ` +
      `${points(this.boards.length)}${own ? ", changed" : ""}`;
    this.mark();
    this.measure();
    this.spell();
    this.lay();
    this.tell();
    this.ask();
  }

  // The board as text, a line each row.
  get inTiles() {
    const { lines, tiles } = this.rules;
    return lines[3].map((row) => row.map((place) => tiles[this.cells[place]]).join(" ")).join("\n");
  }

  mark() {
    const { rules } = this;
    this.picks.forEach((pick, place) => {
      const cell = rules.packed(place);
      const digit = this.tuple.indexOf(cell);
      const taken = digit >= 0 ? `digit ${digit} of the tuple` : "not in the tuple";
      pick.firstChild.textContent = digit >= 0 ? digit : "";
      pick.setAttribute("aria-pressed", String(digit >= 0));
      pick.setAttribute("aria-label",
        `${rules.placeInWords(place)}: ${this.tileIn(cell)}, ${taken}`);
    });
    this.focusOn(this.focused);
    this.root.dataset.board = rules.toHex(this.cells);
    this.root.dataset.tuple = this.tuple.join(" ");
  }

  measure() {
    const n = this.tuple.length;
    const all = 16n ** BigInt(n);
    const words = !n ? "No cells yet: a tuple reads one or more." : `${n}-tuple: ${power(16, n)} = ` +
      `${grouped(all)} weights, ${memoryOf(all * WEIGHT_BYTES)}.`;
    const large = all > MOST_WEIGHTS ? " That is more than a network here may have." : "";
    this.size.textContent = words + large;
  }

  // The digits of the index, a row each; rows stay, so that the keyboard stays in them.
  spell() {
    const { tuple } = this;
    while (this.rows.children.length > tuple.length) this.rows.lastChild.remove();
    while (this.rows.children.length < tuple.length) this.rows.append(this.row());
    [...this.rows.children].forEach((row, j) => {
      const [digit, cell, tile, counts] = row.children;
      const exponent = this.inCell(tuple[j]);
      digit.textContent = j;
      cell.textContent = tuple[j];
      tile.textContent = this.tileIn(tuple[j]);
      counts.textContent = `${exponent} · ${power(16, j)}`;
    });
    this.root.dataset.index = String(this.read(tuple));
    this.index.textContent = tuple.length ? `index ${grouped(this.read(tuple))}` : "";
  }

  row() {
    const row = make("tr", ...[0, 1, 2, 3].map(() => make("td")));
    const here = () => this.tuple[[...this.rows.children].indexOf(row)];
    const less = button("−", "A smaller tile", () => this.change(here(), -1));
    const more = button("+", "A larger tile", () => this.change(here(), 1));
    row.append(make("td", less, more));
    return row;
  }

  // The index of what a list of cells holds: a BigInt, since 16 cells take 64 bits.
  read(cells) {
    return cells.reduce((sum, cell, j) => sum + (BigInt(this.inCell(cell)) << BigInt(4 * j)), 0n);
  }

  // The eight placements; their weights come later.
  lay() {
    const here = this.match?.place ?? 0;
    const eight = this.eight();
    this.placing.hidden = this.heading.hidden = !this.tuple.length;
    this.places.forEach(({ element, mini }, n) => {
      [...mini.children].forEach((cell, at) =>
        cell.classList.toggle("lib-on", eight[n].includes(this.rules.packed(at))));
      element.setAttribute("aria-pressed", String(n === here));
    });
    this.fill(null);
  }

  // Write what is known of the eight entries; answer: null while it is not there.
  fill(answer) {
    const { weights, visits, rates } = answer ?? {};
    this.eight().forEach((cells, n) => {
      const lines = [`index ${grouped(this.read(cells))}`];
      if (this.match) lines.push(weights ? `weight ${weightOf(weights[n])}` : "weight …");
      if (rates) lines.push(`rate ${rates[n] === null ? "–" : fine(rates[n])}`);
      const { word } = this.counted;
      if (this.counts) lines.push(visits ? `${word} ${points(visits[n])}` : `${word} …`);
      this.places[n].words.replaceChildren(...lines.map((line) => make("span", line)));
    });
    if (this.curve && (answer || !this.match)) this.plot(answer);
  }

  // Whether visits are known of the tuple that is chosen.
  get counts() {
    return this.counted.are && (this.match || this.counted.word === "look-ups");
  }

  // Show what is along x of the entry that the chosen cells read, as it was answered last.
  plot(answer = this.shown) {
    this.shown = answer;
    const curve = answer?.curve;
    const { title, lines, most = null, steep = false, whole } = this.charts[this.shows.value];
    const cells = `cells ${this.tuple.join(", ")}`;
    const what = this.x === "boards" ? cells : `entry ${grouped(this.read(this.tuple))} of ${cells}`;
    const why = !this.match ? "choose a tuple of the network" : answer && !curve
      ? `${what} was not followed: only those that the boards here look up were` : !whole && what;
    this.steepLabel.hidden = !steep;
    this.curve.mark(this.x === "boards" ? [{ x: this.at + 1, line: 0 }] : []);
    const width = curve?.[this.x].length > MANY ? 1 : 2;
    this.curve.become({ title: [title, why].filter(Boolean).join(" · "), names: lines, most,
      steep: steep && this.steep.checked, looks: lines.map((_, line) => ({ line, width })) },
    [curve?.[this.x] ?? [], ...lines.map((name) => curve?.[name] ?? [])]);
  }

  hint(n) {
    const cells = n === null ? [] : this.eight()[n];
    this.picks.forEach((pick, place) =>
      pick.classList.toggle("lib-there", cells.includes(this.rules.packed(place))));
  }

  // ---- words

  tell() {
    const { tuple, match } = this;
    const tiles = tuple.map((cell) => this.tileIn(cell)).join(", ");
    const what = tuple.length ? `Cells ${tuple.join(", ")} hold ${tiles}: index ` +
      `${grouped(this.read(tuple))}.` : "Click cells of the board to make a tuple.";
    const whose = match ? ` This is tuple ${match.table + 1} of ${this.network.name}.` : "";
    this.say(what + whose + impossible(this.cells, this.rules));
    const none = this.trouble || "There is no network here: an entry has no weight.";
    this.sum.textContent = !this.network ? none : match || !tuple.length ? this.network.words :
      `These cells are no tuple of ${this.network.name}: it has no weights for them.`;
  }

  say(words, bad = false) {
    if (!words) return this.message.dataset.kept && this.say(this.message.dataset.kept);
    if (!bad && !words.startsWith("The kernel is busy")) this.message.dataset.kept = words;
    putWords(this.message, words, bad);
  }

  // ---- asking

  ask() {
    this.key = null;
    if (!this.tuple.length || !(this.match || this.counts)) return this.mind.drop();
    const question = { kind: "look", board: this.rules.toHex(this.cells), cells: this.tuple,
      action: Number(this.action?.value ?? 0), word: Number(this.coming?.value ?? 0) };
    const key = (this.key = JSON.stringify(question));
    this.mind.ask(question, (answer) => key === this.key && this.answered(answer));
  }

  answered(answer) {
    if (answer.error) return this.say(answer.error, true);
    this.fill(answer);
    this.root.dataset.answered = this.key;
    if (answer.value === null) return;
    const eight = answer.weights.reduce((sum, weight) => sum + weight, 0);
    const { name, optimistic, places } = this.network;
    const start = optimistic ? ` and V_init = ${points(optimistic)}` : "";
    const stage = answer.stage ? ` (stage ${answer.stage})` : "";
    this.sum.textContent = `These eight add up to ${weightOf(eight)}. All ` +
      `${counted(8 * places.length, "look-up")}${start} make the value that ${name} gives this ` +
      `board${stage}: ${weightOf(answer.value)}.`;
  }

  hear(message) {
    if (message.kind === "changed") this.ask();
    else if (message.kind === "trouble") this.say(message.error, true);
    else this.mind.hear(message);
  }

  lose() {
    const why = "The kernel has ended or was restarted. Tuples and indices are still worked out " +
      `here, but weights and visits need it: ${AGAIN}.`;
    this.mind.lose(why);
    this.say(why, true);
  }

  close() {
    this.mind.close();
    this.curve?.close();
  }
}

// ---------------------------------------------------------------- numbers and words

const power = (base, n) => base + [...String(n)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");

function memoryOf(bytes) {
  const unit = Math.min(UNITS.length - 1, Math.floor((bytes.toString(2).length - 1) / 10));
  return `${fine(Number((bytes * 100n) >> BigInt(10 * unit)) / 100)} ${UNITS[unit]}`;
}

// Three digits that say something, and no more.
function fine(number) {
  const size = Math.abs(number);
  if (size >= 1000) return brief(number);
  const text = String(Number(number.toPrecision(3)));
  return text.includes("e") ? number.toFixed(4) : text.replace("-", "−");
}

const weightOf = (weight) => points(weight, Math.abs(weight) < 10 ? 3 : 1);

// Why no game can come to a board, as a state or before a tile came; "" where one can.
function impossible(cells, rules) {
  const empty = cells.indexOf(0);
  try {
    rules.possible(empty < 0 ? cells : cells.map((exponent, cell) => (cell === empty ? 1 : exponent)));
    return "";
  } catch (error) {
    return ` No game can come to this board (${error.message}); tables have entries for it all the same.`;
  }
}

const begin = (root, model, send) => new Tuples(root, { ...model.get("tuples"), send });

export default { render: rendering(begin) };
