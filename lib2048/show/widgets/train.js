// Runs that train in the kernel: buttons, the rate, and curves that grow.  Numbers come as messages,
// only what is new of them; without a page nobody hears them, and the training goes on.

import {
  button, enable, furnish, holdKeys, make, menu, messageLine, points, putWords, row, tally,
} from "./board.js";
import { brief, Chart, together } from "./chart.js";
import { AGAIN, rendering } from "./jupyter.js";
import { Orders } from "./orders.js";
import { Show } from "./show.js";

const [ACTIONS_AT, SECONDS_AT, MEAN_AT, SHARES_AT] = [0, 2, 3, 5]; // in a point, see POINT of train.py
const FIRST_TILE = 2; // of a run's tiles, whose share is shown at first: 2048
const SPEED_OVER = 1; // seconds over which actions/s are measured, at the least
const HELD = ["ready", "paused", "stopped", "done", "failed"];
const STARTS = {
  ready: "Start", paused: "Go on", stopped: "Train on", done: "Train on", failed: "Try again",
};

const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;

// A share as people read it, in steps of one per cent unless it is small, or in those of an axis.
const percent = (share, step = share > 0 && share < 0.1 ? 0.001 : 0.01) =>
  `${points(100 * share, Math.max(0, -Math.floor(Math.log10(100 * step) + 1e-9)))} %`;

// A rate to set: a number, with a decimal point or comma, and a slider from 0.0001 to 1.
class Rate {
  // symbol: what it is called; whose: of which run or runs; send: takes a number; say: takes what is
  // wrong with a text, in words.
  constructor(symbol, whose, send, say) {
    Object.assign(this, { symbol, send, say });
    const name = `${symbol} of ${whose}`;
    this.number = make("input", {
      inputmode: "decimal", autocomplete: "off", "aria-label": name, onchange: () => this.typed(),
    });
    this.slider = make("input", {
      type: "range", min: -80, max: 0, "aria-label": `${name}, logarithmic`,
      oninput: () => (this.number.value = this.slid()), onchange: () => send(this.slid()),
    });
    this.parts = [make("label.lib-rate", symbol, this.number), this.slider];
  }

  slid() {
    return Number((10 ** (this.slider.value / 20)).toPrecision(2));
  }

  typed() {
    const text = this.number.value.trim();
    if (NUMBER.test(text)) return this.send(Number(text.replace(",", ".")));
    const stays = this.now ? ` It stays ${this.now}.` : "";
    this.say(`“${text}” is no number: write ${this.symbol} as 0.05 or 0,05.${stays}`);
    this.show(this.now);
  }

  // Show the rate that holds; null: of several runs that differ.
  show(rate) {
    this.now = rate;
    this.number.value = rate ?? "";
    this.number.placeholder = rate ? "" : "differ";
    if (rate) this.slider.value = Math.round(20 * Math.log10(rate));
    this.slider.setAttribute("aria-valuetext", rate ?? "they differ");
  }
}

// One run: its orders, its numbers.
class Card {
  constructor(run, n, order, say) {
    Object.assign(this, { run, order, points: [], before: [] });
    this.status = { phase: "ready", changes: [] };
    this.toggleButton = button("Start", `Start, pause or go on with ${run.name}`,
      () => this.toggle());
    this.stopButton = button("Stop", `Stop ${run.name}`, () => this.stop());
    this.resetButton = button("Reset", `Begin anew with ${run.name}, untrained`, () => this.reset());
    const [scores, numbers] = tally("mean score", "2048 reached", "actions/s");
    this.tally = numbers;
    this.reached = scores.children[1].firstChild;
    this.bar = make("progress", { max: 1, "aria-label": `How far ${run.name} is` });
    this.far = make("span.lib-small");
    this.name = make("b", run.name);
    const name = make("p.lib-name",
      make("span.lib-line", { style: `--colour: var(--line-${n})`, "data-line": n }),
      this.name);
    const far = make("div.lib-far", this.bar, this.far);
    this.show = run.game && new Show(run.game, run.name);
    this.stage = make("div.lib-stage", ...(this.show ? [this.show.element] : []));
    this.element = make("section.lib-card", { "aria-label": run.name }, name,
      row(this.toggleButton, this.stopButton, this.resetButton, ...this.rates(say)), this.stage,
      scores, far);
  }

  // ---- the rate

  rates(say) {
    const { rate, name, fixed } = this.run;
    this.rate = new Rate(rate, name, (rate) => this.order({ kind: "rate", rate }), say);
    return [...this.rate.parts, ...(fixed ? [make("span.lib-small", fixed)] : [])];
  }

  showRate(rate) {
    this.first ??= rate;
    this.name.textContent = this.run.name + (rate === this.first ? "" : `, now ${this.run.rate} ${rate}`);
    this.rate.show(rate);
  }

  // Where the rate was changed, as marks of a chart.
  marks(line) {
    return this.status.changes.map(([x, rate]) => ({ x, line, text: `${this.run.rate} ${rate}` }));
  }

  // ---- orders

  get held() {
    return HELD.includes(this.status.phase);
  }

  toggle() {
    if (this.held) this.order({ kind: "start" });
    else if (["starting", "training"].includes(this.status.phase)) this.order({ kind: "pause" });
  }

  stop() {
    if (!this.held || this.status.phase === "paused") this.order({ kind: "stop" });
  }

  reset() {
    if (this.used) this.order({ kind: "reset" });
  }

  // Whether there is anything to begin anew.
  get used() {
    return this.status.phase !== "ready" || this.points.length > 0;
  }

  // ---- news

  // Take what is new; false when something before it is missing.
  hear({ from, points: fresh, status, games, before }) {
    if (from > this.points.length) return false;
    if (games) this.show?.hear(...games, !HELD.includes(status.phase));
    else if (this.show) this.show.going = !HELD.includes(status.phase);
    if (before) this.before = before;
    this.points.length = from;
    this.points.push(...fresh);
    this.status = status;
    this.refresh();
    return true;
  }

  refresh() {
    const { phase, share, far, rate } = this.status;
    this.toggleButton.textContent = STARTS[phase] ?? "Pause";
    enable(this.toggleButton, this.held || ["starting", "training"].includes(phase));
    enable(this.stopButton, !this.held || phase === "paused");
    enable(this.resetButton, this.used);
    this.bar.hidden = share === null;
    this.bar.value = share ?? 0;
    this.far.textContent = far;
    this.element.dataset.phase = phase;
    if (rate !== this.rate.now) this.showRate(rate);
  }

  // Write the numbers of the last point; at: where the share of a tile is in it, tile: its name.
  count(at, tile) {
    const last = this.points.at(-1);
    this.reached.textContent = `${tile} reached`;
    const values = last ? [points(last[MEAN_AT]), percent(last[at]), brief(speeds(this.points).at(-1) ?? 0)]
      : ["–", "–", "–"];
    Object.values(this.tally).forEach((place, n) => (place.textContent = values[n]));
  }

}

// Actions/s before each point, over a second or more of training.
function speeds(points) {
  let begin = 0;
  return points.map((point, i) => {
    while (begin + 1 < i && point[SECONDS_AT] - points[begin + 1][SECONDS_AT] >= SPEED_OVER) begin++;
    const [actions, seconds] = [ACTIONS_AT, SECONDS_AT].map(
      (at) => point[at] - (i ? points[begin][at] : 0));
    return seconds > 0 ? actions / seconds : null;
  });
}

class Train {
  // runs: [{name, rate: what it is called, tiles, fixed: what cannot be changed, in words}]; send:
  // takes orders.
  constructor(root, { runs, send }) {
    Object.assign(this, { root, runs, lost: "" });
    this.orders = new Orders(send, this);
    this.cards = runs.map((run, n) => new Card(run, n,
      (order) => this.order({ run: n, ...order }), (words) => this.say(words, true)));
    this.build();
    holdKeys(root, (key, event) => this.pressed(key, event));
    this.order({ kind: "look" });
  }

  build() {
    const { tiles } = this.runs[0];
    this.tile = menu("Tile", tiles.map((tile, n) => [n, tile]), () => this.draw());
    this.tile.value = FIRST_TILE;
    const group = Math.random().toString(36).slice(2);
    const names = this.runs.map(({ name }) => name);
    const said = (words) => this.say(words);
    const zoomed = (part) => this.charts.forEach((chart) => chart.adopt(part));
    const looks = [...names.map((_, line) => ({ line })),
      ...names.map((_, line) => ({ line, width: 1.5, alpha: 0.4, silent: true }))];
    const chart = (title, more = {}) => new Chart({ title, group, said, zoomed, looks,
      names: [...names, ...names.map((name) => `${name}, before`)], ...more });
    const alone = this.cards.length === 1 && this.cards[0].show;
    this.charts = [
      chart("mean score of the last 1000 games", { write: points, tall: alone ? 300 : 200,
        empty: "The curve begins with the first game that is over." }),
      chart(`games that reached ${tiles[FIRST_TILE]}`,
        { write: percent, tick: percent, most: 1, least: 0.05 }),
      chart("actions/s"),
    ];
    this.message = messageLine();
    const cards = make("div.lib-cards", ...this.cards.map(({ element }) => element));
    const choose = make("label", "tile to reach", this.tile);
    const [score, won, speed] = this.charts.map(({ element }) => element);
    won.firstChild.append(choose);
    const all = this.runs.length > 1 ? [this.both()] : [];
    const keys = "P starts, pauses and goes on · S stops · R resets · drag over a curve to zoom";
    if (alone) alone.element.after(score);
    furnish(this.root, { name: "Training", keys, kinds: ["lib-train"] }, ...all, cards, this.message,
      ...(alone ? [] : [score]), make("div.lib-charts.lib-more", won, speed));
  }

  both() {
    this.toggleAll = button("Start all", "Start, pause or go on with all runs", () => this.toggle());
    this.stopAll = button("Stop all", "Stop all runs", () => this.stop());
    const reset = button("Reset all", "Begin anew with all runs, untrained", () => this.reset());
    const symbols = new Set(this.runs.map(({ rate }) => rate));
    this.rateOfAll = new Rate(symbols.size > 1 ? "rate" : [...symbols][0], "all runs",
      (rate) => this.order({ kind: "rate", rate }), (words) => this.say(words, true));
    const [label, slider] = this.rateOfAll.parts;
    label.firstChild.after(" of all");
    return make("div.lib-row.lib-all", this.toggleAll, this.stopAll, reset, label, slider);
  }

  pressed(key, event) {
    const chart = this.charts.find(({ place }) => place === event.target);
    if (chart?.pressed(key, event.shiftKey)) return true;
    if (key === "p") this.toggle();
    else if (key === "s") this.stop();
    else if (key === "r") this.reset();
    else return false;
    return true;
  }

  get resting() {
    return this.cards.every(({ held }) => held);
  }

  toggle() {
    const { resting } = this;
    this.cards.filter(({ held }) => held === resting).forEach((card) => card.toggle());
  }

  stop() {
    this.cards.forEach((card) => card.stop());
  }

  reset() {
    this.cards.forEach((card) => card.reset());
  }

  // What the button of all runs does next.
  get next() {
    if (!this.resting) return "Pause all";
    const are = (phase) => this.cards.every(({ status }) => status.phase === phase);
    return are("ready") ? "Start all" : are("done") ? "Train all on" : "Go on with all";
  }

  // ---- to the kernel and back

  order(order) {
    if (this.lost) this.say(this.lost, true);
    else this.orders.give(order);
  }

  hear({ kind, run, id, ...news }) {
    if (kind === "heard") this.orders.heard(id);
    else if (kind === "trouble") this.refused(news);
    else if (kind === "news" && this.took(this.cards[run], news)) this.draw();
    else if (kind === "news") this.order({ kind: "look" });
  }

  // Let a card take news; a new rate ends what was said of one that was refused.
  took(card, news) {
    if (news.status.rate !== card.rate.now) this.told = null;
    return card.hear(news);
  }

  // Say what is wrong; the fields go back to the rates that hold.
  refused({ error, details }) {
    [...this.cards.map(({ rate }) => rate), this.rateOfAll].forEach((rate) => rate?.show(rate.now));
    this.say(error, true, details);
  }

  // The rate that all runs have, null where they differ.
  get common() {
    const [first, ...others] = this.cards.map(({ rate }) => rate.now);
    return others.every((rate) => rate === first) ? first : null;
  }

  lose() {
    this.lost = "The kernel has ended or was restarted, and the training with it. What is shown is the " +
      `last that came. To begin anew, ${AGAIN}.`;
    this.orders.close();
    this.cards.forEach(({ toggleButton, stopButton, resetButton }) =>
      [toggleButton, stopButton, resetButton].forEach((pressed) => enable(pressed, false)));
    this.say(this.lost, true);
  }

  // ---- what is on the page

  draw() {
    const at = SHARES_AT + Number(this.tile.value);
    const tile = this.runs[0].tiles[this.tile.value];
    this.cards.forEach((card) => card.count(at, tile));
    const lines = [...this.cards.map(({ points }) => points), ...this.cards.map(({ before }) => before)];
    const one = (at) => (points) => points.map((point) => point[at]);
    const show = (chart, column) => chart.show(together(
      lines.map((points) => [one(ACTIONS_AT)(points), column(points)])));
    this.charts[1].rename(`games that reached ${tile}`);
    const marks = this.cards.flatMap((card, n) => card.marks(n));
    this.charts.forEach((chart, n) => chart.mark(n ? marks.map(({ x, line }) => ({ x, line })) : marks));
    show(this.charts[0], one(MEAN_AT));
    show(this.charts[1], one(at));
    show(this.charts[2], speeds);
    if (this.toggleAll) {
      this.toggleAll.textContent = this.next;
      enable(this.stopAll, this.cards.some(({ held, status }) => !held || status.phase === "paused"));
    }
    if (this.common !== this.rateOfAll?.now) this.rateOfAll?.show(this.common);
    this.tell();
  }

  tellAgain() {
    this.told = null;
    this.tell();
  }

  // Say how the runs stand, when that has changed.
  tell() {
    const words = this.cards.map(({ status, run }) =>
      (this.cards.length > 1 && status.phase !== "failed" ? `${run.name}: ` : "") + status.words);
    const said = words.join(" ");
    if (said === this.told) return;
    this.told = said;
    const failed = this.cards.filter(({ status }) => status.phase === "failed");
    this.say(said, failed.length > 0, failed.map(({ status }) => status.details).join("\n").trim());
  }

  say(words, bad = false, details = "") {
    putWords(this.message, words, bad, details);
  }

  close() {
    this.orders.close();
    this.charts.forEach((chart) => chart.close());
    this.cards.forEach(({ show }) => show?.close());
  }
}

const begin = (root, model, send) => new Train(root, { runs: model.get("about"), send });

export default { render: rendering(begin) };
