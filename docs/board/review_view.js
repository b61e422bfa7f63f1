// The review of a game on the page: what the game promised, what each action cost, the worst of them on
// their boards, and the way to play on from any.  It takes plain data and knows no network.

import { ACTIONS, WHOLE } from "../../lib2048/show/widgets/game.js";
import {
  Board, button, counted, enable, furnish, holdKeys, make, messageLine, points, row,
} from "../../lib2048/show/widgets/board.js";
import { Chart } from "../../lib2048/show/widgets/chart.js";

const WORST = 3;
const SMALL = 0.5; // points: what is less costs nothing that one would want to see

export class ReviewView {
  // review: a `Review`; cellsOf: a turn's board; by: whose opinion it is, "the network"; playOn: takes a
  // turn; close: is called when nobody wants it any more.
  constructor(root, { review, cellsOf, by, playOn, close, rules = WHOLE }) {
    Object.assign(this, { root, review, cellsOf, by, playOn, close, rules });
    this.worst = review.worst(WORST);
    this.build();
    holdKeys(root, (key, event) => this.pressed(key, event));
    this.go(this.worst[0] ?? 0);
  }

  // ---- what is on the page

  build() {
    const { review, by } = this;
    this.root.replaceChildren();
    const lines = { names: ["score + value", "score so far"], looks: [{ line: 0 }, { line: 1 }] };
    this.chart = new Chart({ title: `What the game promised: score + what ${by} expected to come (points)`,
      ...lines, group: "review", said: (words) => this.say(words), write: points, x: "action", tall: 190 });
    this.costs = new Chart({ title: "What each action cost (points)", names: ["cost"],
      looks: [{ line: 1, alone: true, dots: 4 }], group: "review", said: (words) => this.say(words),
      write: points, x: "action", tall: 110 });
    const turns = [...review.taken.keys()].map((turn) => turn + 1);
    const cost = review.lost.map((lost) => (lost >= SMALL ? lost : null));
    this.chart.mark(this.worst.map((turn, n) => ({ x: turn + 1, line: 1, text: String(n + 1) })));
    const shut = button("Close", "Put the review away", () => this.close());
    const keys = "Left and Right step through the game · M next worst action · Enter plays on from there";
    const top = make("div.lib-row.lib-top", make("b", "The game, looked at again"), shut);
    const parts = [top, this.summary(), this.chart.element, this.costs.element, this.here(), this.cards()];
    furnish(this.root, { name: "Review of the game", keys, kinds: ["lib-page", "lib-review"], role: "group" },
      ...parts);
    this.chart.show([turns, review.promised, review.scores]);
    this.costs.show([turns, cost]);
    for (const chart of [this.chart, this.costs]) chart.place.addEventListener("click", (event) => this.clicked(chart, event));
  }

  // What it all came to, in words.
  summary() {
    const { review, by } = this;
    const all = review.lost.reduce((sum, lost) => sum + lost, 0);
    const same = review.lost.filter((lost) => lost === 0).length;
    const words = all === 0 ? `Every one of ${counted(review.length, "action")} was what ${by} would have done.`
      : `In the opinion of ${by}, ${counted(review.length, "action")} cost ${counted(Math.round(all), "point")} ` +
        `in all; ${points((100 * same) / review.length)} % of them were its own choice, too. ` +
        "It looks no ply ahead, and can be wrong.";
    return make("p.lib-said", words);
  }

  // The action that is looked at.
  here() {
    this.board = new Board("board", this.rules);
    this.title = make("b");
    this.options = make("div.lib-options");
    this.back = button("◀", "One action back", () => this.go(this.turn - 1));
    this.ahead = button("▶", "One action on", () => this.go(this.turn + 1));
    this.from = button("Play on from here", "Take the game up again before this action", () => this.playOn(this.turn),
      { class: "lib-first" });
    const next = button("Next worst", "The next of the worst actions", () => this.nextWorst());
    this.message = messageLine();
    const side = make("div.lib-side", this.title, this.options, row(this.back, this.ahead, next), row(this.from),
      this.message);
    return make("div.lib-columns.lib-here", make("div.lib-left", this.board.element), side);
  }

  cards() {
    this.picks = this.worst.map((turn) => button("", `Look at action ${turn + 1}`, () => this.go(turn),
      { class: "lib-worst" }));
    this.picks.forEach((pick, n) => pick.append(...this.card(this.worst[n], n)));
    if (!this.worst.length) return make("p.lib-small", "No action cost anything.");
    const many = ["The action", "The two actions", "The three actions"][this.worst.length - 1];
    const heading = make("p.lib-small", `${many} that cost most; the arrow is what ${this.by} would have done.`);
    return make("div", heading, make("div.lib-cards3", ...this.picks));
  }

  card(turn, n) {
    const board = new Board("board", this.rules);
    board.show(this.cellsOf(turn));
    board.point(this.review.best[turn]);
    return [board.element, make("span.lib-line-of", `${n + 1}. Action ${points(turn + 1)}: ${this.verdict(turn)}`)];
  }

  // What an action was, against the best one.
  verdict(turn) {
    const { review } = this;
    const [taken, best] = [ACTIONS[review.taken[turn]], ACTIONS[review.best[turn]]];
    if (review.lost[turn] === 0) return `${taken}, the best`;
    const cost = review.lost[turn] < 10 ? points(review.lost[turn], 1) : points(review.lost[turn]);
    return `${taken} was played; ${best} is worth ${cost} more`;
  }

  // ---- where we are

  go(turn) {
    const { review } = this;
    this.turn = Math.max(0, Math.min(review.length - 1, turn));
    this.root.dataset.turn = this.turn;
    this.board.show(this.cellsOf(this.turn));
    this.board.point(review.best[this.turn]);
    this.title.textContent = `Action ${points(this.turn + 1)} of ${points(review.length)}, ` +
      `score ${points(review.scores[this.turn])}`;
    this.options.replaceChildren(...this.rows());
    enable(this.back, this.turn > 0);
    enable(this.ahead, this.turn < review.length - 1);
    this.picks.forEach((pick, n) => pick.setAttribute("aria-pressed", String(this.worst[n] === this.turn)));
    const verdict = this.verdict(this.turn);
    this.say(`${verdict[0].toUpperCase()}${verdict.slice(1)}.`);
  }

  // The four actions, the best first, each with what it is worth less.
  rows() {
    const { review, turn } = this;
    const four = review.worths[turn];
    const most = Math.max(...four);
    const legal = [0, 1, 2, 3].filter((action) => four[action] > -Infinity).sort((a, b) => four[b] - four[a]);
    const width = Math.max(1, ...legal.map((action) => most - four[action]));
    return legal.map((action) => {
      const less = most - four[action];
      const taken = review.taken[turn] === action;
      const share = `--share:${(less / width).toFixed(3)}`;
      const text = less === 0 ? "best" : `−${points(less, less < 10 ? 1 : 0)}`;
      const title = `${ACTIONS[action]}: reward + value ${points(four[action])}`;
      return make("p", { title, style: share, class: taken ? "lib-taken" : null },
        make("span", ACTIONS[action] + (taken ? " ◂ played" : "")), make("i"), make("b", text));
    });
  }

  nextWorst() {
    const { worst } = this;
    if (worst.length) this.go(worst[(worst.indexOf(this.turn) + 1) % worst.length]);
  }

  clicked({ plot, place }, event) {
    if (!plot) return;
    const { left } = place.querySelector(".u-over").getBoundingClientRect();
    this.go(Math.round(plot.posToVal(event.clientX - left, "x")) - 1);
  }

  pressed(key, event) {
    const chart = [this.chart, this.costs].find(({ place }) => place === event.target);
    if (chart) return chart.pressed(key, event.shiftKey);
    if (key === "arrowleft") this.go(this.turn - 1);
    else if (key === "arrowright") this.go(this.turn + 1);
    else if (key === "home") this.go(0);
    else if (key === "end") this.go(this.review.length - 1);
    else if (key === "m") this.nextWorst();
    else if (key === "enter") this.playOn(this.turn);
    else if (key === "escape") this.close();
    else return false;
    return true;
  }

  say(words) {
    this.message.textContent = words;
  }

  remove() {
    this.chart.close();
    this.costs.close();
    this.root.remove();
  }
}
