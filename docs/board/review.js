// A game looked at again: what each action cost, in the opinion of a network.  The arithmetic is that of
// lib2048.play.review, which a test compares.

import { Quick } from "./quick.js";

export class Review {
  // taken: the actions, 0..3; scores: the points before each; worths: reward + value of the four
  // actions of each turn, −Infinity where one is not legal.
  constructor(taken, scores, worths) {
    const most = worths.map((four) => Math.max(...four));
    this.best = worths.map((four, n) => four.indexOf(most[n])); // the first of equals
    this.lost = worths.map((four, n) => most[n] - four[taken[n]]);
    this.promised = scores.map((score, n) => score + most[n]);
    Object.assign(this, { taken, scores, worths });
  }

  get length() {
    return this.taken.length;
  }

  // The numbers of the turns that lost most, the worst first; those that lost nothing are left out.
  worst(count = 3) {
    const turns = [...this.lost.keys()].filter((turn) => this.lost[turn] > 0);
    return turns.sort((a, b) => this.lost[b] - this.lost[a] || a - b).slice(0, count);
  }
}

// Look at a `Quick` game again, with the eyes of a `Network`.
export function reviewed(game, network) {
  const there = new Quick(game.seed, game.number); // stands where the game stood
  const turns = Array.from({ length: game.length }, (_, n) => game.turn(n));
  const worths = turns.map(({ north, south }) => {
    const worth = [0, 0, 0, 0];
    there.stand(north, south);
    network.choose(there, worth);
    return worth;
  });
  return new Review(turns.map(({ action }) => action), turns.map(({ score }) => score), worths);
}
