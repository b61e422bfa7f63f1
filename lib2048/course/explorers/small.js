// Exact small boards: choose a state, take an action, let luck spawn a tile.  The kernel says what
// everything is worth; turns go back and forth on the page.

import { ACTIONS, stream } from "../../show/widgets/game.js";
import {
  Board, actionOf, button, enable, furnish, make, points, row, table,
} from "../../show/widgets/board.js";
import { Editor } from "../../show/widgets/editor.js";
import { rulesOf } from "../../show/widgets/games.js";
import { exploring } from "../../show/widgets/jupyter.js";

const NEAR = 1e-12; // of a number: two that differ by less are equal but for rounding
const MOST_DIGITS = 8;
const MARKS = { optimal: "★", own: "◆" };

// Numbers as texts, with as many digits as tell those apart that are not the same.
function apart(values) {
  const most = Math.max(...values.map(Math.abs));
  for (let digits = most < 1000 ? 2 : 1; ; digits++) {
    const texts = values.map((value) => points(value, digits));
    const alike = (a, b) => texts[a] !== texts[b]
      || Math.abs(values[a] - values[b]) <= NEAR * Math.abs(values[a]);
    const all = [...values.keys()];
    if (digits === MOST_DIGITS || all.every((a) => all.every((b) => alike(a, b)))) return texts;
  }
}
const inPoints = (value) => apart([value])[0];
const sure = (chance) => chance === 0 || chance > 1 - 1e-12; // to the last digit
const odds = (chance) =>
  (chance > 0 && chance < 5e-5 ? "< 0.01 %" : `${points(100 * chance, sure(chance) ? 0 : 2)} %`);

class Small extends Editor {
  // about: {game, name, short, tiles, best, own}; position: a packed board as hexadecimal digits.
  constructor(root, { about, position, send, changed }) {
    super(root, send, "Look at this", "Stay at this state", rulesOf(about.game));
    Object.assign(this, { about, changed, position, past: [] });
    this.build();
    this.look(position);
  }

  get here() {
    return this.rules.fromHex(this.position);
  }

  picture(position, fresh = null) {
    const board = new Board("board", this.rules);
    board.show(this.rules.fromHex(position), fresh);
    return make("div.lib-mini", board.element);
  }

  // ---- what is on the page

  build() {
    const { name, short, best, own } = this.about;
    this.frame = make("div.lib-frame.lib-large");
    this.caption = make("p.lib-caption");
    this.worth = make("p.lib-reason");
    this.backing = button("Back", "One step back", () => this.back());
    const fresh = button("New start", "A random start", () => this.begin());
    const edit = button("Edit …", "Edit or paste a state", () => this.askPosition());
    const left = make("div.lib-left", this.frame, this.caption, this.worth,
      row(this.backing, fresh, edit), this.forms, this.message);
    this.cards = make("div.lib-choices");
    this.table = make("div");
    this.legend = make("p.lib-small", `${MARKS.optimal} optimal: the largest ` +
      `reward + V*. ${MARKS.own} best by ${short}: the largest reward + value of ${short}; a ` +
      "player who goes by these values takes it.");
    const side = make("div.lib-side", this.cards, this.legend, this.table);
    const keys = "Arrows take an action, or go along the spawns · Backspace back · N new · E edit";
    const start = make("p.lib-small",
      `From a random start: ${inPoints(best)} points by optimal play, ${inPoints(own)} by ${name}.`);
    furnish(this.root, { name: "Exact small board", keys, role: "group", kinds: ["lib-wide"] },
      make("div.lib-columns", left, side), start);
  }

  // ---- where we are

  // Look at a state; past: what Back leads to; then: what follows once the kernel has answered.
  look(position, past = [], then = () => this.show()) {
    this.mind.ask({ kind: "open", board: position }, (answer) => {
      if (answer.error) return this.say(answer.error, true, answer.details);
      Object.assign(this, { position, past, seen: answer, action: null });
      this.say("");
      then();
    });
  }

  use(cells) {
    this.look(this.rules.toHex(cells), [], () => {
      this.closeForm();
      this.moved();
    });
  }

  moved() {
    this.changed(this.position);
    this.show();
  }

  // Go to a state that somebody else has set.
  adopt(position) {
    if (position !== this.position) this.look(position);
  }

  begin() {
    this.use(this.rules.begin(stream(Math.floor(Math.random() * 2 ** 53), 0)).cells);
  }

  act(action) {
    const found = this.seen?.actions.find((option) => option.action === action);
    if (!found || this.action) {
      const why = this.action ? "It is luck's turn: choose a spawn." :
        `${ACTIONS[action]} changes nothing: it is not legal.`;
      return this.say(why);
    }
    this.action = found;
    this.say("");
    this.show();
  }

  // Luck spawns a tile.
  spawn({ board }) {
    const { position, seen, past } = this;
    this.look(board, [...past, { position, seen, action: this.action }], () => this.moved());
  }

  back() {
    if (this.action) this.action = null;
    else if (this.past.length) Object.assign(this, this.past.pop());
    else return this.say("There is nothing to go back to.");
    this.say("");
    this.moved();
  }

  // ---- drawing

  show() {
    const inside = this.root.contains(document.activeElement);
    const { action, seen, position } = this;
    this.root.dataset.board = action?.board ?? position;
    this.root.dataset.turn = action ? "luck" : seen.actions.length ? "you" : "over";
    this.frame.replaceChildren(this.picture(action?.board ?? position));
    enable(this.backing, Boolean(action) || this.past.length > 0);
    this.cards.replaceChildren(...(action ? this.spawns(action) : this.options(seen)));
    this.legend.hidden = Boolean(action) || !seen.actions.length;
    this.table.replaceChildren(...this.chances(action ?? seen));
    this.tell(action, seen);
    if (!inside || this.forms.hasChildNodes()) return;
    (this.cards.querySelector("button") ?? this.root).focus({ preventScroll: true });
  }

  tell(action, seen) {
    const { name } = this.about;
    const { best, own } = action ?? seen;
    this.root.dataset.best = best;
    this.root.dataset.own = own;
    const turn = action ? `Luck's turn, after ${ACTIONS[action.action]} (${points(action.reward)} ` +
      "points)" : seen.actions.length ? "Your turn" : "The game is over: no action is legal";
    this.caption.textContent = turn;
    this.worth.textContent = `Still to come: V* = ${inPoints(best)} by optimal play, ` +
      `${inPoints(own)} by ${name}.`;
  }

  // marks: what is special about it, in words behind a sign.
  card(title, position, lines, onclick, { fresh = null, best = false, marks = [], data }) {
    const texts = lines.map((line) => make("span.lib-line-of", line));
    const tags = marks.map((mark) => make("span.lib-tag", mark));
    const kind = best ? "lib-choice lib-best" : "lib-choice";
    return make("button", { type: "button", class: kind, onclick, ...data },
      make("span.lib-title", make("b", title), ...tags),
      this.picture(position, fresh), ...texts);
  }

  options({ actions }) {
    const { short } = this.about;
    const texts = (kind) => [apart(actions.map((option) => option.reward + option[kind])),
      apart(actions.map((option) => option[kind]))];
    const [[best, bestAfter], [own, ownAfter]] = [texts("best"), texts("own")];
    return actions.map((option, n) => {
      const { action, reward, optimal, own_best: ownBest, chance } = option;
      const lines = [`V*: ${points(reward)} + ${bestAfter[n]} = ${best[n]}`,
        `${short}: ${points(reward)} + ${ownAfter[n]} = ${own[n]}`,
        chance ? `${short} takes it: ${odds(chance)}` : `${short} never takes it`];
      const marks = [optimal && `${MARKS.optimal} optimal`, ownBest && `${MARKS.own} by ${short}`];
      const data = { "data-action": action, "data-best": reward + option.best,
        "data-own": reward + option.own };
      return this.card(ACTIONS[action], option.board, lines, () => this.act(action),
        { best: optimal, marks: marks.filter(Boolean), data });
    });
  }

  spawns({ spawns }) {
    const { about: { short }, rules } = this;
    const [best, own] = ["best", "own"].map((kind) => apart(spawns.map((spawn) => spawn[kind])));
    return spawns.map((spawn, n) => {
      const { cell, exponent, chance } = spawn;
      const lines = [`V* ${best[n]}`, `${short} ${own[n]}`];
      const data = {
        "data-best": spawn.best, "data-own": spawn.own, "data-spawn": `${cell}:${exponent}`,
        title: `a ${rules.tiles[exponent]} in ${rules.placeInWords(cell)}`,
      };
      return this.card(odds(chance), spawn.board, lines, () => this.spawn(spawn),
        { fresh: cell, data });
    });
  }

  chances({ odds: found }) {
    const { tiles, name } = this.about;
    if (!tiles.length) return [];
    const cell = (kind, n) => make("td", { "data-odds": `${kind}:${tiles[n]}` }, odds(found[kind][n]));
    const rows = tiles.map((tile, n) => make("tr", make("th", { scope: "row" }, String(tile)),
      cell("best", n), cell("own", n)));
    const caption = "The odds that a tile is ever on the board";
    return [table(caption, ["tile", "optimal play", name], rows)];
  }

  // ---- keys

  keyed(key) {
    const action = actionOf(key);
    if (key === "backspace" || key === "u") this.back();
    else if (key === "n") this.begin();
    else if (key === "e") this.askPosition();
    else if (action !== undefined && this.action) this.along(action);
    else if (action !== undefined) this.act(action);
    else return false;
    return true;
  }

  along(action) {
    const cards = [...this.cards.children];
    const at = cards.indexOf(document.activeElement);
    const to = at + (action === 1 || action === 2 ? 1 : -1);
    cards[Math.max(0, Math.min(cards.length - 1, to))]?.focus();
  }
}

export default { render: exploring(Small, "small") };
