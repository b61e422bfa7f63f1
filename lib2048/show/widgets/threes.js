// Threes! by the library's rules and luck, see game/rules_threes.py: a word says what is shown (two bits:
// 0, 1, 2 are a 1, a 2, a 3; 3 is a bonus card) and then, in three bits each, what is left in the deck.

import { LARGEST, Rules, alsoBelow, below, draw } from "./game.js";

const BONUS = 3; // as it is shown
const FIRST_BONUS = 4; // the exponent of a 6
const BONUS_GAP = 3; // exponents from the largest bonus card to the largest tile
const BONUS_IN = 21; // one card in so many
const FULL = 0o444; // a deck: four of each card

export class Threes extends Rules {
  get how() {
    return "Tiles move by one cell: a 1 and a 2 make a 3, from there on two equal ones merge.";
  }

  get largest() {
    return LARGEST;
  }

  merged(one, other) {
    if (one + other === 3 && one && other) return 3;
    return one >= 3 ? super.merged(one, other) : 0;
  }

  // Slide a board by one cell: in each line the first gap is filled, or the first two tiles merge that can.
  slide(cells, action) {
    const after = [...cells];
    const travels = [];
    let reward = 0;
    for (const line of this.lines[action]) {
      const made = (i) => this.merged(cells[line[i]], cells[line[i + 1]]);
      const open = line.findIndex((cell, i) => i < line.length - 1 && (!cells[cell] || made(i)));
      line.forEach((from, i) => {
        const to = open >= 0 && i > open ? line[i - 1] : from;
        const merges = to !== from && i === open + 1 && cells[to] > 0;
        if (cells[from]) travels.push({ from, to, merges });
        if (merges) reward += this.pays(made(open)) - this.pays(cells[from]) - this.pays(cells[to]);
        if (to !== from) after[to] = merges ? made(open) : cells[from];
      });
      if (open >= 0) after[line.at(-1)] = 0;
    }
    return { cells: after, reward, travels };
  }

  // What a tile is worth, and all tiles of a board.
  pays(exponent) {
    return exponent < 3 ? 0 : 3 ** (exponent - 2);
  }

  points(cells) {
    return cells.reduce((sum, exponent) => sum + this.pays(exponent), 0);
  }

  // Let the shown card enter behind one of the lines that have moved, and draw the next.
  spawn({ cells, word, state, action, travels }) {
    let [next, bits] = draw(state);
    const moves = new Set(travels.filter(({ from, to }) => from !== to).map(({ from }) => from));
    const moved = this.lines[action].filter((line) => line.some((cell) => moves.has(cell)));
    const cell = moved[below(bits, moved.length)].at(-1);
    const shown = word & 3;
    const card = shown === BONUS ? FIRST_BONUS + alsoBelow(bits, bonusKinds(cells)) : shown + 1;
    const board = [...cells];
    board[cell] = card;
    [next, bits] = draw(next);
    return { cells: board, word: drawn(board, word >> 2, bits), state: next, cell, pays: this.pays(card) };
  }

  // Cards from the deck in 9 of 16 cells.
  begin(state) {
    let [cells, word, bits] = [this.empty, 0, 0n];
    for (let n = (9 * cells.length) >> 4; n > 0; n--) {
      [state, bits] = draw(state);
      word = drawn([0], word >> 2, bits);
      [state, bits] = draw(state);
      ({ cells } = this.place(cells, bits, (word & 3) + 1));
    }
    [state, bits] = draw(state);
    return { cells, word: drawn([0], word >> 2, bits), state };
  }

  possible(cells) {
    if (cells.some((exponent) => exponent)) return cells;
    throw new Error("a game has tiles on its board, at any time");
  }
}

// How many kinds of bonus card may come: none below a 48.
function bonusKinds(cells) {
  const largest = Math.max(...cells);
  return largest >= FIRST_BONUS + BONUS_GAP ? largest - BONUS_GAP - 3 : 0;
}

// Draw the next card of a deck, an empty one dealt anew; return the word then.
function drawn(cells, deck, bits) {
  if (bonusKinds(cells) && below(bits, BONUS_IN) === 0) return BONUS | (deck << 2);
  const full = deck || FULL;
  const left = [0, 3, 6].map((at) => (full >> at) & 7);
  let card = 0;
  let rank = alsoBelow(bits, left[0] + left[1] + left[2]);
  for (; rank >= left[card]; card++) rank -= left[card];
  return card | ((full - (1 << (3 * card))) << 2);
}
