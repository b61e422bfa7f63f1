// The game to play, and whoever thinks with you beside it.  Rules, undo and animation need nothing
// but this page; values, hints and autoplay are asked of a `Mind`.

import { ACTIONS, Game, HINTED, OWN, PLAYERS } from "./game.js";
import { rulesOf } from "./games.js";
import {
  Board, Shown, actionOf, arrows, box, button, counted, enable, furnish, make, menu, onSwipe, paced,
  points, row, slideTime, speedSlider, tally,
} from "./board.js";
import { Editor } from "./editor.js";
import { AGAIN, rendering, tell } from "./jupyter.js";
import { Reviewed } from "./reviewed.js";
import { Worths, inOneLine } from "./worths.js";

const BEST = "lib2048 best score"; // where the browser keeps it, that of 2048; of others with their name
const AHEAD = 2; // seconds of autoplay that are asked for before they are needed
const TELL = 500; // milliseconds between two reports of a game that plays by itself
const GOAL = 11; // the exponent of 2048
const PAGE = Math.random().toString(36).slice(2); // other pages show this game, too

const same = (a, b) => ["seed", "number", "start", "actions"].every((key) => a[key] === b[key]);

class Play extends Editor {
  // game: the decisions of a `Game`; rules: its `Rules`; players: names, the first of them asked at
  // first, none for no help; ranks: {name: scores of other players, from the lowest to the highest};
  // send: takes questions and news; changed: hears of every new state of the game.
  constructor(root, { game = {}, rules, players = [], ranks = {}, send = () => {}, changed = () => {} }) {
    super(root, send, "Play from here", "Go on with this game", rules);
    Object.assign(this, { players, ranks, changed, advice: null, auto: null, reviewed: null });
    this.game = new Game(game, this.rules);
    this.build();
    this.draw();
    this.say(this.over ? "" : this.rules.how);
  }

  get over() {
    return this.rules.isOver(this.game.here.cells);
  }

  // ---- what is on the page

  build() {
    const { name } = this.rules;
    this.board = new Board(name, this.rules);
    this.coming = new Shown(this.rules);
    this.ending = make("span"); // the message says it to those who do not see it
    this.end = make("div.lib-over", { hidden: "" }, this.ending);
    this.moment = make("div.lib-over.lib-moment", { hidden: "" });
    if (this.players.length) {
      this.end.append(button("Review this game", "What each action cost", () => this.review()));
    }
    this.frame = make("div.lib-frame", this.board.element, this.end, this.moment);
    onSwipe(this.board.element, (action) => this.act(action));
    const [scores, numbers] = tally("score", "best", "actions");
    this.tally = numbers;
    this.hands = make("p.lib-small.lib-hands", { hidden: "" });
    this.arrows = arrows((action) => this.act(action));
    const side = make("div.lib-side", scores, this.hands, make("div.lib-cross", ...this.arrows), this.extras());
    if (this.players.length) side.append(this.helper());
    const left = make("div.lib-left", this.coming.element, this.frame, this.message, this.forms);
    const helped = this.players.length ? " · H hint · P autoplay · R review" : "";
    const keys = `Arrows or W A S D slide · U undo · N new game · E edit${helped} · Esc leaves the board`;
    furnish(this.root, { name, keys }, make("div.lib-columns.lib-play", left, side));
  }

  extras() {
    this.undoing = button("Undo", "Take the last action back", () => this.undo());
    const fresh = button("New …", "Begin another game", () => this.askNew());
    const edit = button("Edit …", "Edit or paste a position", () => this.askPosition());
    this.reviewing = button("Review", "Look at this game again: what each action cost", () => this.review());
    return row(this.undoing, fresh, edit, ...(this.players.length ? [this.reviewing] : []));
  }

  helper() {
    this.menu = menu("Player to ask", this.players.map((name, n) => [n, name]),
      () => this.changePlayer());
    const [always, label] = box("values after every action", () => this.think());
    this.always = always;
    const hint = button("Hint", "Show the best action", () => this.hint());
    this.autoplay = button("Autoplay", "Let the player play", () => this.toggle(), {
      "aria-pressed": "false",
    });
    this.speed = speedSlider(10);
    this.worths = new Worths("Hint says what each action is worth.", this.rules.unit);
    return make("div.lib-mind", row("Ask", this.menu, hint), row(label),
      this.worths.element, row(this.autoplay, this.speed.element));
  }

  // ---- drawing

  draw() {
    const { cells, cell } = this.game.here;
    this.board.show(cells, cell ?? null);
    this.refresh();
  }

  refresh() {
    const { cells, word, score } = this.game.here;
    this.coming.show(word);
    const best = this.best();
    const shown = { score: points(score), best: points(best), actions: points(this.game.length) };
    Object.entries(shown).forEach(([name, text]) => (this.tally[name].textContent = text));
    this.arrows.forEach((arrow, action) => enable(arrow, this.rules.slides(cells, action)));
    enable(this.undoing, this.game.length > 0);
    enable(this.reviewing, this.game.length > 0);
    this.showHands();
    this.end.hidden = !this.over;
    [this.ending.textContent] = this.rules.ending(cells);
    this.root.dataset.board = this.rules.toHex(cells);
    this.root.dataset.actions = this.game.length;
    this.showAdvice();
  }

  // Whose actions the points come from, and that 2048 was made.
  showHands() {
    const { game, rules } = this;
    const first = rules.rules === "2048" ? game.turns.findIndex(({ cells }) => cells.includes(GOAL)) : -1;
    const goal = first > 0 ? [`★ 2048 made, in ${counted(first, "action")}.`] : [];
    const alone = game.turns.findIndex(({ by }) => by && by !== OWN);
    const helped = alone > 0 ? [`Helped: ${points(game.own)} of ${counted(game.length, "action")} were your own. ` +
      `By your own hand alone: ${counted(game.turns[alone - 1].score, "point")}.`] : [];
    this.hands.textContent = [...goal, ...helped].join(" ");
    this.hands.hidden = !this.hands.textContent;
  }

  // The best score of your own games: not of positions you typed, nor with a player's actions.
  best() {
    const { start, helped, here } = this.game;
    const { name } = this.rules;
    const key = name === "2048" ? BEST : `${BEST} ${name}`;
    let best = 0;
    try {
      best = Number(localStorage.getItem(key)) || 0;
      if (start === null && !helped && here.score > best) {
        best = here.score;
        localStorage.setItem(key, best);
      }
    } catch {
      best = here.score; // a page that may not keep anything
    }
    return best;
  }

  say(words, trouble = false, details = "") {
    const over = this.over && !trouble;
    const { cells, score } = this.game.here;
    const end = `${this.rules.ending(cells)[1]} ${counted(score, "point")}.${this.rank}`;
    this.put(over ? end : words, trouble, details);
  }

  // How the points made by one's own hand compare with other players', in words.
  get rank() {
    const { helped, start, here } = this.game;
    const names = helped || start !== null ? [] : Object.keys(this.ranks);
    const share = (all) => Math.round((100 * all.filter((score) => score < here.score).length) / all.length);
    const said = names.map((name) => `${share(this.ranks[name])} of 100 games of ${name}`);
    return said.length ? ` More than in ${said.join(", ")}.` : "";
  }

  // ---- playing

  keyed(key) {
    const action = actionOf(key);
    if (action !== undefined) this.act(action);
    else if (key === "u" || key === "backspace") this.undo();
    else if (key === "n") this.askNew();
    else if (key === "e") this.askPosition();
    else if (key === "h" && this.players.length) this.hint();
    else if (key === "p" && this.players.length) this.toggle();
    else if (key === "r" && this.players.length) this.review();
    else return false;
    return true;
  }

  act(action) {
    this.halt();
    this.closeForm();
    const before = this.game.here.cells;
    const largest = this.game.largest;
    const turn = this.game.act(action, this.fits(this.advice) ? HINTED : OWN);
    const name = ACTIONS[action];
    if (!turn) return this.say(this.rules.why(action, before));
    this.advice = null;
    this.moment.hidden = true;
    this.board.slide(before, turn);
    this.refresh();
    if (this.rules.rules === "2048" && largest < 2048 && this.game.largest >= 2048) this.celebrate();
    this.say(this.record(largest) + `${name}: ${counted(turn.reward, "point")}, ` +
      `score ${points(turn.score)}. ` +
      `A ${this.rules.tiles[turn.cells[turn.cell]]} came in ${this.rules.placeInWords(turn.cell)}.`);
    this.tell();
    if (this.always?.checked) this.think();
  }

  // What there is to celebrate after an action: `before` was the largest tile till then.
  record(before) {
    const { largest } = this.game;
    return largest > before && largest >= 2048 ? `You made a ${largest}! ` : "";
  }

  // The tile that the game is named after: a moment on the board, which goes with the next action.
  celebrate() {
    const { length, own, helped } = this.game;
    const how = helped ? `${points(own)} of ${counted(length, "action")} were your own` : `in ${counted(length, "action")}`;
    const on = button("Keep playing", "The next is 4096", () => this.root.focus({ preventScroll: true }));
    on.addEventListener("click", () => (this.moment.hidden = true));
    this.moment.replaceChildren(make("div.lib-badge", make("b", "★ 2048"), make("p", `You made it, ${how}.${this.rank}`), on));
    this.moment.hidden = this.over;
  }

  undo() {
    this.halt();
    this.closeForm();
    if (!this.game.undo()) return this.say("There is nothing to take back.");
    this.moved();
    this.say("Taken back. The same action will meet the same tile again.");
  }

  // The game is where it was not before: draw it, tell of it.
  moved() {
    this.advice = null;
    this.moment.hidden = true;
    this.draw();
    this.tell();
    if (this.always?.checked) this.think();
  }

  tell() {
    this.told = performance.now();
    this.changed(this.game.decisions);
  }

  // Go where somebody else brought this game: the kernel, or another view of it.
  adopt(decisions) {
    if (same(decisions, this.game.decisions)) return;
    this.halt();
    this.closeForm();
    this.moment.hidden = true;
    const before = this.game.here.cells;
    const { length } = this.game;
    this.game = new Game(decisions, this.rules);
    this.advice = null;
    this.draw();
    const one = this.game.length === length + 1;
    if (one && this.game.turns[length].cells.join() === before.join()) {
      this.board.slide(before, this.game.here);
    }
  }

  // ---- a new game, a position

  get inProgress() {
    return this.game.length > 0 && !this.over;
  }

  get here() {
    return this.game.here.cells;
  }

  warning() {
    const { score } = this.game.here;
    return this.inProgress ? `This throws away your game of ${counted(score, "point")}.` : "";
  }

  askNew() {
    const seed = make("input", {
      value: this.game.seed, inputmode: "numeric", "aria-label": "Seed",
    });
    const number = make("input", {
      type: "number", step: 1, value: this.game.number + 1, "aria-label": "Number of the game",
    });
    const start = () => this.begin(seed.value.trim(), Number(number.value));
    const yes = make("button", { type: "submit" }, "Start");
    const no = button("Keep playing", "Go on with this game", () => this.closeForm());
    const fields = row(make("label", "seed", seed), make("label", "game", number));
    const form = this.form(start, this.warning(), fields, row(yes, no));
    this.openForm(form, yes);
  }

  begin(seed, number) {
    if (!/^-?\d{1,40}$/.test(seed)) return this.say("A seed is a whole number.", true);
    if (!Number.isSafeInteger(number)) return this.say("Games have whole numbers.", true);
    this.game = new Game({ seed, number }, this.rules);
    this.closeForm();
    this.moved();
    this.say(`Game ${number} of seed ${seed} begins.`);
  }

  // Go on from a position that was typed or pasted.
  use(cells) {
    const { seed, number } = this.game;
    this.game = new Game({ seed, number, start: this.rules.toWhole(cells) }, this.rules);
    this.closeForm();
    this.moved();
    this.say("The game goes on from this position; its score counts from here.");
  }

  // ---- asking a player

  changePlayer() {
    this.halt();
    this.advice = null;
    this.refresh();
    if (this.always.checked) this.think();
  }

  get player() {
    return Number(this.menu.value);
  }

  hint() {
    this.halt();
    this.think(true);
  }

  think(hint = false) {
    if (!hint && !this.always.checked) {
      this.advice = null;
      return this.showAdvice();
    }
    if (this.over) return this.say("");
    const { board, word } = this.asked(this.game.here);
    this.mind.ask({ kind: "advise", player: this.player, board, word }, (answer) => {
      if (answer.error) return this.fail(answer);
      this.advised({ ...answer, board }, hint);
    });
  }

  // Take advice, also advice that the kernel gives unasked.
  advised(advice, hint) {
    this.advice = advice;
    this.showAdvice();
    if (!hint || !this.fits(advice)) return;
    const values = advice.values?.some((value) => value !== null) ? ` ${inOneLine(advice.values, this.rules.unit)}.` : "";
    const known = advice.known ? ` Its ${advice.known}.` : "";
    this.say(`${advice.name} would choose ${ACTIONS[advice.action]}.${values}${known}`);
  }

  // A state as the kernel is asked about it.
  asked({ cells, word }) {
    return { board: this.rules.toHex(cells), word: word.toString(16) };
  }

  fits(advice) {
    return advice?.board === this.rules.toHex(this.game.here.cells);
  }

  showAdvice() {
    if (!this.players.length) return;
    const advice = this.fits(this.advice) ? this.advice : null;
    const values = advice?.values?.some((value) => value !== null) ? advice.values : null;
    this.arrows.forEach((arrow, action) => arrow.classList.toggle("lib-best", advice?.action === action));
    this.board.point(advice ? advice.action : null);
    const silent = advice && !values ? `${advice.name} names an action, but gives no values.` : "";
    this.worths.show(values, { words: silent || advice?.known });
  }

  fail({ error, details = "" }) {
    this.halt();
    this.say(error, true, details);
  }

  // ---- the game looked at again

  review() {
    this.halt();
    this.closeForm();
    if (!this.game.length) return this.say("There is nothing to review yet: take an action first.");
    this.tell();
    this.mind.ask({ kind: "review", player: this.player }, (answer) => {
      if (answer.error) return this.fail(answer);
      this.look(answer.record);
    });
  }

  look(record) {
    this.reviewed?.end();
    const playOn = (cells) => {
      this.use(cells);
      this.root.scrollIntoView({ block: "nearest" });
      this.root.focus({ preventScroll: true });
    };
    const close = () => {
      this.reviewed.end();
      this.reviewed = null;
      this.root.focus({ preventScroll: true });
    };
    this.reviewed = new Reviewed(record, { playOn, close });
    this.root.append(this.reviewed.element);
    this.reviewed.element.scrollIntoView({ block: "nearest" });
    this.reviewed.element.focus({ preventScroll: true });
  }

  // What the kernel says: an answer, advice nobody asked for, where another page brought the game, or
  // trouble.
  hear(message) {
    if (message.kind === "follow") return message.page === PAGE || this.adopt(message.game);
    if (message.kind === "advice") this.advised(message, false);
    else if (message.kind === "trouble") this.fail(message);
    else this.mind.hear(message);
  }

  get lost() {
    return "The kernel has ended or was restarted. You can play on here, but hints and autoplay " +
      `need it: ${AGAIN}.`;
  }

  // ---- autoplay: the player sends actions ahead, the page plays them at its own pace

  toggle() {
    if (this.auto) return this.pause();
    if (this.over) return this.say("");
    this.closeForm();
    this.auto = { queue: [], last: this.game.here, over: false };
    this.autoplay.setAttribute("aria-pressed", "true");
    this.message.setAttribute("aria-live", "off"); // nobody wants to hear 60 actions a second
    this.say(`${this.players[this.player]} plays. Any key of the game takes over.`);
    this.fetch();
    this.auto.stop = paced(this.speed.rate, (due) => this.playDue(due));
  }

  pause() {
    this.halt();
    this.say("Paused: it is your turn.");
  }

  // Ask for actions from where the queue ends.
  fetch() {
    const { auto } = this;
    const wanted = Math.max(1, Math.ceil(AHEAD * this.speed.rate()));
    if (auto.over || auto.asking || auto.queue.length >= wanted) return;
    auto.asking = true;
    const question = { kind: "ahead", player: this.player, count: wanted };
    Object.assign(question, this.asked(auto.last), { state: auto.last.state.toString(16) });
    this.mind.ask(question, (answer) => this.auto === auto && this.ahead(answer));
  }

  // Work out the boards of the actions that came.
  ahead({ actions = "", values = [], over = false, error = null, details }) {
    const { auto } = this;
    auto.asking = false;
    [...actions].forEach((action, n) => {
      const turn = this.rules.next(auto.last, Number(action));
      auto.queue.push({ turn, values: values[n], board: this.rules.toHex(auto.last.cells) });
      auto.last = turn;
    });
    auto.over = over;
    if (error) Object.assign(auto, { over: true, error: { error, details } });
  }

  // Play what is due; return how much of it has come.
  playDue(due) {
    const { auto, game } = this;
    const played = auto.queue.splice(0, due);
    game.turns.push(...played.map(({ turn }) => Object.assign(turn, { by: PLAYERS })));
    if (played.length) {
      const [coming] = auto.queue;
      const name = this.players[this.player];
      this.advice = coming ? { ...coming, action: coming.turn.action, name } : null;
      this.board.slide(game.turns.at(-2).cells, game.here, slideTime(this.speed.rate()));
      this.refresh();
      if (performance.now() - this.told > TELL) this.tell();
    }
    this.fetch();
    if (!auto.queue.length && auto.over) this.finish();
    return played.length;
  }

  finish() {
    const { error } = this.auto;
    this.halt();
    if (error) this.fail(error);
    else this.say("");
  }

  // Stop autoplay, if it is on, and every question that is out.
  halt() {
    this.mind.drop();
    if (!this.auto) return;
    this.auto.stop();
    this.auto = null;
    this.autoplay.setAttribute("aria-pressed", "false");
    this.message.setAttribute("aria-live", "polite");
    this.tell();
  }
}

export function begin(root, model, send) {
  const [game, players, rules] = [model.get("game"), model.get("players"), rulesOf(model.get("about"))];
  const changed = (game) => {
    model.set("game", game); // for other views of this game
    tell(send, { kind: "game", game, page: PAGE }, () => view.lose()); // the board plays on
  };
  const view = new Play(root, { game, rules, players, ranks: model.get("ranks"), send, changed });
  model.on("change:game", () => view.adopt(model.get("game")));
  model.on("change:message", () => view.say(model.get("message")));
  model.on("change:ranks", () => (view.ranks = model.get("ranks")));
  if (model.get("message")) view.say(model.get("message"));
  return view;
}

export default { render: rendering(begin) };
