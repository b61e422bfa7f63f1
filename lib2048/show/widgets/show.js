// Games that a learner played on its way, one after 0.1 s, 1 s, 10 s …: a board plays the one that is
// chosen, by default the newest.

import { Board, button, make, paced, points, slideTime, still } from "./board.js";
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
    const { after, ...decisions } = this.games[n];
    const { turns, length, here } = new Game(decisions, this.rules);
    this.caption.textContent = `After ${said(after)} it made ${points(here.score)} points, in ` +
      `${points(length)} actions.`;
    this.board.show((still() ? here : turns[0]).cells);
    if (still()) return;
    const rate = Math.max(SLOWEST, length / LASTS);
    let at = 0;
    this.stop = paced(() => rate, (due) => {
      const before = at;
      at = Math.min(length, at + due);
      if (at > before) this.board.slide(turns[at - 1].cells, turns[at], slideTime(rate));
      if (at === length) this.stop();
      return at - before;
    });
  }

  close() {
    this.stop?.();
  }
}
