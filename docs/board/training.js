// A learner that trains in the page: its curve grows, and a game is played by the weights of now.
// The learning is in a worker, whose text the script carries along, as WORKER.

import { ACTIONS, WHOLE } from "../../lib2048/show/widgets/game.js";
import {
  Board, button, furnish, holdKeys, make, menu, messageLine, points, row, tally,
} from "../../lib2048/show/widgets/board.js";
import { brief, Chart, together } from "../../lib2048/show/widgets/chart.js";
import { onPage } from "./beside.js";

const NETWORKS = {
  "4-22": ["0123", "4567", "0145", "1256", "569a"],
  "four 5-tuples": ["01234", "01245", "45689", "12569"],
};
const MOST_POINTS = 400; // of a curve; with more, every second one goes
const KEPT = 4; // curves beside the newest one
const FADED = 0.45;
const KEYS_HELP = "P starts and pauses · N begins anew";
const cellsOf = (words) => words.map((word) => [...word].map((digit) => parseInt(digit, 16)));

// A field for a number between two limits, and its label.
function field(text, value, [least, most], onchange) {
  const input = make("input.lib-number", { value, inputmode: "decimal", autocomplete: "off",
    "aria-label": text, onchange });
  return [Object.assign(input, { least, most }), make("label.lib-rate", text, input)];
}

// The number in a field, null for none that it may hold.
function numberIn(input) {
  const text = input.value.trim().replace(",", ".");
  const fits = text !== "" && Number(text) >= input.least && Number(text) <= input.most;
  input.setAttribute("aria-invalid", String(!fits));
  return fits ? Number(text) : null;
}

class Training {
  // root: an element; its data-network, -rule, -rate and -lambda say what is chosen at first.
  constructor(root) {
    Object.assign(this, { root, going: false, curves: [], begun: 0 });
    this.worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this[data.kind](data);
    this.worker.onerror = () => this.say("This browser cannot train here: it allows no workers.", true);
    this.build();
    holdKeys(root, (key) => this.pressed(key));
    this.renew();
  }

  // ---- what is on the page

  build() {
    this.networks = menu("Network", Object.keys(NETWORKS).map((name) => [name, name]), () => this.renew());
    this.rules = menu("Rule", [["td", "TD"], ["tc", "TC"]], () => this.ruled());
    const { network = "4-22", rule = "td", rate = rule === "tc" ? 1 : 0.1, lambda = 0 } = this.root.dataset;
    [this.networks.value, this.rules.value] = [network, rule];
    [this.rate, this.rateField] = field(rule === "tc" ? "β" : "α", rate, [1e-6, 1], () => this.renew());
    [this.lambda, this.lambdaField] = field("λ", lambda, [0, 0.99], () => this.renew());
    this.toggleButton = button("Start", "Start, pause or go on", () => this.toggle(), { class: "lib-first" });
    const anew = button("Begin anew", "Forget all weights; the curve stays for comparison", () => this.renew());
    const [numbers, places] = tally("actions", "games", "mean score", "actions/s");
    this.numbers = places;
    this.board = new Board("a game by the weights of now");
    this.caption = make("p.lib-small");
    this.message = messageLine();
    this.chart = new Chart({ title: "mean score of the last 1000 games (points)", names: ["now"],
      group: "train", said: (words) => this.say(words), write: points, tall: 230 });
    const choices = row(make("label", "network", this.networks), make("label", "rule", this.rules),
      this.rateField, this.lambdaField);
    const left = make("div.lib-left", this.board.element, this.caption);
    const side = make("div.lib-side", choices, row(this.toggleButton, anew), numbers, this.message);
    this.root.replaceChildren();
    furnish(this.root, { name: "A learner that trains here", keys: KEYS_HELP, kinds: ["lib-page"] },
      make("div.lib-columns.lib-play", left, side), this.chart.element);
  }

  get settings() {
    return { tuples: cellsOf(NETWORKS[this.networks.value]), rule: this.rules.value,
      rate: numberIn(this.rate), decay: numberIn(this.lambda), seed: "1" };
  }

  // What a learner is called beside its curve.
  name({ rule, rate, decay }) {
    const symbol = rule === "tc" ? "β" : "α";
    return `${this.networks.value}, ${rule.toUpperCase()}, ${symbol} ${rate}${decay ? `, λ ${decay}` : ""}`;
  }

  // ---- orders

  pressed(key) {
    if (key === "p") this.toggle();
    else if (key === "n") this.renew();
    else return false;
    return true;
  }

  toggle() {
    this.going = !this.going;
    this.toggleButton.textContent = this.going ? "Pause" : "Go on";
    this.worker.postMessage({ kind: "go", on: this.going });
    this.say(this.going ? "It plays, and learns from every action." : "It waits.");
  }

  // Begin with weights of 0; the curves so far stay, the newest few of them.
  renew() {
    const { settings } = this;
    if (settings.rate === null) return this.say("A rate is a number above 0 and up to 1.", true);
    if (settings.decay === null) return this.say("λ is a number from 0 to 0.99.", true);
    this.curves = this.curves.filter(({ x }) => x.length > 1).slice(-KEPT);
    this.curves.push({ name: this.name(settings), x: [], y: [], every: 1, news: 0 });
    this.worker.postMessage({ kind: "begin", settings, id: ++this.begun });
    this.say(this.going ? "It begins anew." : "All weights are 0: it plays for the largest reward.");
  }

  // Another rule begins with the rate that is usual for it.
  ruled() {
    const tc = this.rules.value === "tc";
    this.rate.value = tc ? 1 : 0.1;
    this.rateField.firstChild.textContent = tc ? "β" : "α";
    this.renew();
  }

  // ---- news of the worker

  news({ id, actions, games, mean, seconds }) {
    if (id !== this.begun) return; // of weights that are forgotten
    const curve = this.curves.at(-1);
    const shown = { actions: brief(actions), games: points(games), "mean score": games ? points(mean) : "–",
      "actions/s": seconds ? brief(Math.round(actions / seconds / 1000) * 1000) : "–" };
    Object.entries(shown).forEach(([name, text]) => (this.numbers[name].textContent = text));
    this.root.dataset.actions = actions;
    if (games && curve.news++ % curve.every === 0) {
      curve.x.push(actions);
      curve.y.push(mean);
    }
    if (curve.x.length > MOST_POINTS) {
      const second = (_, i) => i % 2 === 0;
      Object.assign(curve, { x: curve.x.filter(second), y: curve.y.filter(second), every: 2 * curve.every });
    }
    this.draw();
  }

  draw() {
    const { curves } = this;
    const names = curves.map(({ name }) => name);
    const looks = curves.map((_, n) => ({ line: n % 4, alpha: n === curves.length - 1 ? 1 : FADED }));
    const columns = together(curves.map(({ x, y }) => (x.length ? [x, y] : [[0], [null]])));
    if (this.chart.names.join() === names.join()) this.chart.show(columns);
    else this.chart.become({ names, looks }, columns);
  }

  // An action of the game that is played by the weights of now.
  turn({ before, action, cells, cell, score, over }) {
    if (action < 0) this.board.show(cells);
    else this.board.slide(before, { cells, cell, travels: WHOLE.slide(before, action).travels });
    const where = over ? "over" : ACTIONS[action];
    this.caption.textContent = `A game by the weights of now: ${points(score)} points, ${where}.`;
  }

  say(words, trouble = false) {
    this.message.classList.toggle("lib-trouble", trouble);
    this.message.textContent = words;
  }
}

onPage("train-2048", "train.css", (root) => new Training(root));
