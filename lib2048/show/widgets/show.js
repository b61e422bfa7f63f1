// Games that a learner played on its way, one after 0.1 s, 1 s, 10 s …: a board plays the one that is
// chosen, by default the newest.

import { Board, button, make, paced, points, still } from "./board.js";
import { Game } from "./game.js";
import { rulesOf } from "./games.js";

const LASTS = 8; // seconds that a long game takes
const SLOWEST = 6; // actions a second

// A time as people say it: 0.1 s, 30 s, 5 min.
const said = (seconds) => (seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

export class Show {
  // told: of the game, as `rulesOf` takes it; whose: what the learner is called.
  constructor(told, whose) {
    this.rules = rulesOf(told);
    Object.assign(this, { games: [], chosen: null, stop: null });
    this.board = new Board(`a game of ${whose}`, this.rules);
    this.caption = make("p.lib-small", "Its games are played here as it learns.");
    this.strip = make("div.lib-strip", { role: "group", "aria-label": `Games of ${whose}, by time` });
    this.element = make("div.lib-show", this.board.element, this.strip, this.caption);
    this.board.show(this.rules.empty);
  }

  // Take games: all of them, or those from the n-th on; the newest is shown unless an older was chosen.
  hear(from, games) {
    this.games.length = Math.min(this.games.length, from);
    this.games.push(...games);
    this.strip.replaceChildren(...this.games.map(({ after }, n) => button(said(after),
      `The game that it played after ${said(after)}`, () => this.choose(n), { "aria-pressed": "false" })));
    if (this.chosen === null && this.games.length) this.play(this.games.length - 1);
  }

  // Show a game that a reader asks for; the newest follows what comes.
  choose(n) {
    this.chosen = n === this.games.length - 1 ? null : n;
    this.play(n);
  }

  play(n) {
    this.stop?.();
    [...this.strip.children].forEach((one, i) => one.setAttribute("aria-pressed", String(i === n)));
    const { after, actions, score, ...decisions } = this.games[n];
    const game = new Game({ ...decisions, actions: "" }, this.rules);
    const rate = Math.max(SLOWEST, actions.length / LASTS);
    let at = 0;
    this.caption.textContent = `After ${said(after)} it made ${points(score)} points, in ` +
      `${points(actions.length)} actions.`;
    if (still()) [...actions].forEach((action) => game.act(Number(action)));
    this.board.show(game.here.cells);
    if (still()) return;
    this.stop = paced(() => rate, (due) => {
      const before = game.here.cells;
      const next = actions.slice(at, at + due);
      [...next].forEach((action) => game.act(Number(action)));
      at += next.length;
      if (next.length === 1) this.board.slide(before, game.here, rate > 12 ? 0 : 90);
      else if (next.length) this.board.show(game.here.cells);
      if (at >= actions.length) this.stop();
      return next.length;
    });
  }

  close() {
    this.stop?.();
  }
}
