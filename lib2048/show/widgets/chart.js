// Curves on a page, drawn by uPlot (vendor/uPlot.iife.min.js): lines over one x in the colours of
// the page's theme, numbers under the pointer, zoom and pan by mouse and by keyboard.

import { make, points } from "./board.js";

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]]; // as in drawing.py: lines differ without colour
const TALL = 170; // pixels
const MOVES = ["mousemove", "mouseleave"]; // what charts of a group tell each other
const THEME = { attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"] };

// A number as an axis has it: 2 500, 35 k, 12.5 M.
export function brief(number) {
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (Math.abs(number) < size) continue;
    const unit = letter === "k" ? 1e3 : size;
    return `${Number((number / unit).toPrecision(4))} ${letter}`;
  }
  return points(number, Number.isInteger(number) || Math.abs(number) >= 100 ? 0 : 2);
}

export class Chart {
  // title: what y is, in words; names: of the lines; write, tick: a number of y as text, here and at
  // the axis; most: the largest that y can be; group: charts of one group share their pointer; said:
  // takes words for readers who do not see the chart; zoomed: hears what part of x is shown.
  constructor({ title, names, group, said, zoomed = () => {}, write = brief, tick = brief,
    most = null, x = "actions" }) {
    Object.assign(this, { title, names, group, said, zoomed, write, tick, most, x, part: null });
    this.columns = [[], ...names.map(() => [])];
    this.heading = make("p", { class: "lib-small" }, title);
    this.whole = make("button", { type: "button", class: "lib-whole", hidden: "",
      onclick: () => this.zoom(null) }, "Whole curve");
    this.place = make("div", { class: "lib-plot", role: "img", tabindex: 0 });
    this.element = make("div", { class: "lib-chart" },
      make("div", { class: "lib-row" }, this.heading, this.whole), this.place);
    this.describe();
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(this.place);
    this.themed = new MutationObserver(() => this.draw());
    [document.body, document.documentElement].forEach((e) => this.themed.observe(e, THEME));
  }

  // Show other numbers: [x, y of the first line, y of the second, …], null where there is none.
  show(columns) {
    this.columns = columns;
    if (this.plot) this.refresh();
    else this.draw();
    this.describe();
  }

  rename(title) {
    this.title = this.heading.textContent = title;
    this.describe();
  }

  describe() {
    const last = this.names.map((name, n) => `${name} ${this.text(this.columns[n + 1].findLast(
      (y) => y !== null && y !== undefined))}`);
    this.place.setAttribute("aria-label", `${this.title}: ${last.join(", ")}. ` +
      "Left and Right read the curve, plus and minus zoom, Shift with Left and Right moves on, " +
      "0 shows all of it.");
  }

  text(y) {
    return y === null || y === undefined ? "–" : this.write(y);
  }

  // ---- drawing

  draw() {
    this.plot?.destroy();
    this.plot = null;
    const width = this.place.clientWidth;
    if (width < 60) return; // not on the page yet
    this.plot = new uPlot({ ...this.options(), width, height: TALL }, this.columns, this.place);
  }

  // Take new numbers; without a pointer over it the legend says the last of them.
  refresh() {
    this.plot.setData(this.columns);
    if (this.plot.cursor.left < 0) this.plot.setLegend({ idx: null }, false);
  }

  fit() {
    const width = this.place.clientWidth;
    if (!this.plot) this.draw();
    else if (width >= 60 && width !== this.plot.width) this.plot.setSize({ width, height: TALL });
  }

  options() {
    const looks = getComputedStyle(this.element);
    const own = (name) => looks.getPropertyValue(name).trim();
    const edge = { stroke: own("--edge") || "#8886", width: 1 };
    const axis = { stroke: looks.color, font: `12px ${looks.fontFamily}`, grid: edge, ticks: edge };
    const values = (_, ticks) => ticks.map((x) => brief(x));
    const line = (label, n) => ({
      label, stroke: own(`--line-${n}`), width: 2, dash: DASHES[n], spanGaps: true,
      points: { show: false }, value: (plot, y) => this.text(y ?? this.last(n)),
    });
    const x = { label: this.x, value: (_, at) => brief(at ?? this.columns[0].at(-1) ?? 0) };
    return {
      scales: {
        x: { time: false, range: (_, low, high) => this.part ?? whole(low, high) },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), this.high(high)] },
      },
      axes: [
        { ...axis, values, space: 60, size: 28 },
        { ...axis, values: (_, ticks) => ticks.map((y) => this.tick(y)), space: 32, size: 58 },
      ],
      series: [x, ...this.names.map(line)],
      cursor: {
        sync: { key: this.group, filters: { pub: (event) => MOVES.includes(event) } }, drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.zoom(null) },
        dataIdx: (plot, n, at) => nearest(this.columns[n], at),
      },
      hooks: { setSelect: [(plot) => this.selected(plot)] },
    };
  }

  high(most) {
    const above = (most > 0 ? most : 1) * 1.08;
    return this.most === null ? above : Math.min(this.most, above);
  }

  last(n) {
    return this.columns[n + 1].findLast((y) => y !== null && y !== undefined);
  }

  // ---- zoom and pan

  selected(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    plot.setSelect({ width: 0, height: 0 }, false);
    this.zoom([left, left + width].map((pixel) => plot.posToVal(pixel, "x")));
  }

  // Show a part of the curve: [from, to] of x, or null for all of it, as it grows.
  zoom(part) {
    this.adopt(part);
    this.zoomed(part);
  }

  adopt(part) {
    this.part = part;
    if (part === null && document.activeElement === this.whole) this.place.focus();
    this.whole.hidden = part === null;
    if (this.plot) this.refresh();
  }

  // Use a key: say whether it was one of the chart's.
  pressed(key, shift) {
    const step = { arrowleft: -1, arrowright: 1 }[key];
    const { min, max } = this.plot?.scales.x ?? {};
    if (key === "0") this.zoom(null);
    else if (min === undefined || min === null) return false;
    else if (step && shift) this.move((step * (max - min)) / 4, min, max);
    else if (step) this.read(step);
    else if (key === "+" || key === "=") this.closer(0.25, min, max);
    else if (key === "-") this.closer(-0.5, min, max);
    else return false;
    return true;
  }

  move(by, min, max) {
    const [first, last] = [this.columns[0][0], this.columns[0].at(-1)];
    const fits = Math.max(first - min, Math.min(last - max, by));
    this.zoom([min + fits, max + fits]);
  }

  closer(share, min, max) {
    const by = share * (max - min);
    const [first, last] = [this.columns[0][0], this.columns[0].at(-1)];
    const part = [Math.max(first, min + by), Math.min(last, max - by)];
    this.zoom(part[0] <= first && part[1] >= last ? null : part);
  }

  // Go to the next point that is shown, and say its numbers.
  read(step) {
    const { min, max } = this.plot.scales.x;
    const shown = this.columns[0].map((_, i) => i).filter((i) => {
      const x = this.columns[0][i];
      return x >= min && x <= max;
    });
    if (!shown.length) return;
    const at = shown.indexOf(this.at ?? -1);
    const next = at < 0 ? (step < 0 ? shown.length - 1 : 0) : at + step;
    this.at = shown[Math.max(0, Math.min(shown.length - 1, next))];
    const x = this.columns[0][this.at];
    this.plot.setCursor({ left: this.plot.valToPos(x, "x"), top: 10 });
    const numbers = this.names.map((name, n) => `${name} ` +
      this.text(this.columns[n + 1][nearest(this.columns[n + 1], this.at)]));
    this.said(`${this.title} at ${brief(x)} ${this.x}: ${numbers.join(", ")}.`);
  }

  close() {
    this.sized.disconnect();
    this.themed.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }
}

// What of x is shown where nothing else was asked for; a single point has the way to it.
const whole = (low, high) => (low < high ? [low, high] : [0, high || 1]);

// The index of the number nearest to place `at` of a column with gaps.
function nearest(column, at) {
  const there = (i) => column[i] !== null && column[i] !== undefined;
  for (let by = 0; by < column.length; by++) {
    if (there(at - by)) return at - by;
    if (there(at + by)) return at + by;
  }
  return at;
}

// Lines of their own x each, as the columns of one chart: [[xs, ys], …] → [xs, ys, ys, …].
export const together = (lines) => (lines.length === 1 ? lines[0] : uPlot.join(lines));
