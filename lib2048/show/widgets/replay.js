// A recorded game: its boards, its curve, and ways to move along them.

import { ACTIONS } from "./game.js";
import { rulesOf } from "./games.js";
import {
  Board, Shown, button, enable, furnish, holdKeys, make, messageLine, paced, points, row, slideTime, speedSlider, FASTEST,
} from "./board.js";
import { rendering, reporting } from "./jupyter.js";
import { drawing } from "./svg.js";

const LARGE = 20; // how many errors of a game count as large
const WIDE = 1000; // the curve's own units
const HIGH = 120;
const LASTS = 30; // seconds, about, in which a whole game plays
const SLOWEST = 4; // actions a second
const STEPS = {
  arrowleft: -1, arrowright: 1, arrowdown: -1, arrowup: 1, pageup: -10, pagedown: 10,
};

class Replay {
  // boards, afterstates: texts of 16 hexadecimal digits a step; actions: 0..3, or null at the end;
  // rewards, scores, values, words: numbers, null for no value; afterwords: of the afterstates, 0
  // without a 65536; game: its `Rules`; moved: hears of every new position.
  constructor(root, { boards, afterstates, afterwords = [], position = 0, moved = () => {}, ...record }) {
    const { actions, rewards, scores, values, words, game } = record;
    Object.assign(this, { root, actions, rewards, scores, values, words, game, moved, playing: null });
    [this.boards, this.afterstates] = [[boards, words], [afterstates, afterwords]].map(([text, words]) =>
      text.match(/.{16}/g).map((digits, n) => game.fromHex(digits, words[n])));
    this.last = actions.length - 1;
    this.taken = actions.filter((action) => action !== null).length;
    const known = values.every((value) => value !== null);
    this.expected = known ? values.map((value, i) => value + this.scores[i]) : null;
    this.large = largeErrors(this.expected ?? []);
    this.build();
    holdKeys(root, (key, event) => this.pressed(key, event));
    this.go(position, false);
  }

  build() {
    this.board = new Board("board", this.game);
    this.after = new Board("afterstate", this.game);
    this.coming = new Shown(this.game);
    this.captions = [make("figcaption"), make("figcaption")];
    const figure = (board, caption) => make("figure", board.element, caption);
    const pair = make("div.lib-pair", figure(this.board, this.captions[0]),
      figure(this.after, this.captions[1]));
    this.message = messageLine();
    const keys = "Left and Right step · Page Up and Page Down ten · Home · End · Space plays" +
      (this.expected ? " · E next large error" : "");
    furnish(this.root, { name: "A recorded game", keys }, this.coming.element, pair, this.track(), this.controls(),
      this.message);
  }

  // ---- the curve

  track() {
    const [low, high] = this.range();
    const x = (i) => (this.last ? (WIDE * i) / this.last : 0);
    this.y = (value) => HIGH - 6 - ((HIGH - 12) * (value - low)) / (high - low || 1);
    const point = (value, i) => `${x(i).toFixed(1)} ${this.y(value).toFixed(1)}`;
    const path = (values) => `M${values.map(point).join("L")}`;
    const line = (name, values) => drawing("path", { class: name, d: path(values) });
    const svg = drawing("svg", {
      viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": true,
    });
    svg.append(line("lib-score", this.scores));
    if (this.expected) svg.append(line("lib-expected", this.expected));
    this.marker = make("div.lib-marker");
    const label = (value) => make("span", points(value));
    this.slider = make("div.lib-track", {
      role: "slider", tabindex: 0, "aria-label": "Position in the game",
      "aria-valuemin": 0, "aria-valuemax": this.last,
      onpointerdown: (event) => this.grab(event),
      onpointermove: (event) => event.buttons && this.pointed(event),
    }, svg, this.marker);
    const axis = make("div.lib-axis.lib-small", { "aria-hidden": "true" }, label(high), make("span", "points"), label(low));
    const lines = (this.expected ? "Solid: score + value, what the player expected in the end; " +
      "its jumps are the errors. " : "") + "Dashed: score.";
    const note = make("p.lib-small", `${lines} Click to jump.`);
    return make("div", make("div.lib-curve", axis, this.slider), note);
  }

  range() {
    const all = [0, ...this.scores, ...(this.expected ?? [])];
    return [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  }

  grab(event) {
    this.slider.setPointerCapture(event.pointerId);
    this.pointed(event);
  }

  pointed(event) {
    const { left, width } = this.slider.getBoundingClientRect();
    this.pause();
    this.go(Math.round((this.last * (event.clientX - left)) / width));
  }

  // ---- the controls

  controls() {
    const step = (by) => () => this.step(by);
    this.back = button("◀", "One action back", step(-1));
    this.ahead = button("▶", "One action on", step(1));
    this.playButton = button("Play", "Play the game", () => this.toggle(), { "aria-pressed": "false" });
    this.number = make("input", {
      type: "number", min: 1, max: this.last + 1, "aria-label": "Number of the action",
      onchange: () => this.typed(),
    });
    const rate = Math.max(SLOWEST, Math.round(this.taken / LASTS));
    this.speed = speedSlider(rate, () => {}, { fastest: Math.max(FASTEST, rate) });
    const next = button("Next large error", "Where the curve jumps most", () => this.error());
    return row(this.back, this.ahead, this.playButton, this.speed.element,
      make("label", "action", this.number), ...(this.expected ? [next] : []));
  }

  pressed(key, event) {
    const by = STEPS[key] ?? { home: -this.last, end: this.last }[key];
    if (by !== undefined) this.step(by);
    else if (key === " ") this.toggle();
    else if (key === "e" && this.expected) this.error();
    else return false;
    return true;
  }

  typed() {
    const asked = Number(this.number.value);
    const fits = Number.isInteger(asked) && asked >= 1 && asked <= this.last + 1;
    if (fits) this.go(asked - 1);
    else this.say(`There is no action ${this.number.value}: type 1 to ${this.last + 1}.`);
  }

  step(by) {
    this.pause();
    this.go(this.position + by);
  }

  // Go to the next of the large errors, and after the last of them to the first.
  error() {
    this.pause();
    this.go(this.large.find((i) => i > this.position) ?? this.large[0] ?? 0);
  }

  // ---- where we are

  go(position, tell = true) {
    const before = this.position;
    this.position = Math.max(0, Math.min(this.last, position));
    const [cells, after] = [this.boards, this.afterstates].map((all) => all[this.position]);
    this.board.show(cells);
    this.after.show(after);
    this.coming.show(this.words[this.position]);
    if (before === this.position - 1) this.animate(before, cells);
    this.mark();
    this.caption();
    this.say(this.line());
    if (tell && before !== this.position) this.moved(this.position);
  }

  // Show the action that led here, where the rules know how its tiles travelled.
  animate(before, cells) {
    const action = this.actions[before];
    const start = this.boards[before];
    const turn = this.game.between(start, action, cells);
    if (turn) this.board.slide(start, turn, slideTime(this.playing ? this.speed.rate() : 1));
  }

  mark() {
    const curve = this.expected ?? this.scores;
    this.marker.style.left = `${this.last ? (100 * this.position) / this.last : 0}%`;
    this.marker.style.setProperty("--height", `${this.y(curve[this.position])}px`);
    this.slider.setAttribute("aria-valuenow", this.position);
    this.slider.setAttribute("aria-valuetext", this.line());
    this.number.value = this.position + 1;
    this.root.dataset.position = this.position;
    enable(this.back, this.position > 0);
    enable(this.ahead, this.position < this.last);
  }

  caption() {
    const [action, reward] = [this.actions, this.rewards].map((list) => list[this.position]);
    const value = this.values[this.position];
    this.board.point(action);
    this.after.element.parentNode.hidden = action === null;
    const [end, said] = ["the end: no action is legal", `${ACTIONS[action]}, +${points(reward)}`];
    this.captions[0].textContent = action === null ? end : `board; ${said}`;
    const worth = value === null ? "" : `, value ${points(value)}`;
    this.captions[1].textContent = `afterstate${worth}`;
  }

  line() {
    const [i, value] = [this.position, this.values[this.position]];
    const [here, all] = [points(i + 1), points(this.taken)];
    const name = this.actions[i] === null ? `the end after ${all} actions` : `action ${here} of ${all}`;
    const text = `${name} · score ${points(this.scores[i])}`;
    if (!this.expected) return value === null ? text : `${text} · value ${points(value)}`;
    const together = `${text} · value ${points(value)} · together ${points(this.expected[i])}`;
    return i ? `${together} · error ${signed(this.expected[i] - this.expected[i - 1])}` : together;
  }

  say(words) {
    this.message.textContent = words;
  }

  // ---- playing

  toggle() {
    if (this.playing) return this.pause();
    if (this.position === this.last) this.go(0);
    this.playing = paced(this.speed.rate, (due) => this.play(due));
    this.playButton.textContent = "Pause";
    this.playButton.setAttribute("aria-pressed", "true");
    this.message.setAttribute("aria-live", "off");
  }

  play(due) {
    if (due) this.go(this.position + due);
    if (this.position === this.last) this.pause();
    return due;
  }

  pause() {
    if (!this.playing) return;
    this.playing();
    this.playing = null;
    this.playButton.textContent = "Play";
    this.playButton.setAttribute("aria-pressed", "false");
    this.message.setAttribute("aria-live", "polite");
  }

  close() {
    this.pause();
  }
}

// Where the curve of score + value jumps most: the TD errors of the game, the largest of them.
function largeErrors(expected) {
  const errors = expected.map((value, i) => [i ? Math.abs(value - expected[i - 1]) : 0, i]);
  const largest = errors.filter(([error]) => error > 0).sort(([a], [b]) => b - a).slice(0, LARGE);
  return largest.map(([, i]) => i).sort((a, b) => a - b);
}

const signed = (number) => (number > 0 ? "+" : "") + points(number);

function begin(root, model, send) {
  const moved = reporting(model, send, (position) => view.go(position, false));
  const { game, ...record } = model.get("record");
  const view = new Replay(root, { ...record, game: rulesOf(game), position: model.get("position"), moved });
  return view;
}

export default { render: rendering(begin) };
