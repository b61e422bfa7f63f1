// A guess that is drawn before the result is shown: a dot on an axis, or a line over one.  The truth
// comes from the kernel and is drawn over it.

import {
  button, enable, furnish, holdKeys, make, messageLine, points, putWords, row,
} from "../../show/widgets/board.js";
import { drawing } from "../../show/widgets/svg.js";
import { AGAIN, rendering, tell } from "../../show/widgets/jupyter.js";

const KNOTS = 11; // of a line
const [LEFT, RIGHT, TOP, BELOW] = [62, 18, 26, 40]; // pixels around the axes
const [TALL, FLAT] = [200, 30]; // the axes of a line, and of a dot
const TICKS = 5;
const FINE = 100; // steps of an axis by keys

// The round number next to a step: 1, 2 or 5 times a power of ten.
function round(step) {
  const ten = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= step * 0.999);
}

const digits = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));

class Guess {
  // about: {name, axis, over}, as `Guess` of guess.py has them; state: what was said and what was so.
  constructor(root, { about: { name, axis, over }, state, send }) {
    Object.assign(this, { name, axis, over, send, at: KNOTS - 1, lost: "" });
    this.step = round((axis.high - axis.low) / FINE);
    this.place = drawing("svg", { class: "lib-guess", tabindex: 0, role: "slider" });
    this.done = button("That is my guess", "Keep this guess", () => this.say());
    this.message = messageLine();
    const how = over ? "Left and Right choose a place of the line · Up and Down move it · Enter keeps it"
      : "Left and Right move the dot, with Shift by ten steps · Enter keeps it";
    const title = axis.title || `your guess ${name}`;
    furnish(root, { name: `A guess of ${title}`, keys: how }, make("p.lib-small", title), this.place,
      row(this.done), this.message);
    this.keys = root.lastChild;
    holdKeys(root, (key, event) => this.pressed(key, event.shiftKey));
    root.removeAttribute("tabindex");
    this.place.onpointerdown = (event) => this.held(event);
    this.place.onpointermove = (event) => event.buttons && this.moved(event);
    this.sized = new ResizeObserver(() => this.draw());
    this.sized.observe(this.place.parentElement);
    this.adopt(state);
  }

  // Take what the kernel says: a guess that was kept, the truth.
  adopt(state) {
    const { value, curve, truth, said } = state;
    this.truth = truth;
    this.value = typeof value === "number" ? value : null;
    this.knots = Array(KNOTS).fill(null);
    if (this.over && curve) this.knots = this.knots.map((_, n) => along(curve, this.x(n)));
    else if (this.over && this.value !== null) this.knots[KNOTS - 1] = this.value;
    this.kept = this.value !== null;
    const unit = ` ${this.axis.unit}`;
    const shown = this.over ? truth?.at(-1)?.[1] : truth;
    if (this.known) this.tell(`You said ${this.write(this.value)}${unit}; it was ` +
      `${this.write(shown)}${unit}.`);
    else if (this.settled) this.tell("The result is there already. Guess before you look: once you have, it is drawn here.");
    else this.tell(said || (this.kept ? `You said ${this.write(this.value)}${unit}.` : ""));
    this.draw();
  }

  // Whether the result is there; it is shown to those who have guessed.
  get settled() {
    return this.truth !== null && this.truth !== undefined;
  }

  get known() {
    return this.settled && this.kept;
  }

  // The place below the n-th knot.
  x(n) {
    return this.over.low + (n * (this.over.high - this.over.low)) / (KNOTS - 1);
  }

  // ---- drawing it

  held(event) {
    this.place.setPointerCapture(event.pointerId);
    this.last = null;
    this.moved(event);
  }

  moved(event) {
    if (this.known) return;
    const { left, top } = this.place.getBoundingClientRect();
    const across = (event.clientX - left - LEFT) / this.wide;
    const up = 1 - (event.clientY - top - TOP) / this.tall;
    if (!this.over) return this.put(this.number(across));
    const n = Math.max(0, Math.min(KNOTS - 1, Math.round(across * (KNOTS - 1))));
    const y = this.number(up);
    const [from, was] = this.last ?? [n, y];
    for (let k = Math.min(from, n); k <= Math.max(from, n); k++) // what a quick finger leaps over
      this.knots[k] = n === from ? y : this.snap(was + ((y - was) * (k - from)) / (n - from));
    this.last = [n, y];
    this.at = n;
    this.put(this.end);
  }

  // The number at a share of the axis.
  number(share) {
    const { low, high } = this.axis;
    return this.snap(low + Math.max(0, Math.min(1, share)) * (high - low));
  }

  snap(number) {
    return Number((Math.round(number / this.step) * this.step).toFixed(digits(this.step)));
  }

  // Where the line ends: as high as its last knot that was drawn.
  get end() {
    return this.knots.findLast((y) => y !== null) ?? null;
  }

  put(value) {
    Object.assign(this, { value, kept: false });
    this.tell("");
    this.draw();
  }

  pressed(key, shift) {
    if (this.known) return false;
    if (key === "enter") return this.say() ?? true;
    const sideways = { arrowleft: -1, arrowright: 1 }[key];
    const upwards = { arrowdown: -1, arrowup: 1 }[key];
    const by = (sideways ?? upwards) * this.step * (shift ? 10 : 1);
    if (!by) return false;
    if (!this.over) this.put(this.within((this.value ?? this.middle) + by));
    else if (sideways) this.at = Math.max(0, Math.min(KNOTS - 1, this.at + sideways));
    else this.lift(by);
    this.draw();
    return true;
  }

  lift(by) {
    this.knots[this.at] = this.within((this.knots[this.at] ?? this.end ?? this.middle) + by);
    this.put(this.end);
  }

  get middle() {
    return this.number(0.5);
  }

  within(number) {
    return this.snap(Math.max(this.axis.low, Math.min(this.axis.high, number)));
  }

  // The line that is drawn: straight between its knots, level before the first and behind the last.
  get line() {
    const drawn = this.knots.map((y, n) => [this.x(n), y]).filter(([, y]) => y !== null);
    return drawn.length ? this.knots.map((_, n) => [this.x(n), along(drawn, this.x(n))]) : [];
  }

  say() {
    if (this.value === null || this.known) return;
    if (this.lost) return this.tell(this.lost, true);
    const curve = this.over ? this.line : null;
    tell(this.send, { kind: "guess", value: this.value, curve }, () => this.lose());
  }

  // ---- what is on the page

  draw() {
    const width = this.place.clientWidth || 600;
    this.wide = width - LEFT - RIGHT;
    this.tall = this.over ? TALL : FLAT;
    const height = this.tall + TOP + BELOW;
    this.place.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.place.style.height = `${height}px`;
    this.place.dataset.known = this.known;
    this.place.replaceChildren(...(this.over ? this.plane() : this.ray()));
    this.place.setAttribute("aria-label", `Your guess ${this.name}: ${this.axis.title || this.axis.unit}`);
    const { low, high, unit } = this.axis;
    const told = this.over ? this.knots[this.at] : this.value;
    const where = this.over ? ` at ${this.writeX(this.x(this.at))} ${this.over.unit}` : "";
    const named = { valuemin: low, valuemax: high, valuenow: told ?? low,
      valuetext: told === null ? `nothing yet${where}` : `${this.write(told)} ${unit}${where}` };
    Object.entries(named).forEach(([key, value]) => this.place.setAttribute(`aria-${key}`, value));
    this.done.hidden = this.known;
    this.keys.hidden = this.kept;
    this.done.textContent = this.kept ? "✓ Your guess is kept" : "That is my guess";
    enable(this.done, this.value !== null && !this.kept);
  }

  write(number) {
    return points(number, digits(this.step));
  }

  writeX(number) {
    const step = round((this.over.high - this.over.low) / TICKS);
    return points(number, digits(step));
  }

  // Pixels of a share of the axes.
  across(number, { low, high }) {
    return LEFT + this.wide * Math.max(0, Math.min(1, (number - low) / (high - low)));
  }

  up(number) {
    const { low, high } = this.axis;
    return TOP + this.tall * (1 - Math.max(0, Math.min(1, (number - low) / (high - low))));
  }

  ticks({ low, high }, count = TICKS) {
    const step = round((high - low) / count);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, n) => (first + n) * step)
      .map((x) => [x, points(x, digits(step))]);
  }

  // The axis below, with its numbers and its unit.
  below(axis) {
    const foot = TOP + this.tall;
    const end = LEFT + this.wide;
    return [
      drawing("path", { class: "lib-scale", d: `M${LEFT} ${foot}H${end}` }),
      ...this.ticks(axis, this.wide < 300 ? 3 : TICKS).flatMap(([x, text]) => {
        const at = this.across(x, axis);
        const last = at > end - RIGHT; // its number would not fit behind the axis
        return [drawing("path", { class: "lib-scale", d: `M${at} ${foot}v5` }),
          drawing("text", { x: last ? end + RIGHT : at, y: foot + 18,
            "text-anchor": last ? "end" : "middle" }, text)];
      }),
      drawing("text", { x: LEFT + this.wide / 2, y: foot + 34, "text-anchor": "middle" }, axis.unit),
    ];
  }

  asks(words) {
    return this.value === null && !this.known ? [drawing("text", { class: "lib-asking",
      x: LEFT + this.wide / 2, y: TOP + this.tall / 2 }, words)] : [];
  }

  // One number: a dot on its axis.
  ray() {
    const foot = TOP + this.tall;
    const dot = (number, kind, words, y) => {
      const at = this.across(number, this.axis);
      const anchor = at < 110 ? "start" : at > this.wide ? "end" : "middle";
      return [drawing("path", { class: `lib-${kind}`, d: `M${at} ${foot}V${y + 6}` }),
        drawing("circle", { class: `lib-${kind}`, cx: at, cy: foot, r: 8 }),
        drawing("text", { class: `lib-${kind}`, x: at, y, "text-anchor": anchor }, words)];
    };
    const { unit } = this.axis;
    return [...this.below(this.axis), ...this.asks("drag along the axis"),
      ...(this.value === null ? [] : dot(this.value, "guessed", `your guess ${this.write(this.value)} ${unit}`, 14)),
      ...(this.known ? dot(this.truth, "true", `it was ${this.write(this.truth)} ${unit}`, 34) : [])];
  }

  // A line over an axis.
  plane() {
    const over = this.known
      ? { ...this.over, high: Math.max(this.over.high, this.truth.at(-1)?.[0] ?? 0) } : this.over;
    const grid = this.ticks(this.axis).flatMap(([y, text]) => {
      const at = this.up(y);
      return [drawing("path", { class: "lib-level", d: `M${LEFT} ${at}h${this.wide}` }),
        drawing("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, text)];
    });
    const line = (line, kind) => drawing("path", { class: `lib-${kind}`,
      d: `M${line.map(([x, y]) => `${this.across(x, over)} ${this.up(y)}`).join("L")}` });
    const name = (line, kind, words, below) => {
      const [x, y] = line.at(-1);
      return drawing("text", { class: `lib-${kind}`, x: this.across(x, over) - 4, "text-anchor": "end",
        y: Math.max(12, Math.min(TOP + this.tall - 4, this.up(y) + (below ? 18 : -8))) }, words);
    };
    const mine = this.line;
    const parts = [...grid, ...this.below(over), ...this.asks("draw how it will go")];
    parts.push(drawing("text", { x: LEFT, y: 14 }, this.axis.unit));
    const lower = this.known && mine.length && mine.at(-1)[1] < this.truth.at(-1)?.[1];
    if (mine.length) {
      parts.push(line(mine, "guessed"), name(mine, "guessed", `your guess ${this.write(this.end)}`, lower));
      if (!this.known) parts.push(drawing("circle", { class: "lib-guessed", r: 7,
        cx: this.across(this.x(this.at), over), cy: this.up(along(mine, this.x(this.at))) }));
    }
    if (this.known && this.truth.length) parts.push(line(this.truth, "true"),
      name(this.truth, "true", `it was ${this.write(this.truth.at(-1)[1])}`, mine.length && !lower));
    return parts;
  }

  // ---- the kernel

  hear({ kind, error, details }) {
    if (kind === "trouble") this.tell(error, true, details);
  }

  lose() {
    this.lost = `The kernel has ended or was restarted. To guess here, ${AGAIN}.`;
    this.tell(this.lost, true);
  }

  tell(words, bad = false, details = "") {
    putWords(this.message, words, bad, details);
  }

  close() {
    this.sized.disconnect();
  }
}

// The y of a line at an x, level outside of it.
function along(line, x) {
  const after = line.findIndex(([there]) => there >= x);
  if (after <= 0) return line.at(after)?.[1] ?? null;
  const [[x0, y0], [x1, y1]] = [line[after - 1], line[after]];
  return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

const begin = (root, model, send) => {
  const view = new Guess(root, { about: model.get("about"), state: model.get("state"), send });
  model.on("change:state", () => view.adopt(model.get("state")));
  return view;
};

export default { render: rendering(begin) };
