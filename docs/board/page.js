// The board of the front page: a person plays, with the network's hints or without, or it plays.
// There is no kernel and no server: the network comes as a script beside this one.

import { ACTIONS, WHOLE } from "../../lib2048/show/widgets/game.js";
import {
  Board, actionOf, arrows, button, counted, enable, furnish, holdKeys, make, messageLine, onSwipe,
  points, slideTime, speedSlider, still, tally,
} from "../../lib2048/show/widgets/board.js";
import { Reviewed } from "../../lib2048/show/widgets/reviewed.js";
import { Worths } from "../../lib2048/show/widgets/worths.js";
import { beside, onPage } from "./beside.js";
import { Quick } from "./quick.js";
import { reviewed } from "./review.js";
import { readNetwork } from "./values.js";

const REST = 1500; // milliseconds between two games that the network plays
const SLICE = 10; // milliseconds of each frame that go into playing at full speed
const CALM = 500; // milliseconds between two pictures for those who asked for less motion

const WATCH = "Watch it play";
const KEYS_HELP = "Arrows or W A S D slide · U undo · N new game · H hints · P lets it play · R review";

class Page {
  // root: an element; its data-seed, a whole number, says which games are played; bring: returns a
  // promise of a `Network`, and is called when somebody first wants to hear of it.
  constructor(root, bring) {
    const seed = root.dataset.seed ?? String(Math.floor(Math.random() * 1e9));
    Object.assign(this, { root, seed, bring, network: null, former: null, auto: null, frame: null });
    Object.assign(this, { advice: null, review: null, whole: null, finished: null });
    this.watched = { games: 0, sum: 0, best: 0 };
    this.game = new Quick(seed, 0);
    this.build();
    holdKeys(root, (key) => this.pressed(key));
    this.draw();
    this.say("Click the board, then use the arrow keys, or swipe. Equal tiles merge.");
    root.dataset.ready = "";
  }

  // ---- what is on the page

  build() {
    this.board = new Board("2048");
    const over = make("span", "Game over"); // the message says it to those who do not see it
    this.over = make("div.lib-over", { hidden: "", "aria-hidden": "true" }, over);
    onSwipe(this.board.element, (action) => this.act(action));
    this.message = messageLine();
    const frame = make("div.lib-frame", this.board.element, this.over);
    const left = make("div.lib-left", frame, this.message);
    const [scores, numbers] = tally("score", "best tile", "actions");
    this.tally = numbers;
    this.arrows = arrows((action) => this.act(action));
    const side = make("div.lib-side", scores, make("div.lib-cross", ...this.arrows), this.extras(), this.watching());
    this.root.replaceChildren();
    furnish(this.root, { name: "2048, to play here", keys: KEYS_HELP, kinds: ["lib-page"] },
      make("div.lib-columns.lib-play", left, side));
  }

  extras() {
    this.undoing = button("Undo", "Take the last action back", () => this.undo());
    const fresh = button("New game", "Begin another game", () => this.renew());
    const title = "What the network expects after each action, and which it would take";
    this.hints = button("Hints", title, () => this.toggleHints(), { "aria-pressed": "false" });
    this.reviewing = button("Review", "Look at the game again: what did each action cost?", () => this.lookBack());
    this.wholeButton = button("Back to the whole game", "Leave this try for the game that was reviewed",
      () => this.takeBack(), { hidden: "" });
    this.worths = new Worths();
    this.worths.element.hidden = true;
    return make("div.lib-row.lib-extras", this.undoing, fresh, this.hints, this.reviewing, this.wholeButton);
  }

  watching() {
    const first = { class: "lib-first" };
    this.watch = button(WATCH, "Let the network play", () => this.toggle(), first);
    this.speed = speedSlider(10, () => {}, { endless: true });
    this.record = make("p.lib-small", "The network that plays, hints and reviews is fetched when you first ask for it.");
    return make("div.lib-mind", this.worths.element, this.watch, this.speed.element, this.record);
  }

  // ---- the network

  // Do something with the network, which is fetched before it is first needed.
  ask(what) {
    if (this.network) return what();
    this.say("The network is on its way …");
    this.coming ??= this.bring().then((network) => this.wake(network));
    this.coming.then(what).catch((error) => this.fail(error));
  }

  wake(network) {
    this.network = network;
    const { games, mean } = network.scored;
    this.record.textContent = `The network learned from its own games: ${points(network.count)} ` +
      `weights. Without looking ahead it scored ${points(mean)} on average over ${points(games)} games.`;
    this.worth = [0, 0, 0, 0];
    this.root.dataset.network = "";
  }

  fail(error) {
    this.coming = null;
    this.say(`You can play on, but the network could not be read (${error.message}).`, true);
  }

  get hinting() {
    return this.hints.getAttribute("aria-pressed") === "true";
  }

  toggleHints() {
    this.ask(() => this.switchHints());
  }

  switchHints() {
    this.hints.setAttribute("aria-pressed", String(!this.hinting));
    this.think();
    if (!this.auto) this.say(this.hinting ? "" : "The network keeps its thoughts to itself.");
  }

  // Show what the network thinks of the four actions, where somebody wants to know.
  think() {
    const shown = this.network && this.hinting && !this.game.over;
    this.advice = shown ? this.network.choose(this.game, this.worth) : null;
    this.arrows.forEach((arrow, action) => arrow.classList.toggle("lib-best", this.advice === action));
    this.worths.element.hidden = !this.hinting;
    const legal = (worth, action) => (this.game.rewards[action] >= 0 ? worth : null);
    this.worths.show(shown ? this.worth.map(legal) : null);
    this.board.point(this.advice);
  }

  // What it would do, in words: reward and value of its action.
  get opinion() {
    if (this.advice === null) return "";
    const reward = this.game.rewards[this.advice];
    const more = points(this.worth[this.advice] - reward);
    return `The network would play ${ACTIONS[this.advice]}: ${counted(reward, "point")} now, and it ` +
      `expects ${more} more.`;
  }

  // ---- drawing

  draw() {
    this.board.show(this.game.cells, this.game.spawned);
    this.refresh();
  }

  refresh() {
    const { game } = this;
    this.tally.score.textContent = points(game.score);
    this.tally["best tile"].textContent = game.largest; // as it stands on the board
    this.tally.actions.textContent = points(game.length);
    this.arrows.forEach((arrow, action) => enable(arrow, game.rewards[action] >= 0));
    enable(this.undoing, game.length > 0 || this.former !== null);
    enable(this.reviewing, game.length > 0 || this.finished !== null);
    this.over.hidden = !game.over;
    this.wholeButton.hidden = !this.whole;
    this.root.dataset.board = WHOLE.toHex(game.cells);
    this.root.dataset.actions = game.length;
    this.think();
  }

  say(words, trouble = false) {
    this.message.classList.toggle("lib-trouble", trouble);
    const more = this.auto || this.review ? "" : " Review shows what each action cost.";
    const end = `The game is over: no action is legal. ${counted(this.game.score, "point")}.${more}`;
    const said = this.game.over && !trouble ? end : words;
    this.message.textContent = [said, this.auto ? "" : this.opinion].filter(Boolean).join(" ");
  }

  // ---- a person plays

  pressed(key) {
    const action = actionOf(key);
    if (action !== undefined) this.act(action);
    else if (key === "u" || key === "backspace") this.undo();
    else if (key === "n") this.renew();
    else if (key === "h") this.toggleHints();
    else if (key === "p" || key === " ") this.toggle();
    else if (key === "r") this.lookBack();
    else return false;
    return true;
  }

  act(action) {
    this.halt();
    const { game } = this;
    const [before, largest] = [game.cells, game.largest];
    const reward = game.act(action);
    const name = ACTIONS[action];
    if (reward < 0) return this.say(`${name} changes nothing: it is not legal, and no tile spawns.`);
    game.touched = true;
    this.slide(before, action, slideTime(10));
    if (game.over) this.ended();
    const record = game.largest > largest && game.largest >= 2048;
    const came = `a ${WHOLE.tiles[game.cells[game.spawned]]} came in ` +
      WHOLE.placeInWords(game.spawned);
    this.say(`${record ? `You made a ${game.largest}! ` : ""}${name}: ` +
      `${counted(reward, "point")}; ${came}.`);
  }

  // Your game is over: what the network thinks of it stands below at once, where it is here already.
  ended() {
    this.finished = this.game;
    if (this.network) this.showReview(this.game);
  }

  // Let the tiles travel to where an action has brought them.
  slide(before, action, milliseconds) {
    const { travels } = WHOLE.slide(before, action);
    this.board.slide(before, { cells: this.game.cells, cell: this.game.spawned, travels },
      milliseconds);
    this.refresh();
  }

  // Take an action back; before the first one, the new game.
  undo() {
    this.halt();
    if (this.game.undo()) this.game.touched = true;
    else if (this.former) [this.game, this.former] = [this.former, null];
    else return this.say("There is nothing to take back.");
    this.draw();
    this.say("Taken back. The same action will meet the same tile again.");
  }

  renew() {
    this.halt();
    this.begin();
    this.say("A new game. Undo brings the old one back.");
  }

  // ---- a game looked at again

  // Which game a review is of: the one on the board, or the last that the network has finished.
  get reviewable() {
    const { game, finished } = this;
    return finished && (!game.length || !(game.touched || game.over)) ? finished : game;
  }

  lookBack() {
    if (!this.review && !this.reviewable.length) return this.say("There is nothing to review yet: no action was taken.");
    this.halt();
    this.ask(() => {
      if (!this.review) this.showReview(this.reviewable);
      this.review.element.focus({ preventScroll: true });
      this.review.element.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
    });
  }

  showReview(game) {
    this.closeReview();
    this.review = new Reviewed(reviewed(game, this.network), { rules: WHOLE,
      playOn: (_, turn) => this.playOn(game, turn), close: () => this.closeReview(true) });
    this.shown = make("div.lib2048", this.review.element);
    this.root.after(this.shown);
  }

  closeReview(back = false) {
    this.review?.end();
    this.shown?.remove();
    this.review = this.shown = null;
    if (back) this.root.focus();
  }

  // Take a game up again before one of its actions; the whole of it stays at hand.
  playOn(game, turn) {
    this.halt();
    this.closeReview();
    this.whole = game;
    this.game = game.from(turn);
    this.game.touched = true;
    this.draw();
    this.root.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "nearest" });
    this.say(`You are back before action ${points(turn + 1)}. The same action will meet the same tile again.`);
  }

  takeBack() {
    this.halt();
    this.closeReview();
    [this.game, this.whole] = [this.whole, null];
    this.draw();
    this.say("This is the game as it was.");
  }

  begin() {
    this.whole = null;
    if (!this.auto) this.closeReview();
    this.former = this.game.length ? this.game : this.former;
    this.game = new Quick(this.seed, this.game.number + 1);
    this.draw();
  }

  // ---- the network plays

  toggle() {
    this.ask(() => this.playOrPause());
  }

  playOrPause() {
    if (this.auto) {
      this.halt();
      return this.say("Paused: it is your turn.");
    }
    if (this.game.over) this.begin();
    const now = performance.now();
    this.auto = { due: 1, then: now, since: now, moves: 0, drawn: 0, rest: 0, rate: 0 };
    this.watch.textContent = "Pause";
    this.message.setAttribute("aria-live", "off"); // nobody wants to hear so many actions a second
    this.say("The network plays. Any key of the game takes over.");
    this.next();
  }

  next() {
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (!this.auto) return;
    if (!this.game.over) this.play(now);
    else if (now - this.auto.rest > REST) {
      this.begin();
      Object.assign(this.auto, { since: now, moves: 0 });
    }
    this.auto.then = now;
    this.next();
  }

  play(now) {
    const rate = this.speed.rate();
    if (rate === Infinity) this.sprint(now);
    else this.stroll(now, rate);
    if (this.game.over) this.finish(now);
  }

  // As many actions as a frame has time for.
  sprint(now) {
    const { auto, game, network, worth } = this;
    const end = performance.now() + SLICE;
    while (!game.over && performance.now() < end) {
      for (let i = 0; i < 16 && !game.over; i++, auto.moves++) game.act(network.choose(game, worth));
    }
    if (game.over || !still() || now - auto.drawn > CALM) {
      auto.drawn = now;
      this.draw();
    }
    this.count();
  }

  // Say how many actions a second it takes.
  count() {
    const { auto, game } = this;
    const passed = performance.now() - auto.since;
    if (passed < CALM && !game.over) return;
    auto.rate = (1000 * auto.moves) / passed;
    this.root.dataset.rate = Math.round(auto.rate);
    this.say(`The network takes ${points(auto.rate)} actions a second. Any key of the game takes over.`);
    Object.assign(auto, { since: performance.now(), moves: 0 });
  }

  // The actions that are due at so many a second.
  stroll(now, rate) {
    const { auto, game } = this;
    auto.due = Math.min(auto.due + ((now - auto.then) * rate) / 1000, 1 + rate / 10);
    let before = null;
    let action = 0;
    for (; auto.due >= 1 && !game.over; auto.due--) {
      before = game.cells;
      action = this.network.choose(game, this.worth);
      game.act(action);
    }
    if (before) this.slide(before, action, slideTime(rate));
  }

  finish(now) {
    const { game, watched } = this;
    this.auto.rest = now;
    this.finished = game;
    this.root.dataset.finished = [game.number, game.score, game.length, WHOLE.toHex(game.cells)].join(" ");
    this.say("");
    if (game.touched) return; // only games that it played alone are counted
    watched.games += 1;
    watched.sum += game.score;
    watched.best = Math.max(watched.best, game.score);
    this.record.textContent = this.account;
  }

  // What the games that it played alone came to, in words.
  get account() {
    const { games, sum, best } = this.watched;
    const came = games === 1 ? counted(sum, "point")
      : `mean score ${points(sum / games)}, best ${points(best)}`;
    const fast = this.auto.rate && this.speed.rate() === Infinity;
    return `You watched ${counted(games, "game")} to the end: ${came}.` +
      (fast ? ` It takes ${points(this.auto.rate)} actions a second.` : "");
  }

  halt() {
    if (!this.auto) return;
    cancelAnimationFrame(this.frame);
    this.auto = null;
    this.watch.textContent = WATCH;
    this.message.setAttribute("aria-live", "polite");
    this.draw();
  }
}

// ---------------------------------------------------------------- on the page

async function networkBeside(source) {
  await beside("network.js", source, globalThis.lib2048Network);
  return readNetwork(globalThis.lib2048Network);
}

onPage("play-2048", "play.css", (root, source) => new Page(root, () => networkBeside(source)));

globalThis.lib2048Play = { Quick, readNetwork, reviewed }; // for tests, and for whoever is curious
