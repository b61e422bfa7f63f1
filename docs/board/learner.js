// The library's learner in a page: TD and TC with λ, the games and the weights those of
// lib2048.Run(…, lanes=1) with the same seed, bit for bit.  All sums are of 32-bit numbers, in the
// library's order; a test in node compares them.

import { OF_COLUMNS, placesOf, unpack } from "./images.js";
import { Quick } from "./quick.js";

const f = Math.fround;
const [UP, DOWN] = [0, 2]; // `Quick` keeps where they lead as columns
const LAST = 1000; // games whose mean score is told

// How many earlier afterstates an error reaches, as `horizon` of learn/rules.py has it.
const horizon = (decay) =>
  decay > 0 ? Math.max(0, Math.ceil(Math.log(0.1) / Math.log(decay) - 1e-9) - 1) : 0;

export class Learner {
  // tuples: lists of as many cells each; rule: "td" or "tc"; rate: α or β; decay: λ; seed: a whole
  // number as text.
  constructor({ tuples, rule = "td", rate = rule === "tc" ? 1 : 0.1, decay = 0, seed = "1" }) {
    const n = 8 * tuples.length;
    this.length = tuples[0].length;
    this.table = 16 ** this.length; // weights of a tuple
    Object.assign(this, { tuples, rule, n, seed, actions: 0, games: 0, scores: [], past: 0, slot: -1 });
    this.rows = placesOf(tuples);
    this.columns = placesOf(tuples, OF_COLUMNS);
    this.weights = new Float32Array(tuples.length * this.table);
    this.memory = new Float32Array(rule === "tc" ? 2 * this.weights.length : 0);
    this.rate = f(rate / n);
    this.decay = f(decay);
    this.slots = horizon(decay) + 1;
    this.errors = new Float32Array(this.slots);
    this.entries = new Int32Array(this.slots * n);
    this.positions = new Int32Array(4 * n);
    this.cells = new Int32Array(16);
    this.game = new Quick(seed, 0);
  }

  // Play and learn so many actions.
  play(count) {
    const { n, positions, entries } = this;
    for (const last = this.actions + count; this.actions < last;) {
      const { game } = this;
      const action = this.best(game);
      if (this.past) this.learn(action < 0 ? 0 : this.worth, action < 0);
      if (action < 0) {
        this.finish();
        continue;
      }
      this.slot = this.slot + 1 < this.slots ? this.slot + 1 : 0;
      const [to, from] = [this.slot * n, action * n];
      for (let i = 0; i < n; i++) entries[to + i] = positions[from + i];
      game.act(action);
      this.past++;
      this.actions++;
    }
  }

  // Return the best action of a game, −1 when none is legal; `worth` is then its reward + value.
  best(game) {
    let action = -1;
    this.worth = -Infinity;
    for (let a = 0; a < 4; a++) {
      const reward = game.rewards[a];
      if (reward < 0) continue;
      const at = a * this.n;
      this.lookUp(game.after[a], a === UP || a === DOWN ? this.columns : this.rows, at);
      const worth = f(this.valueAt(this.positions, at) + reward);
      if (worth > this.worth) [action, this.worth] = [a, worth];
    }
    if (action >= 0) return action;
    return game.rewards.findIndex((reward) => reward >= 0); // none is legal, or values are no numbers
  }

  finish() {
    this.scores.push(this.game.score);
    if (this.scores.length > LAST) this.scores.shift();
    this.games++;
    this.game = new Quick(this.seed, this.games);
    this.past = 0;
    this.slot = -1;
  }

  get mean() {
    return this.scores.reduce((sum, score) => sum + score, 0) / this.scores.length;
  }

  // Write where the weights of a board lie, from `at` on.
  lookUp(lines, places, at) {
    const { cells, positions, length, table, n } = this;
    unpack(lines, cells);
    let first = 0;
    for (let l = 0, p = 0; l < n; l++) {
      let index = 0;
      for (const end = p + length; p < end; p++) index = (index << 4) | cells[places[p]];
      positions[at + l] = first + index;
      if ((l & 7) === 7) first += table;
    }
  }

  // The sum of n weights in four parts, as the library adds them up.
  valueAt(positions, at) {
    const { weights } = this;
    let [p, q, r, s] = [0, 0, 0, 0];
    for (let i = at, end = at + this.n; i < end; i += 4) {
      p = f(p + weights[positions[i]]);
      q = f(q + weights[positions[i + 1]]);
      r = f(r + weights[positions[i + 2]]);
      s = f(s + weights[positions[i + 3]]);
    }
    return f(f(p + q) + f(r + s));
  }

  // Note the error of the newest afterstate, and let learn what knows all its errors: the oldest,
  // or all that are left of a game that is over (delayed TD(λ), Jaśkowski 2018, Algorithm 3).
  learn(target, over) {
    const { slots, slot, errors, n } = this;
    errors[slot] = f(target - this.valueAt(this.entries, slot * n));
    const youngest = over ? 0 : slots - 1;
    for (let age = Math.min(this.past, slots) - 1; age >= youngest; age--) {
      let error = 0;
      for (let back = 0; back <= age; back++) {
        error = f(errors[(slot - back + slots) % slots] + f(this.decay * error));
      }
      this.update(((slot - age + slots) % slots) * n, error);
    }
  }

  update(at, error) {
    const { weights, memory, entries, n } = this;
    const amount = f(error * this.rate);
    if (this.rule === "td") {
      for (let i = at; i < at + n; i++) weights[entries[i]] += amount;
      return;
    }
    const size = Math.abs(error);
    for (let i = at; i < at + n; i++) {
      const p = entries[i];
      const [sum, sizes] = [memory[2 * p], memory[2 * p + 1]];
      const share = sizes ? Math.min(f(Math.abs(sum) / sizes), 1) : 1;
      weights[p] += f(amount * share);
      memory[2 * p] = sum + error;
      memory[2 * p + 1] = sizes + size;
    }
  }
}
