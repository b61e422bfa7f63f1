// Learning curves to explore.  The kernel reads them and writes files; what is chosen, averaged and
// drawn happens here.

import {
  box, button, counted, enable, fill, furnish, holdKeys, make, menu, messageLine, points, putWords, row,
} from "../../show/widgets/board.js";
import { Chart, swatch, together } from "../../show/widgets/chart.js";
import { AGAIN, rendering } from "../../show/widgets/jupyter.js";
import { Orders } from "../../show/widgets/orders.js";

const COLUMNS = ["actions", "games", "seconds", "mean", "ci95"]; // of a point, see recorded.py
const TRAINED = "training";
const AXES = { actions: "actions", games: "games", seconds: "seconds of training" };
const LOOK_EVERY = 2000; // milliseconds between two looks into folders that may grow
const MENUS = ["place", "rule", "rate"]; // each lists some of the rows that the one before it lists
const FEW = 20; // points of a curve that are shown as dots
const TYPES = { csv: "text/csv", png: "image/png", svg: "image/svg+xml" };
const [MEAN, HALF] = [3, 4];
const ofKind = (of) => (of === TRAINED ? "training games" : `${of}-ply tests`);

// ---------------------------------------------------------------- lines

// A curve at some x, by straight lines between its points; its x rise.
function along(xs, ys, at) {
  let i = 0;
  return at.map((x) => {
    while (i < xs.length - 2 && xs[i + 1] < x) i++;
    if (xs.length < 2 || x <= xs[i]) return ys[i];
    const share = Math.min(1, (x - xs[i]) / (xs[i + 1] - xs[i]));
    return ys[i] + share * (ys[i + 1] - ys[i]);
  });
}

// The mean of some seeds' lines [xs, ys] over the stretch that all cover, the lowest and the highest:
// [xs, means, lows, highs]; null where they have no stretch in common.
export function average(lines) {
  const begin = Math.max(...lines.map(([xs]) => xs[0]));
  const end = Math.min(...lines.map(([xs]) => xs.at(-1)));
  if (begin > end) return null;
  const longest = lines.reduce((best, line) => (line[0].length > best[0].length ? line : best))[0];
  const inside = longest.filter((x) => x > begin && x < end);
  const at = begin < end ? [begin, ...inside, end] : [begin];
  const all = lines.map(([xs, ys]) => along(xs, ys, at));
  const over = (take) => at.map((_, i) => take(all.map((ys) => ys[i])));
  const mean = (ys) => ys.reduce((sum, y) => sum + y, 0) / ys.length;
  return [at, over(mean), over((ys) => Math.min(...ys)), over((ys) => Math.max(...ys))];
}

const column = (all, of) => all.map((point) => point[of]);
const dotted = (xs) => (xs.length <= FEW ? 5 : 0);

// What a chart shows: lines with their names and looks, and bands, each between two of the lines.
class Lines {
  // at: where x is in a point.
  constructor(at) {
    Object.assign(this, { at, lines: [], names: [], looks: [], bands: [] });
  }

  get columns() {
    return this.lines.length ? together(this.lines) : [[]];
  }

  add(name, xs, ys, look) {
    this.lines.push([xs, ys]);
    this.names.push(name);
    this.looks.push(look);
    return this.lines.length;
  }

  // One seed of several.
  each(name, end, all, line) {
    const look = { line, end, width: 1.5, dots: dotted(all) };
    this.add(name, column(all, this.at), column(all, MEAN), look);
  }

  // A seed alone, and the interval of its mean.
  single(name, end, all, line) {
    const [xs, ys, half] = [this.at, MEAN, HALF].map((of) => column(all, of));
    const beside = (sign) => ys.map((y, i) => y + sign * (half[i] ?? 0));
    this.banded(name, end, xs, ys, beside(-1), beside(1), line);
  }

  // The mean of seeds, from the lowest to the highest; says whether they have a stretch in common.
  mean(name, end, seeds, line) {
    const all = seeds.map(({ points: one }) => [column(one, this.at), column(one, MEAN)]);
    const mean = average(all);
    if (mean) this.banded(name, end, ...mean, line);
    return mean !== null;
  }

  banded(name, end, xs, ys, low, high, line) {
    this.add(name, xs, ys, { line, end, dots: dotted(xs) });
    const edge = { line, width: 0, silent: true };
    this.bands.push([this.add(name, xs, high, edge), this.add(name, xs, low, edge)]);
  }

  // Single marks without a line.
  marks(name, paper, line) {
    this.add(name, column(paper, 0), column(paper, 1), { line, end: "paper", alone: true, dots: 10 });
  }
}

// ---------------------------------------------------------------- files

function download(name, data) {
  const url = URL.createObjectURL(new Blob([data], { type: TYPES[name.split(".").at(-1)] }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// ---------------------------------------------------------------- on the page

class Explorer {
  constructor(root, { catalogue, send }) {
    Object.assign(this, { root, curves: new Map(), lost: "", now: null, asked: new Set() });
    Object.assign(this, { lines: [], first: [] }); // the row that has each colour; rows that stand first
    this.orders = new Orders(send, this);
    this.build();
    this.view = catalogue.view;
    this.adopt(catalogue, true);
    holdKeys(root, (key, event) => event.target === this.chart.place
      && this.chart.pressed(key, event.shiftKey));
  }

  // ---- what is there

  // Take what the kernel knows of; new rows are drawn where there is room.
  adopt(catalogue, first = false) {
    const known = this.rows?.length ?? 0;
    Object.assign(this, { catalogue, rows: catalogue.rows });
    if (!first) {
      const fresh = this.fitting().filter(({ row }) => row >= known).map(({ row }) => row);
      this.view.rows = [...this.view.rows, ...fresh].slice(0, catalogue.most);
    } else this.first = [...this.view.rows];
    if (catalogue.grows && !this.timer) this.timer = setInterval(() => this.look(), LOOK_EVERY);
    this.ask(first);
    this.refresh();
  }

  // The rows that place, rule and rate leave, or those before one of them.
  fitting(before = null) {
    const asked = before === null ? MENUS : MENUS.slice(0, MENUS.indexOf(before));
    return this.rows.filter((row) => asked.every(
      (name) => this.view[name] === null || row[name] === this.view[name]));
  }

  get kind() {
    return this.view.plies === null ? TRAINED : String(this.view.plies);
  }

  has(row) {
    return row.kinds.includes(this.kind);
  }

  // The rows that all menus leave: these have curves as they are to be shown.
  listed() {
    const { seeds } = this.view;
    return this.fitting().filter((row) => this.has(row)
      && (!/\d/.test(seeds) || row.seeds.includes(seeds)));
  }

  // Why no row is left.
  nothing() {
    const kinds = [...new Set(this.fitting().flatMap((row) => row.kinds))];
    if (!kinds.length || kinds.includes(this.kind))
      return "The menus leave no row: choose “all” in one of them, or Reset.";
    return `No row that the menus leave has ${ofKind(this.kind)}: show ` +
      `${kinds.map(ofKind).join(" or ")}, or Reset.`;
  }

  get drawnRows() {
    return this.view.rows.map((row) => this.rows[row]);
  }

  // ---- the page

  build() {
    const to = (choice) => this.change(choice, true); // which shows the whole curves again
    const numbered = (value) => (/\d/.test(value) ? Number(value) : value);
    this.menus = Object.fromEntries(MENUS.map((name) =>
      [name, menu(name === "place" ? "list or folder" : name, [], () => this.filter(name))]));
    this.depth = menu("games", [], () => this.change({ plies:
      this.depth.value === TRAINED ? null : Number(this.depth.value) }));
    this.seeds = menu("seeds", [], () => this.change({ seeds: numbered(this.seeds.value) }));
    this.axis = menu("x axis", Object.entries(AXES), () => to({ x: this.axis.value }));
    const [log, logLabel] = box("logarithmic", () => to({ log: log.checked }));
    const [paper, paperLabel] = box("the paper’s points", () => this.change({ paper: paper.checked }));
    Object.assign(this, { log, paper, paperLabel });
    this.list = make("div.lib-rows", { role: "group", "aria-label": "Rows to draw" });
    this.chart = new Chart({ title: "", names: [], large: true, said: (words) => this.say(words),
      write: points, log: true });
    this.message = messageLine();
    const save = ["csv", "png", "svg"].map((kind) => button(kind.toUpperCase(),
      `Download what is drawn as ${kind.toUpperCase()}`, () => this.save(kind)));
    const these = button("Draw these", "Draw the rows that the menus leave, and no others",
      () => this.drawThese());
    const again = button("Reset", "Choose and draw what stood here at first", () => this.reset());
    const labelled = (text, element) => make("label", text, element);
    const { place, rule, rate } = this.menus;
    const keys = "drag over the curves to zoom · on the curves, Left and Right read them, + and − " +
      "zoom, 0 shows all";
    this.count = make("span.lib-small");
    const fold = (title, ...parts) => make("details.lib-fold", make("summary", ...title), ...parts);
    furnish(this.root, { name: "Learning curves to explore", keys, kinds: ["lib-curves", "lib-wide"] },
      row(labelled("show", this.depth), this.seeds, labelled("over", this.axis), logLabel, paperLabel),
      this.chart.element, this.message,
      fold(["Choose rows ", this.count], row(labelled("from", place), labelled("rule", rule),
        labelled("rate", rate), make("span.lib-row", these, again)), this.list),
      fold(["Run a row now, or save what is drawn"], this.runs(),
        make("div.lib-row", { role: "group", "aria-label": "Download" }, "save as", ...save)));
  }

  // What runs a row now.
  runs() {
    this.chosen = menu("Row to run", []);
    this.time = make("input", { type: "number", value: 10, "aria-label": "Seconds to run" });
    this.start = button("Run", "Run this row now, from the beginning", () => this.begin());
    this.end = button("Stop", "Stop the run", () => this.give({ kind: "stop" }));
    enable(this.end, false);
    this.bar = make("progress", { max: 1, value: 0, hidden: "", "aria-label": "How far it is" });
    this.far = make("span.lib-small");
    return make("div.lib-row.lib-now", make("label", "run", this.chosen, "now for"),
      make("label", this.time, "s"), this.start, this.end, this.bar, this.far);
  }

  // ---- choices

  // List the rows that a menu leaves; what is drawn stays.
  filter(name) {
    const picked = this.menus[name].value;
    this.view[name] = picked === "" ? null : JSON.parse(picked);
    const later = MENUS.slice(MENUS.indexOf(name) + 1);
    if (!this.fitting().length) later.forEach((menu) => (this.view[menu] = null));
    this.first = [...this.view.rows];
    this.change({});
  }

  drawThese() {
    const { most } = this.catalogue;
    const rows = this.listed().map(({ row }) => row);
    if (!rows.length) return this.say(this.nothing());
    this.first = rows.slice(0, most);
    this.change({ rows: [...this.first] }, true);
    if (rows.length > most) this.say(`${counted(rows.length, "row")}; drawn are the first ${most}.`);
  }

  reset() {
    const { first, most } = this.catalogue;
    const rows = first.rows.length ? first.rows : this.rows.slice(0, most).map(({ row }) => row);
    this.first = rows;
    this.change({ ...first, rows: [...rows] }, true);
    this.say("Everything is as at first.");
  }

  tick(row, on) {
    const rows = this.view.rows.filter((other) => other !== row);
    if (on && rows.length >= this.catalogue.most) {
      this.shown = null; // the box that was ticked is to be drawn again
      this.refresh();
      return this.say(`There are colours for ${this.catalogue.most} rows: take one away first.`);
    }
    this.change({ rows: on ? [...rows, row] : rows });
  }

  // Take a choice; whole: show the whole curves again.
  change(choice, whole = false) {
    Object.assign(this.view, choice);
    if (whole) this.chart.part = null;
    this.chart.whole.hidden = this.chart.part === null;
    this.give({ kind: "view", view: this.view });
    this.ask();
    this.refresh();
  }

  // ---- the kernel

  give(order) {
    if (!this.lost) this.orders.give(order);
    else if (!["view", "look"].includes(order.kind)) this.say(this.lost, true);
  }

  // Ask for the curves of rows that are not here yet.
  ask(first = false) {
    const rows = this.view.rows.filter((row) => !this.asked.has(row));
    rows.forEach((row) => this.asked.add(row));
    if (rows.length || first) this.give({ kind: "load", rows, first });
  }

  look() {
    if (this.looking || this.lost || document.hidden || !this.root.isConnected) return;
    this.looking = true;
    this.give({ kind: "look" });
  }

  hear({ kind, id, ...news }) {
    if (kind === "heard") this.orders.heard(id);
    else if (kind === "curves") this.keep(news);
    else if (kind === "now") this.hearNow(news);
    else if (kind === "choice") this.choose(news);
    else if (kind === "looked") this.looked(news);
    else if (kind === "file") this.saved(news);
    else if (kind === "trouble") {
      this.looking = false;
      this.say(news.error, true, news.details);
    }
  }

  // Take what was chosen before the page was loaded again, or by the kernel, which says why.
  choose({ view, why = "" }) {
    this.because = why;
    if (JSON.stringify(view) === JSON.stringify(this.view)) return;
    this.view = view;
    this.ask();
    this.refresh();
  }

  keep({ row, curves }) {
    const missing = curves.some(({ seed, of, from, points: fresh }) => {
      const key = `${row} ${seed} ${of}`;
      const there = this.curves.get(key) ?? [];
      if (from > there.length) return true;
      this.curves.set(key, [...there.slice(0, from), ...fresh]);
      return false;
    });
    if (missing) this.give({ kind: "load", rows: [row] });
    if (this.view.rows.includes(row)) this.refresh();
  }

  looked({ troubles }) {
    this.looking = false;
    const [said, before] = [troubles.join(" "), this.troubles ?? ""];
    this.troubles = said;
    if (said && said !== before) this.say(said, true);
    else if (!said && before === this.message.textContent) this.say("");
  }

  lose() {
    this.lost = "The kernel has ended or was restarted. Curves that are here can still be explored; " +
      `for the others ${AGAIN}.`;
    this.orders.close();
    clearInterval(this.timer);
    [this.start, this.end].forEach((pressed) => enable(pressed, false));
    this.say(this.lost, true);
  }

  // ---- a run now

  begin() {
    if (this.running || this.lost) return;
    const row = Number(this.chosen.value);
    this.because = "";
    this.give({ kind: "run", row, seconds: Number(this.time.value) });
  }

  get running() {
    return ["starting", "training", "stopping"].includes(this.now?.status.phase);
  }

  hearNow({ name, from, points: fresh, status }) {
    const there = this.now?.name === name ? this.now.points : [];
    if (from > there.length) return this.give({ kind: "load", rows: [], first: true });
    this.now = { name, status, points: [...there.slice(0, from), ...fresh] };
    enable(this.start, !this.running);
    enable(this.end, this.running);
    this.bar.hidden = false;
    this.bar.value = status.share ?? 0;
    this.far.textContent = status.far;
    if (status.words !== this.told) this.tellAgain();
    this.draw();
  }

  tellAgain() {
    const { words = "", phase, details } = this.now?.status ?? {};
    this.told = words;
    const said = words && [`${this.now.name}: ${words}`, this.because].filter(Boolean).join(" ");
    this.say(said, phase === "failed", details);
  }

  // ---- files

  save(kind) {
    this.give({ kind: "file", format: kind, view: this.view });
    if (!this.lost) this.say(kind === "csv" ? "The table is written." : "The picture is drawn.");
  }

  saved({ format, text }) {
    download(`curves.${format}`, Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
    this.say(`curves.${format} is ${format === "csv" ? "" : "drawn and "}saved.`);
  }

  // ---- what is drawn

  usable(all) {
    const at = COLUMNS.indexOf(this.view.x);
    return all.filter((point) => point[at] !== null && (point[at] > 0 || !this.view.log));
  }

  // Give each row that is drawn a colour, which it keeps while it is.
  colour() {
    const { rows } = this.view;
    const free = [...Array(this.catalogue.most).keys()].filter((n) => !rows.includes(this.lines[n]));
    rows.filter((row) => !this.lines.includes(row)).forEach((row) => (this.lines[free.shift()] = row));
  }

  // The rows that are drawn: [{row, label, n: its colour, seeds: [{seed, points}], paper: points}].
  drawn() {
    const names = this.view.rows.map((row) => this.rows[row].name);
    return this.view.rows.map((number) => {
      const n = this.lines.indexOf(number);
      const row = this.rows[number];
      const twice = names.filter((name) => name === row.name).length > 1;
      const chosen = row.seeds.filter((seed) => [seed, "mean", "each"].includes(this.view.seeds));
      const seeds = chosen.map((seed) => ({ seed,
        points: this.usable(this.curves.get(`${number} ${seed} ${this.kind}`) ?? []) }));
      const paper = this.view.paper && this.view.x === "actions" ? row.paper : [];
      return { row, n, label: twice ? `${row.name}, ${row.place}` : row.name,
        seeds: seeds.filter(({ points: all }) => all.length),
        paper: paper.filter(([of]) => of === this.kind).map(([, ...point]) => point) };
    });
  }

  // A run of now has no test games.
  nowDrawn() {
    const usable = this.now && this.kind === TRAINED ? this.usable(this.now.points).filter((p) => p[MEAN] !== null) : [];
    return usable.length ? [{ label: this.now.name, points: usable }] : [];
  }

  draw() {
    const { most } = this.catalogue;
    const lines = new Lines(COLUMNS.indexOf(this.view.x));
    const apart = [];
    for (const { label, n, seeds, paper } of this.drawn()) {
      if (this.view.seeds === "each") {
        seeds.forEach(({ seed, points: all }) =>
          lines.each(`${label} seed ${seed}`, `${label} · ${seed}`, all, n));
      } else if (seeds.length === 1) lines.single(label, label, seeds[0].points, n);
      else if (seeds.length && !lines.mean(`${label}, ${seeds.length} seeds`, label, seeds, n)) {
        apart.push(label);
      }
      if (paper.length) lines.marks(`${label}, paper`, paper, n);
    }
    for (const { label, points: all } of this.nowDrawn()) lines.single(label, label, all, most);
    const what = this.kind === TRAINED ? "training games, by the thousand"
      : `${this.kind}-ply test games`;
    const { names, looks, bands } = lines;
    this.chart.become({ title: `mean score of ${what}, in points`, names, looks, bands,
      log: this.view.log, x: AXES[this.view.x] }, lines.columns);
    this.explain(apart);
  }

  // Say what cannot be drawn as it was chosen.
  explain(apart) {
    const drawn = this.drawn();
    const here = ({ row }) => this.view.rows.every((n) => this.asked.has(n)) && this.has(row);
    const empty = drawn.filter((one) => here(one) && !one.seeds.length
      && [...this.curves.keys()].some((key) => key.startsWith(`${one.row.row} `)));
    const x = AXES[this.view.x];
    const words = [];
    if (empty.length) {
      const names = empty.map(({ label }) => label).join(", ");
      words.push(this.view.x === "actions" ? `No such seed: ${names}.` : `Nobody wrote down the ${x}: ${names}.`);
    }
    if (apart.length) {
      words.push(`The seeds have no stretch of ${x} in common, choose each seed: ${apart.join(", ")}.`);
    }
    if (!this.view.rows.length) words.push("Tick a row to draw it.");
    const said = words.join(" ");
    if (said !== (this.explained ?? "")) this.say(said);
    this.explained = said;
  }

  refresh() {
    this.colour();
    this.showMenus();
    this.showRows();
    this.draw();
  }

  showMenus() {
    for (const [name, select] of Object.entries(this.menus)) {
      const rows = this.fitting(name);
      const values = new Map();
      for (const row of rows) {
        if (row[name] === null) continue;
        values.set(row[name], (values.get(row[name]) ?? new Set()).add(row.symbol));
      }
      const text = (value, symbols) => ({ rate: `${[...symbols].join(", ")} ${value}`,
        rule: rows.find(({ rule }) => rule === value)?.said, place: value })[name];
      const sorted = [...values].sort(([a], [b]) => (name === "rate" ? a - b : 0));
      const options = sorted.map(([value, symbols]) => [JSON.stringify(value), text(value, symbols)]);
      fill(select, [["", "all"], ...options]);
      select.value = this.view[name] === null ? "" : JSON.stringify(this.view[name]);
      select.parentElement.hidden = name === "place" && options.length < 2;
    }
    const rows = [...this.fitting(), ...this.drawnRows];
    const kinds = [...new Set([...rows.flatMap((row) => row.kinds), this.kind])].sort();
    fill(this.depth, kinds.reverse().map((of) => [of, ofKind(of)]));
    this.depth.value = this.kind;
    const seeds = [...new Set(rows.flatMap((row) => row.seeds))].sort((a, b) => a - b);
    fill(this.seeds, [["mean", "mean of the seeds"], ["each", "each seed"],
      ...seeds.map((seed) => [seed, `seed ${seed}`])]);
    this.seeds.value = this.view.seeds;
    this.axis.value = this.view.x;
    this.log.checked = this.view.log;
    this.paper.checked = this.view.paper;
    this.paperLabel.hidden = this.view.x !== "actions"
      || !this.drawnRows.some(({ paper }) => paper.some(([of]) => of === this.kind));
  }

  // Those that were drawn when the menus last changed come first, and stay when their tick is gone.
  showRows() {
    const listed = this.listed();
    const others = this.drawnRows.filter((row) => !listed.includes(row)).map(({ row }) => row);
    this.first = [...new Set([...this.first, ...others])];
    const first = this.first.map((row) => this.rows[row]);
    const all = [...first, ...listed.filter((row) => !first.includes(row))];
    this.count.textContent = `${this.view.rows.length} of ${points(this.rows.length)} drawn`;
    const none = listed.length ? "" : this.nothing();
    const about = all.map(({ row, seeds }) => [row, seeds]);
    const key = JSON.stringify([this.view.rows, this.kind, none, about]);
    if (key === this.shown) return;
    const { activeElement: active } = document;
    const focused = this.list.contains(active) && active;
    const keyboard = focused && focused.matches(":focus-visible");
    const { scrollTop } = this.list;
    this.shown = key;
    this.list.replaceChildren(...all.map((row) => this.item(row)));
    if (none) this.list.append(make("p.lib-small", none));
    this.list.scrollTop = scrollTop;
    if (focused) {
      const same = this.list.querySelector(`[data-row="${focused.dataset.row}"]`);
      const next = same ?? this.list.querySelector("input") ?? this.root; // keys stay here
      next.focus({ preventScroll: !keyboard });
    }
    const before = this.chosen.value;
    fill(this.chosen, this.view.rows.map((row) => [row, this.rows[row].name]));
    if (before !== "" && this.view.rows.includes(Number(before))) this.chosen.value = before;
  }

  item(row) {
    const drawn = this.view.rows.includes(row.row);
    const tick = make("input", { type: "checkbox", "data-row": row.row,
      onchange: () => this.tick(row.row, tick.checked) });
    tick.checked = drawn;
    const line = drawn ? swatch(this.lines.indexOf(row.row)) : make("span.lib-line");
    const missing = this.has(row) ? "" : " · has no such curve";
    const about = make("span.lib-small",
      ` ${row.about ?? ""} · ${counted(row.seeds.length, "seed")}${missing}`);
    return make("label", tick, line, make("span", make("b", row.name), about));
  }

  say(words, bad = false, details = "") {
    putWords(this.message, words, bad, details);
  }

  close() {
    clearInterval(this.timer);
    this.orders.close();
    this.chart.close();
  }
}

function begin(root, model, send) {
  const view = new Explorer(root, { catalogue: model.get("catalogue"), send });
  model.on("change:catalogue", () => view.adopt(model.get("catalogue")));
  return view;
}

export default { render: rendering(begin) };
