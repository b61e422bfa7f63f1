// An endgame of 2048: its large tiles stand, and it is won as soon as the target does.  What Python tells
// of it, see `Narrow` in game.py, has `walls`, the board of the large tiles, and `target`, an exponent.

import { ACTIONS, Rules } from "./game.js";

export class Endgame extends Rules {
  constructor(told) {
    super(told);
    this.large = this.fromHex(told.walls);
    this.unit = "chance";
  }

  get how() {
    return `Make a ${this.tiles[this.target]}. The large tiles stand: no action may move one.`;
  }

  keeps(cells) {
    return this.large.every((exponent, cell) => !exponent || cells[cell] === exponent);
  }

  hasWon(cells) {
    return cells.some((exponent, cell) => exponent >= this.target && !this.large[cell]);
  }

  slides(cells, action) {
    return !this.hasWon(cells) && super.slides(cells, action) && this.keeps(this.slide(cells, action).cells);
  }

  next(here, action) {
    return this.slides(here.cells, action) ? super.next(here, action) : null;
  }

  why(action, cells) {
    const large = super.slides(cells, action);
    return large ? `${ACTIONS[action]} would move a large tile, and those stand.` : super.why(action);
  }

  ending(cells) {
    const target = this.tiles[this.target];
    return this.hasWon(cells) ? [`★ ${target}`, `A ${target} stands: you made it.`]
      : ["Lost", "Lost: no action is left that keeps the large tiles where they are."];
  }

  begin(state) {
    const { cells, word, state: next } = this.spawn(this.spawn({ cells: this.large, state }));
    return { cells, word, state: next };
  }

  // A position that somebody typed has the same large tiles, and room for no others.
  possible(cells) {
    if (!this.keeps(cells)) throw new Error("the large tiles of this endgame stand where they are");
    if (this.hasWon(cells)) throw new Error(`beside the large tiles all are smaller than ${this.tiles[this.target]}`);
    return super.possible(cells);
  }
}
