// Curves on a page, drawn by uPlot (vendor/uPlot.iife.min.js): lines over one x in the colours of
// the page's theme, each named at its end, numbers at a crosshair, zoom and pan by mouse and keyboard.

import "./vendor/uPlot.iife.min.js";

import { make, points, row } from "./board.js";

const ELSEWHERE = 0.05; // of an x, from which on a number says at which x it was
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]]; // as in draw.py: lines differ without colour
const LINEAR = [(x) => x, (x) => x];
const LOGARITHMIC = [Math.log10, (x) => 10 ** x];
const TALL = 170; // pixels
const LARGE = [0.42, 260, 440]; // of the width, but so many pixels at least and at most
const NAMES = [0.3, 180]; // of the width, but so many pixels at most, for names at the ends of lines
const PALE = 0.1; // how much of the colour of letters the grid has
const APART = 7; // pixels between a line's end, or the crosshair, and what stands beside it
const MOVES = ["mousemove", "mouseleave"]; // what charts of a group tell each other
const LETTERS = 12; // pixels, the size of what stands in a chart
const ROWS = 3; // of marks' words
const THEME = { attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"] };

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// A number as an axis has it: 2 500, 35 k, 12.5 M, 4·10⁹.
export function brief(number) {
  if (Math.abs(number) >= 1e9) {
    const [mantissa, power] = number.toExponential(3).split("e+");
    const raised = [...power].map((digit) => RAISED[digit]).join("");
    return Number(mantissa) === 1 ? `10${raised}` : `${Number(mantissa)}·10${raised}`;
  }
  for (const [size, letter] of [[1e6, "M"], [1e4, "k"]]) {
    if (Math.abs(number) < size) continue;
    const unit = letter === "k" ? 1e3 : size;
    return `${Number((number / unit).toPrecision(4))} ${letter}`;
  }
  return points(number, Number.isInteger(number) || Math.abs(number) >= 100 ? 0 : 2);
}

// The same at an axis with small steps: with the digits that the step has, 0.5, 1.0, 1.5.
function stepped(number, step) {
  const digits = String(Number(step.toFixed(9))).split(".")[1]?.length ?? 0;
  return digits && Math.abs(number) < 1e4 ? points(number, digits) : brief(number);
}

export class Chart {
  // title: what y is, in words; names: of the lines; write, tick: a number of y as text, here and at
  // the axis (told its step, too); most: the largest that y can be; least: how far its axis reaches at
  // the least; empty: words in the place of axes that have nothing to show yet; group: charts of one group share their pointer; said:
  // takes words for readers who do not see the chart; zoomed: hears what part of x is shown.
  // looks: of the lines, in their order, {line: which colour and dash, width, alpha, dots: their size,
  // alone: dots without a line, bars: instead of one, silent: not among the numbers}; bands: [[upper, lower]] columns.
  // log, steep: whether the axis of x, of y is logarithmic.  large: whether it is all that is to be
  // seen; tall: pixels, where it is not; picked: takes the place of the columns that a click or Enter
  // chooses, and how much of x a pixel is.  where: an x in words.
  // A look may have an `end`: what stands at the end of its line in place of its name.
  constructor({ title, names, group, said, zoomed = () => {}, write = brief, tick = stepped,
    most = null, least = 0, empty = "nothing yet", x = "actions", log = false, steep = false, looks = null,
    bands = [], large = false, tall = TALL, picked = null, where = (x) => `${brief(x)} ${this.x}` }) {
    Object.assign(this, { title, names, group, said, zoomed, write, tick, most, x, part: null });
    Object.assign(this, { least, empty, log, steep, bands, large, height: tall, picked, where,
      looks: looks ?? names.map((_, n) => ({ line: n })) });
    this.marks = [];
    this.columns = [[], ...names.map(() => [])];
    this.heading = make("p.lib-small", title);
    this.whole = make("button.lib-whole", { type: "button", hidden: "",
      onclick: () => this.zoom(null) }, "Whole curve");
    this.place = make("div.lib-plot", { role: "img", tabindex: 0, onblur: () => this.leave() });
    this.ends = make("div.lib-ends", { "aria-hidden": "true" });
    this.tip = make("div.lib-tip", { hidden: "", "aria-hidden": "true" });
    this.element = make("div.lib-chart", row(this.heading, this.whole), this.place);
    this.describe();
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(this.place);
    this.themed = new MutationObserver(() => this.draw());
    [document.body, document.documentElement].forEach((e) => this.themed.observe(e, THEME));
  }

  // Show other numbers: [x, y of the first line, y of the second, …], null where there is none.
  show(columns) {
    this.columns = columns;
    if (this.plot && this.filled) this.refresh();
    else this.draw();
    this.describe();
  }

  // Whether there is any number to show.
  get filled() {
    return this.columns.slice(1).some((column) => column.some((y) => y !== null && y !== undefined));
  }

  // Show other lines; a part of x that is shown stays.
  become(lines, columns) {
    Object.assign(this, lines, { columns, at: null });
    this.heading.textContent = this.title;
    this.draw();
    this.describe();
  }

  // Mark places of x, with the next numbers: [{x, line: whose colour, text: words
  // beside it, or none, solid: whether its line is, y: where the words stand instead of a line}].
  mark(marks) {
    this.marks = marks;
  }

  rename(title) {
    this.title = this.heading.textContent = title;
    this.describe();
  }

  describe() {
    const last = this.heard((n) => this.worth(n));
    const whose = (line) => (last.length > 1 ? `${this.names[line]}: ` : "");
    const marks = this.marks.filter(({ text, y }) => text && y === undefined).map(({ x, line, text }) =>
      `${whose(line)}${text} from ${brief(x)} on. `);
    this.place.setAttribute("aria-label", `${this.title}: ${last.join(", ")}. ${marks.join("")}` +
      "Left and Right read the curve, plus and minus zoom, Shift with Left and Right moves on, " +
      `0 shows all of it${this.picked ? ", Enter goes to what is read" : ""}.`);
  }

  // The numbers of the lines that are not silent, in words; worth: what is said of the n-th.
  heard(worth) {
    return this.names.map((name, n) => [name, n]).filter(([, n]) => !this.looks[n].silent)
      .map(([name, n]) => `${name} ${worth(n)}`);
  }

  // The number of the n-th line nearest to a place of the columns, by default their end; one that
  // lies elsewhere says where.
  worth(n, at = this.columns[0].length - 1) {
    const [x, y] = [this.columns[0], this.columns[n + 1]];
    const near = nearest(y, at);
    if (!there(y[near])) return "–";
    const apart = Math.abs(x[near] - x[at]) > ELSEWHERE * Math.abs(x[at]);
    return this.write(y[near]) + (apart ? ` at ${brief(x[near])}` : "");
  }

  // ---- drawing

  draw() {
    this.plot?.destroy();
    this.plot = null;
    const width = this.place.clientWidth;
    this.place.dataset.empty = this.filled ? "" : this.empty;
    this.place.style.minHeight = `${this.tall}px`;
    if (width < 60 || !this.filled) return; // not on the page yet, or nothing to show
    this.plot = new uPlot({ ...this.options(), width, height: this.tall }, this.columns, this.place);
    this.plot.over.append(this.ends, this.tip);
    if (this.picked) this.hearClicks(this.plot.over);
  }

  get tall() {
    const [share, least, most] = LARGE;
    return this.large ? Math.max(least, Math.min(most, share * this.place.clientWidth)) : this.height;
  }

  refresh() {
    this.plot.setData(this.columns);
  }

  fit() {
    const width = this.place.clientWidth;
    if (!this.plot) this.draw();
    else if (width >= 60 && width !== this.plot.width) this.draw();
  }

  options() {
    const looks = getComputedStyle(this.element);
    const own = (name) => looks.getPropertyValue(name).trim();
    const [red, green, blue] = looks.color.match(/[\d.]+/g);
    const edge = { stroke: `rgb(${red} ${green} ${blue} / ${PALE})`, width: 1 };
    const font = `${LETTERS}px ${looks.fontFamily}`;
    const axis = { stroke: looks.color, font, labelFont: font, grid: edge, ticks: { ...edge, size: 4 } };
    const values = (_, ticks) => named(ticks, this.log).map((x) => (x === null ? null : brief(x)));
    const steep = this.steep && { splits: (_, n, low, high) => tensOf(low, high), filter: (_, all) => all };
    const tens = this.log && { splits: (_, n, low, high) => tensOf(low, high), filter: (_, all) => all };
    const line = (label, n) => {
      const { line, width = 2, alpha = 1, dots, alone, bars } = this.looks[n];
      const stroke = own(`--line-${line}`);
      return {
        label, stroke, width, alpha, spanGaps: true, ...(alone && { paths: () => null }),
        dash: DASHES[line % DASHES.length].map((length) => length * devicePixelRatio),
        ...(bars && { paths: uPlot.paths.bars({ size: [0.8, 12, 1] }), fill: stroke, width: 1, dash: [] }),
        points: { show: Boolean(dots), size: dots, width: 2, stroke, fill: alone ? back : stroke },
      };
    };
    const back = own("--back") || "white";
    const band = (series) => ({ series, fill: `${own(`--line-${this.looks[series[0] - 1].line}`)}33` });
    return {
      legend: { show: false },
      padding: [8, this.roomForNames(font), 0, 0],
      scales: {
        x: { time: false, distr: this.log ? 3 : 1,
          range: (_, low, high) => this.part ?? whole(low, high, this.log) },
        y: { distr: this.steep ? 3 : 1, range: (_, low, high) => [this.low(low), this.high(high)] },
      },
      axes: [
        { ...axis, ...tens, values, space: 60, size: 26, label: this.x, labelSize: 18, labelGap: 0 },
        { ...axis, ...steep, values: (plot, ticks, n, room, step) => named(ticks, this.steep)
          .map((y) => (y === null ? null : this.tick(y, step))), space: 32, size: 58 },
      ],
      series: [{}, ...this.names.map(line)],
      bands: this.bands.map(band),
      cursor: {
        sync: { key: this.group, filters: { pub: (event) => MOVES.includes(event) } }, drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.zoom(null) },
        dataIdx: (plot, n, at) => nearest(this.columns[n], at), y: false,
        points: { size: (_, n) => (this.looks[n - 1].silent ? 0 : 8) },
      },
      hooks: {
        setSelect: [(plot) => this.selected(plot)], setCursor: [(plot) => this.point(plot)],
        draw: [(plot) => this.drawMarks(plot), (plot) => this.nameEnds(plot)],
      },
    };
  }

  // ---- names at the ends of lines, and numbers at the crosshair

  // The lines that have a name at their end: none where the title says which one it is.
  get named() {
    const told = [...this.names.keys()].filter((n) => !this.looks[n].silent);
    return told.length > 1 ? told : [];
  }

  endOf(n) {
    return this.looks[n].end ?? this.names[n];
  }

  // How many pixels names take at the right.
  roomForNames(font) {
    const [share, most] = NAMES;
    const context = Object.assign(make("canvas").getContext("2d"), { font: `bold ${font}` });
    const widths = this.named.map((n) => context.measureText(this.endOf(n)).width + 2);
    this.widest = Math.min(most, share * this.place.clientWidth, Math.max(0, ...widths));
    return widths.length ? this.widest + APART + 2 : 20;
  }

  // Put each name beside the end of what is shown of its line; of those that would lie over each
  // other the lower ones give way downwards, and at the foot all upwards.
  nameEnds(plot) {
    const { over, scales: { x: { min, max } } } = plot;
    const [xs, width, height] = [this.columns[0], over.clientWidth, over.clientHeight];
    const names = this.named.map((n) => {
      const ys = this.columns[n + 1];
      const at = xs.findLastIndex((x, i) => x >= min && x <= max && there(ys[i]));
      const style = `--colour: var(--line-${this.looks[n].line}); max-width: ${this.widest + 1}px`;
      const element = make("span", { style }, this.endOf(n));
      return at < 0 ? null : { element, x: plot.valToPos(xs[at], "x") + APART, y: plot.valToPos(ys[at], "y") };
    }).filter(Boolean).sort((one, other) => one.y - other.y);
    this.ends.replaceChildren(...names.map(({ element }) => element));
    for (const name of names) {
      const { offsetWidth: wide, offsetHeight: tall } = name.element;
      Object.assign(name, { wide, tall, x: Math.min(name.x, width + this.widest + APART - wide) });
      name.y = Math.max(0, name.y - tall / 2);
    }
    const beside = (one, other) => one.x < other.x + other.wide && other.x < one.x + one.wide;
    names.forEach((name, n) => names.slice(0, n).filter((other) => beside(name, other))
      .forEach((other) => (name.y = Math.max(name.y, other.y + other.tall))));
    [...names].reverse().forEach((name, n, all) => {
      const below = all.slice(0, n).filter((other) => beside(name, other)).map(({ y }) => y);
      name.y = Math.min(name.y, Math.min(height + 4, ...below) - name.tall);
    });
    names.forEach(({ element, x, y }) => (element.style.translate = `${x}px ${y}px`));
  }

  // Tell at the crosshair where it is, and the number of each line there, the highest first.
  point({ cursor: { left, idx }, over }) {
    this.tip.hidden = left < 0 || idx === null || idx === undefined;
    if (this.tip.hidden) return;
    const told = [...this.names.keys()].filter((n) => !this.looks[n].silent)
      .map((n) => ({ n, y: this.columns[n + 1][nearest(this.columns[n + 1], idx)] }))
      .filter(({ y }) => there(y)).sort((one, other) => other.y - one.y);
    this.tip.replaceChildren(make("b", this.where(this.columns[0][idx])), ...told.map(({ n }) =>
      make("span", swatch(this.looks[n].line), make("span", this.names[n]), make("b", this.worth(n, idx)))));
    const wide = this.tip.offsetWidth + 2 * APART;
    const at = left + wide < over.clientWidth + this.widest || left < wide ? left + 2 * APART : left - wide;
    this.tip.style.translate = `${at}px 4px`;
  }

  leave() {
    this.plot?.setCursor({ left: -10, top: -10 });
    this.at = null;
  }

  // A click that does not drag chooses what the crosshair is at.
  hearClicks(over) {
    over.addEventListener("pointerdown", ({ clientX }) => (this.down = clientX));
    over.addEventListener("click", ({ clientX }) => {
      const { left, idx } = this.plot.cursor;
      if (Math.abs(clientX - this.down) >= 4 || !there(idx)) return;
      this.picked(idx, this.plot.posToVal(left + 1, "x") - this.plot.posToVal(left, "x"));
    });
  }

  // A line at each mark that is shown, and its words at its foot, in the lowest row that has room.
  drawMarks(plot) {
    const { ctx, bbox, axes } = plot;
    const size = LETTERS * devicePixelRatio;
    const ends = Array(ROWS).fill(bbox.left);
    ctx.save();
    Object.assign(ctx, { lineWidth: devicePixelRatio, textAlign: "left", textBaseline: "bottom",
      font: axes[0].font[0] });
    for (const { x, y = null, line, text = "", solid } of [...this.marks].sort((one, other) => one.x - other.x)) {
      const at = Math.round(plot.valToPos(x, "x", true));
      if (at < bbox.left || at > bbox.left + bbox.width) continue;
      ctx.strokeStyle = ctx.fillStyle = plot.series[line + 1].stroke(plot, line + 1);
      if (y !== null) {
        ctx.fillText(text, at - size / 3, plot.valToPos(y, "y", true));
        continue;
      }
      ctx.setLineDash(solid ? [] : DASHES[2].map((length) => length * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
      const wide = ctx.measureText(text).width + size;
      const left = Math.min(at + size / 3, bbox.left + bbox.width - wide + size);
      const row = ends.findIndex((end) => end <= left);
      if (row < 0 || !text) continue;
      ctx.fillText(text, left, bbox.top + bbox.height - (0.2 + 1.2 * row) * size);
      ends[row] = left + wide;
    }
    ctx.restore();
  }

  low(least) {
    return this.steep ? 10 ** Math.floor(Math.log10(least > 0 ? least : 0.1)) : Math.min(0, least ?? 0);
  }

  high(most) {
    const above = Math.max(this.least, (most > 0 ? most : 1) * 1.08);
    return this.most === null ? above : Math.min(this.most, above);
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
    else if (key === "enter" && this.picked && there(this.at)) this.picked(this.at, 0);
    else if (min === undefined || min === null) return false;
    else if (step && shift) this.move(step / 4, min, max);
    else if (step) this.read(step);
    else if (key === "+" || key === "=") this.closer(0.25, min, max);
    else if (key === "-") this.closer(-0.5, min, max);
    else return false;
    return true;
  }

  // The first and the last x, and what is shown of it, as the axis counts: in powers of ten, or not.
  extent(min, max) {
    const [there, back] = this.log ? LOGARITHMIC : LINEAR;
    return [...[this.columns[0][0], this.columns[0].at(-1), min, max].map(there), back];
  }

  move(share, min, max) {
    const [first, last, from, to, back] = this.extent(min, max);
    const fits = Math.max(first - from, Math.min(last - to, share * (to - from)));
    this.zoom([back(from + fits), back(to + fits)]);
  }

  closer(share, min, max) {
    const [first, last, from, to, back] = this.extent(min, max);
    const by = share * (to - from);
    const part = [Math.max(first, from + by), Math.min(last, to - by)];
    this.zoom(part[0] <= first && part[1] >= last ? null : part.map(back));
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
    const numbers = this.heard((n) => this.worth(n, this.at));
    this.said(`${this.title} at ${this.where(x)}: ${numbers.join(", ")}.`);
  }

  close() {
    this.sized.disconnect();
    this.themed.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }
}

// What of x is shown where nothing else was asked for; a single point has the way to it.
function whole(low, high, log) {
  if (low < high) return [low, high];
  return log ? [(high || 1) / 2, (high || 1) * 2] : [0, high || 1];
}

// Where a logarithmic axis has its lines: at 1, 2 and 5 of each power of ten.
function tensOf(low, high) {
  const begin = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - begin + 1 },
    (_, n) => 10 ** (begin + n));
  return powers.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter((x) => x >= low && x <= high);
}

// The lines of an axis that have a number: of many of a logarithmic one only the powers of ten.
const named = (ticks, log) => (!log || ticks.length <= 4 ? ticks
  : ticks.map((x) => (Number.isInteger(Number(Math.log10(x).toFixed(9))) ? x : null)));

const there = (number) => number !== null && number !== undefined;

// A piece of a line, in its colour and with its dashes.
export const swatch = (line) =>
  make("span.lib-line", { style: `--colour: var(--line-${line})`, "data-line": line });

// The index of the number nearest to place `at` of a column with gaps.
function nearest(column, at) {
  for (let by = 0; by < column.length; by++) {
    if (there(column[at - by])) return at - by;
    if (there(column[at + by])) return at + by;
  }
  return at;
}

// Lines of their own x each, as the columns of one chart: [[xs, ys], …] → [xs, ys, ys, …].
export const together = (lines) => (lines.length === 1 ? lines[0] : uPlot.join(lines));
