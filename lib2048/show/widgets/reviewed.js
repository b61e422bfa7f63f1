// A game looked at again, as `told` of reviewed.py tells it: its course, what each action cost, the
// three that cost most, and every board on the way.

import { ACTIONS } from "./game.js";
import { rulesOf } from "./games.js";
import {
  Board, button, counted, enable, holdKeys, make, messageLine, points, row,
} from "./board.js";
import { Chart } from "./chart.js";
import { Worths, exactly, inOneLine, lossInWords, losses } from "./worths.js";

const WORST = 3; // are drawn
const NEXT = 20; // that "next mistake" goes to
const NEAR = 4; // pixels around a click in which the largest mistake is meant
const TALL = 120; // pixels of a chart
const STEPS = { arrowleft: -1, arrowright: 1, arrowup: -1, arrowdown: 1, pageup: -10, pagedown: 10 };
const percent = (numbers) => numbers.map((number) => 100 * number);
const KEYS = "Left and Right move along · Page Up and Page Down ten · Home · End · E next mistake · " +
  "1 2 3 the worst · P play on from here";

export class Reviewed {
  // told: what the kernel says of a game; position: the turn to begin at, by default the worst one;
  // playOn(cells): what follows "Play on from here"; moved: hears of every new position; close: what
  // ends the review, where it can end; rules: of the game, where `told` does not say them.
  constructor(told, { position = null, playOn, moved = () => {}, close = null, rules = rulesOf(told.game) }) {
    const { boards, words = [], actions, scores, worths, by, points: counts } = told;
    this.rules = rules;
    Object.assign(this, { actions: [...actions].map(Number), scores, worths, by, counts, playOn, moved, close });
    this.boards = boards.match(/.{16}/g).map((digits, turn) => rules.fromHex(digits, words[turn]));
    this.count = this.actions.length;
    this.last = this.boards.length - 1; // the end has a board, and no action
    this.lost = worths.map((values, turn) => losses(values)[this.actions[turn]]);
    const begun = rules.unit === "points" ? scores : worths.map(() => 0);
    this.promised = worths.map((values, turn) => begun[turn] + Math.max(...values.filter((v) => v !== null)));
    const order = [...this.lost.keys()].filter((turn) => this.lost[turn] > 0)
      .sort((one, other) => this.lost[other] - this.lost[one]);
    this.worst = order.slice(0, WORST);
    this.mistakes = order.slice(0, NEXT).sort((one, other) => one - other);
    this.build();
    holdKeys(this.element, (key, event) => this.pressed(key, event));
    this.go(position ?? this.worst[0] ?? 0);
  }

  // ---- what is on the page

  build() {
    this.message = messageLine();
    this.board = new Board("board", this.rules);
    const [, ending] = this.rules.ending(this.boards[this.last]);
    this.worthy = new Worths(ending, this.rules.unit);
    this.where = make("p.lib-review-where", { "aria-hidden": "true" }); // the message says it
    const left = make("div.lib-review-board", this.board.element);
    const right = make("div.lib-side", this.where, this.message, this.worthy.element, this.controls());
    this.charts = [this.valueChart(), this.lossChart()];
    const charts = make("div.lib-review-charts", ...this.charts.map(({ element }) => element));
    const head = make("p.lib-caption", `The game again, as ${this.by} sees it`);
    const end = this.close && button("Close", "Put the review away", () => this.close());
    this.element = make("div.lib-review", { role: "group", "aria-label": `A game reviewed. Keys: ${KEYS}` },
      make("div.lib-row.lib-review-head", head, ...(end ? [end] : [])), make("p.lib-review-sum", this.sum),
      make("div.lib-columns", left, right), charts, this.cards(), make("p.lib-keys", KEYS));
  }

  get sum() {
    const best = this.lost.filter((loss) => loss === 0).length;
    const score = this.last === this.count ? this.scores[this.count] : this.scores.at(-1);
    const made = `${counted(score, "point")} in ${counted(this.count, "action")}. `;
    if (!this.worst.length) return `${made}Every action was the best one.`;
    const those = `${made}${points(best)} of them were the best one.`;
    const most = Math.round(this.lost[this.worst[0]]);
    if (this.chance) return `${those} The worst cost ${exactly(this.lost[this.worst[0]], "chance")} of success.`;
    return this.counts ? `${those} The worst gave away ${counted(most, "point")}.` : those;
  }

  controls() {
    const step = (by) => () => this.go(this.position + by);
    this.back = button("◀", "One action back", step(-1));
    this.ahead = button("▶", "One action on", step(1));
    const next = button("Next mistake", "The next of the actions that lost most", () => this.mistake());
    this.on = button("Play on from here", "Take this board, and play it your way", () => this.branch());
    return row(this.back, this.ahead, ...(this.worst.length ? [next] : []), this.on);
  }

  chart(more, columns) {
    const chart = new Chart({
      group: `review ${this.scores.length} ${this.by}`, tall: TALL, x: "actions",
      said: (words) => this.say(words), zoomed: (part) => this.charts.forEach((one) => one !== chart && one.adopt(part)),
      ...more,
    });
    chart.show(columns);
    return chart;
  }

  // Whether whoever looks counts in chances of success.
  get chance() {
    return this.rules.unit === "chance";
  }

  get turns() {
    return Array.from({ length: this.count }, (_, turn) => turn + 1);
  }

  valueChart() {
    const picked = (turn) => this.go(turn);
    const scores = this.scores.slice(0, this.count);
    if (this.chance) {
      return this.chart({ title: "chance of success, in per cent, with best play from there", names: ["chance"], picked },
        [this.turns, percent(this.promised)]);
    }
    if (!this.counts) return this.chart({ title: "points so far", names: ["so far"], picked }, [this.turns, scores]);
    const title = `points: so far, and what ${this.by} expected at the end`;
    return this.chart({ title, names: ["expected", "so far"], picked }, [this.turns, this.promised, scores]);
  }

  lossChart() {
    const counted = this.counts ? "points that each action lost" : `what each action lost, as ${this.by} counts`;
    return this.chart({
      title: this.chance ? "chance of success that each action cost, in per cent" : counted, names: ["lost"], looks: [{ line: 1, bars: true }],
      picked: (turn, wide) => this.go(this.worstNear(turn, NEAR * wide)),
    }, [this.turns, this.chance ? percent(this.lost) : this.lost]);
  }

  // The turn that lost most around a place of the chart, or the nearest where none lost anything.
  worstNear(turn, wide) {
    const near = [...this.lost.keys()].slice(Math.max(0, Math.ceil(turn - wide)), Math.floor(turn + wide) + 1);
    const worst = near.reduce((best, one) => (this.lost[one] > (this.lost[best] ?? 0) ? one : best), null);
    return worst ?? Math.round(turn);
  }

  cards() {
    const cards = this.worst.map((turn, n) => {
      const small = new Board(`worst action ${n + 1}`, this.rules);
      small.show(this.boards[turn]);
      const taken = ACTIONS[this.actions[turn]];
      const head = make("b", `${n + 1}. ${taken} ${lossInWords(this.lost[turn], this.rules.unit)}`);
      const card = button("", `Show action ${points(turn + 1)}`, () => this.go(turn), { class: "lib-review-card" });
      card.append(small.element, head, make("span", `action ${points(turn + 1)}`),
        make("span", inOneLine(this.worths[turn], this.rules.unit)));
      return card;
    });
    if (!cards.length) return "";
    const name = cards.length === 1 ? "The action that cost most" : `The ${["two", "three"][cards.length - 2]} that cost most`;
    return make("div", make("p.lib-caption", name), make("div.lib-review-cards", ...cards));
  }

  // ---- where we are

  go(position) {
    const before = this.position;
    this.position = Math.max(0, Math.min(this.last, position));
    const { position: turn } = this;
    const cells = this.boards[turn];
    const way = before === turn - 1 && this.rules.between(this.boards[before], this.actions[before], cells);
    if (way) this.board.slide(this.boards[before], way);
    else this.board.show(cells);
    const values = this.worths[turn] ?? null;
    const taken = this.actions[turn] ?? null;
    const best = values && losses(values).indexOf(0);
    this.board.point(best);
    this.worthy.show(values, { tags: taken === null ? {} : { [taken]: "taken" } });
    const there = turn === this.count ? `The end, after ${counted(this.count, "action")}`
      : `Action ${points(turn + 1)} of ${points(this.count)}`;
    this.where.textContent = `${there} · score ${points(this.scores[turn])}`;
    this.element.dataset.position = turn;
    enable(this.back, turn > 0);
    enable(this.ahead, turn < this.last);
    enable(this.on, values !== null);
    this.mark();
    this.say(this.line(turn, values, taken));
    this.message.setAttribute("aria-label", `${this.where.textContent}. ${this.message.textContent}`);
    if (before !== undefined && before !== turn) this.moved(turn);
  }

  line(turn, values, taken) {
    if (values === null) return "";
    const loss = this.lost[turn];
    if (!loss) return `${ACTIONS[taken]} was the best action.`;
    const number = points(loss, loss < 10 ? 2 : 0);
    const less = this.chance ? `${exactly(loss, "chance")} of success` : `${number}${this.counts ? " points" : ""}`;
    return `${ACTIONS[taken]} lost ${less}: ${ACTIONS[losses(values).indexOf(0)]} was better.`;
  }

  mark() {
    const here = { x: this.position + 1, line: 0, solid: true };
    const worst = this.worst.map((turn, n) => ({ x: turn + 1, y: this.chance ? 100 * this.lost[turn] : this.lost[turn], line: 0, text: String(n + 1) }));
    this.charts.forEach((chart, n) => {
      chart.mark(n ? [here, ...worst] : [here]);
      chart.plot?.redraw(false);
    });
  }

  mistake() {
    this.go(this.mistakes.find((turn) => turn > this.position) ?? this.mistakes[0] ?? 0);
  }

  branch() {
    if (this.worths[this.position]) this.playOn(this.boards[this.position], this.position);
  }

  say(words) {
    this.message.textContent = words;
  }

  pressed(key, event) {
    const by = STEPS[key] ?? { home: -this.last, end: this.last }[key];
    const chart = this.charts.find(({ place }) => place === event.target);
    if (chart && (event.shiftKey || by === undefined) && chart.pressed(key, event.shiftKey)) return true;
    if (by !== undefined) this.go(this.position + by);
    else if (key === "e") this.mistake();
    else if (key === "p") this.branch();
    else if (this.worst[Number(key) - 1] !== undefined) this.go(this.worst[Number(key) - 1]);
    else return false;
    return true;
  }

  end() {
    this.charts.forEach((chart) => chart.close());
    this.element.remove();
  }
}
