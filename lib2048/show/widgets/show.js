// Games that a learner played on its way, one after 0.1 s, 1 s, 10 s …: a board plays the one that is
// chosen, by default the newest.

import { Board, make, paced, points, slideTime, still } from "./board.js";
import { Game } from "./game.js";
import { rulesOf } from "./games.js";

const LASTS = 8; // seconds that a game takes at most
const GLIMPSE = 2; // and at the least, before a newer one takes its place
const SLOWEST = 6; // actions a second
const REST = 1500; // milliseconds until the newest game is played once more

// A time as people say it: 0.1 s, 30 s, 5 min.
const said = (seconds) => (seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

export class Show {
  // told: of the game, as `rulesOf` takes it; whose: what the learner is called.
  constructor(told, whose) {
    this.rules = rulesOf(told);
    Object.assign(this, { whose, games: [], chosen: null, shown: null, stop: null, later: null });
    this.board = new Board(`a game of ${whose}`, this.rules);
    this.caption = make("p.lib-small");
    this.strip = make("div.lib-strip", { role: "group", "aria-label": `Games of ${whose}, by time`,
      onkeydown: (event) => this.moved(event) });
    this.element = make("div.lib-show", this.board.element, this.strip, this.caption);
    this.clear();
  }

  // A board without a game, of a learner that has not begun.
  clear() {
    this.halt();
    Object.assign(this, { games: [], chosen: null, shown: null });
    this.strip.replaceChildren();
    this.board.show(this.rules.empty);
    this.caption.textContent = "Its games are played here while it learns, one at each time, from the first on.";
  }

  // Take games: all of them, or those from the n-th on; going: whether more are to come.  The newest is
  // shown unless an older one was chosen.
  hear(from, games, going) {
    this.going = going;
    const old = (n) => this.games[from + n]?.actions === games[n].actions;
    if (from + games.length === this.games.length && games.every((_, n) => old(n))) return;
    if (!from) this.clear();
    this.games.length = from;
    this.games.push(...games);
    [...this.strip.children].slice(from).forEach((one) => one.remove());
    this.strip.append(...games.map((game, n) => this.step(game, from + n)));
    if (this.chosen === null) this.follow();
  }

  step({ after, score }, n) {
    return make("button", { type: "button", "aria-pressed": "false", onclick: () => this.choose(n),
      title: `The game that it played after ${said(after)}: ${points(score)} points` },
    make("b", said(after)), make("span", points(score)));
  }

  // The arrows go from game to game.
  moved(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = this.strip.children[[...this.strip.children].indexOf(event.target) + (step ?? NaN)];
    if (!next) return;
    next.focus();
    next.click();
    event.preventDefault();
  }

  // Show a game that a reader asks for; the newest follows what comes.
  choose(n) {
    this.chosen = n === this.games.length - 1 ? null : n;
    this.play(n, LASTS);
  }

  // Show the newest game, once the one before it had its time.
  follow() {
    const newest = this.games.length - 1;
    const wait = this.shown === null ? 0 : this.since + 1000 * GLIMPSE - performance.now();
    clearTimeout(this.later);
    if (newest < 0 || this.chosen !== null) return;
    if (wait > 0 && this.stop && this.shown !== newest) this.soon(() => this.follow(), wait);
    else this.play(newest, Math.max(GLIMPSE, Math.min(LASTS, this.games[newest].after)));
  }

  soon(what, milliseconds) {
    clearTimeout(this.later);
    this.later = setTimeout(what, milliseconds);
  }

  // Play the n-th game in so many seconds.
  play(n, seconds) {
    this.halt();
    Object.assign(this, { shown: n, since: performance.now() });
    [...this.strip.children].forEach((one, i) => one.setAttribute("aria-pressed", String(i === n)));
    const { after, actions, ...begin } = this.games[n];
    const game = new Game({ ...begin, actions: still() ? actions : "" }, this.rules);
    const count = make("b");
    this.caption.replaceChildren(after ? `one game after ${said(after)} of training: `
      : "one game before it has learned anything: ", count);
    const tell = () => {
      const over = game.length === actions.length ? `, in ${points(game.length)} actions` : "";
      count.textContent = `${points(game.here.score)} points${over}`;
    };
    this.board.show(game.here.cells);
    tell();
    if (still()) return;
    const rate = Math.max(SLOWEST, actions.length / seconds);
    this.stop = paced(() => rate, (due) => {
      const from = game.length;
      let before = game.here.cells;
      for (const action of actions.slice(from, from + due)) {
        before = game.here.cells;
        game.act(Number(action));
      }
      if (game.length > from) this.board.slide(before, game.here, slideTime(rate));
      tell();
      if (game.length === actions.length) this.rest();
      return game.length - from;
    });
  }

  // A game is over: the newest one begins again while the next is learned for.
  rest() {
    this.halt();
    if (this.going && this.chosen === null) this.soon(() => this.follow(), REST);
  }

  halt() {
    this.stop?.();
    this.stop = null;
    clearTimeout(this.later);
  }

  close() {
    this.halt();
  }
}
