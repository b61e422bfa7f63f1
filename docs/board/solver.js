// Small boards solved in a page: every state, what optimal play and another way to play are worth there, and
// the odds of each tile.  The same backward induction as in lib2048.exact: layers of one tile sum, from the
// last to the first; a test in node compares the numbers.

const TIE = 1e-14; // of a preference's size: two that differ by less are equal but for rounding
const NEAR = 1e-12; // the same where two numbers are compared to be marked
const FIRST = 8; // the smallest tile whose odds are told
const BITS = 3; // of a cell: boards of at most six cells hold no tile above 2^7

// What another way to play is called, and in few letters.
const WAYS = {
  random: { name: "random play", short: "random" },
  greedy: { name: "greedy play", short: "greedy" },
};

export class Solved {
  // rules: a `Rules` of at most six cells; four: the chance of a 4; way: "random" or "greedy".
  constructor(rules, four, way) {
    const { length } = rules.cells;
    if (length > 6) throw new Error(`${rules.name} is too large to be solved in a page`);
    Object.assign(this, { rules, way, chances: [1 - four, four] });
    this.images = imagesOf(rules);
    this.tiles = Array.from({ length: length - 1 }, (_, n) => FIRST * 2 ** n);
    this.width = 2 + 2 * this.tiles.length; // numbers kept of a board: two values, and each tile's odds
    this.enumerate();
    this.backUp();
  }

  // What a widget has to know: its trait.
  get about() {
    const { rules: { name, rules, rows, columns, fours, tiles, shown }, start } = this;
    return { game: { name, rules, rows, columns, fours, tiles, shown }, ...WAYS[this.way],
      tiles: this.tiles, best: start[0], own: start[1] };
  }

  // ---- boards as numbers

  codeOf(cells) {
    return cells.reduce((code, exponent, cell) => code | (exponent << (BITS * cell)), 0);
  }

  cellsOf(code) {
    return this.rules.cells.map((cell) => (code >> (BITS * cell)) & 7);
  }

  // The smallest number of a board's images: one stands for all.
  nameOf(cells) {
    return Math.min(...this.images.map((image) => this.codeOf(image.map((cell) => cells[cell]))));
  }

  // ---- which boards there are

  // Fill the layers {states, afterstates} by tile sum, each a map from a board's name to a board: {cells,
  // actions or spawns, worth}.
  enumerate() {
    const { rules } = this;
    this.layers = new Map();
    this.begins = [];
    const pairs = rules.cells.flatMap((one) => rules.cells.slice(one + 1).map((other) => [one, other]));
    for (const [one, other] of pairs) {
      for (const first of [1, 2]) {
        for (const second of [1, 2]) {
          const cells = rules.empty;
          [cells[one], cells[other]] = [first, second];
          const chance = (this.chances[first - 1] * this.chances[second - 1]) / pairs.length;
          this.begins.push([this.state(cells, 2 ** first + 2 ** second), chance]);
        }
      }
    }
    for (let sum = 4; this.layers.size && sum <= Math.max(...this.layers.keys()); sum += 2) {
      for (const state of this.layer(sum).states.values()) {
        state.actions = this.actionsOf(state.cells).map((action) => this.acted(state.cells, action, sum));
      }
      for (const after of this.layer(sum).afterstates.values()) {
        after.spawns = this.spawnsOf(after.cells).map(({ cells, exponent, chance }) =>
          ({ chance, state: this.state(cells, sum + 2 ** exponent) }));
      }
    }
  }

  layer(sum) {
    if (!this.layers.has(sum)) this.layers.set(sum, { states: new Map(), afterstates: new Map() });
    return this.layers.get(sum);
  }

  kept(boards, cells) {
    const name = this.nameOf(cells);
    if (!boards.has(name)) boards.set(name, { cells, worth: null });
    return boards.get(name);
  }

  state(cells, sum) {
    return this.kept(this.layer(sum).states, cells);
  }

  acted(cells, action, sum) {
    const { cells: after, reward } = this.rules.slide(cells, action);
    return { reward, after: this.kept(this.layer(sum).afterstates, after) };
  }

  actionsOf(cells) {
    return this.rules.legalActions(cells);
  }

  // What luck may put into a board: [{cell, exponent, chance, cells}].
  spawnsOf(cells) {
    const empty = this.rules.cells.filter((cell) => !cells[cell]);
    return empty.flatMap((cell) => this.chances.map((chance, n) =>
      ({ cell, exponent: n + 1, chance: chance / empty.length, cells: Object.assign([...cells], { [cell]: n + 1 }) }))
      .filter(({ chance }) => chance));
  }

  // ---- what they are worth: [by optimal play, by the other, odds of each tile by both, tile by tile]

  backUp() {
    const sums = [...this.layers.keys()].sort((a, b) => b - a);
    for (const sum of sums) {
      for (const after of this.layer(sum).afterstates.values()) {
        this.weigh(after, after.spawns.map(({ chance, state }) => [chance, chance, 0, state]));
      }
      for (const state of this.layer(sum).states.values()) {
        const [best, own] = this.shares(state.actions);
        this.weigh(state, state.actions.map(({ reward, after }, n) => [best[n], own[n], reward, after]));
      }
    }
    this.start = [0, 1].map((kind) => this.begins.reduce((sum, [{ worth }, chance]) => sum + chance * worth[kind], 0));
  }

  // How likely optimal play, and the other, take each of some actions: equal ones share.
  shares(actions) {
    const best = sharing(actions.map(({ reward, after }) => reward + after.worth[0]));
    const own = sharing(actions.map(({ reward }) => (this.way === "greedy" ? reward : 0)));
    return [best, own];
  }

  // Work out what a board is worth from what may follow: [share by optimal play, by the other, reward, board].
  weigh(board, following) {
    const worth = new Float64Array(this.width);
    for (const [best, own, reward, { worth: later }] of following) {
      worth[0] += best * (reward + later[0]);
      worth[1] += own * (reward + later[1]);
      for (let k = 2; k < this.width; k += 2) {
        worth[k] += best * later[k];
        worth[k + 1] += own * later[k + 1];
      }
    }
    const most = 2 ** Math.max(...board.cells);
    this.tiles.forEach((tile, n) => most >= tile && worth.fill(1, 2 + 2 * n, 4 + 2 * n));
    board.worth = worth;
  }

  // ---- questions

  // Return all that is known of a state, as SmallBoardWidget has it; board: hexadecimal digits.
  seen(board) {
    const { rules } = this;
    const cells = rules.fromHex(board);
    const sum = cells.reduce((all, exponent) => all + rules.tiles[exponent], 0);
    const state = this.layers.get(sum)?.states.get(this.nameOf(cells));
    if (!state) throw new Error(`${rules.inWords(cells)} is no state of ${rules.name} that a start leads to.`);
    const legal = this.actionsOf(cells);
    const options = legal.map((action) => ({ action, ...this.acted(cells, action, sum) }));
    const [best, own] = this.shares(options);
    const most = Math.max(...options.map(({ reward, after }) => reward + after.worth[1]));
    const actions = options.map(({ action, reward, after }, n) => {
      const { cells: there } = rules.slide(cells, action);
      return { action, reward, board: rules.toHex(there), ...this.worthOf(after), optimal: best[n] > 0,
        own_best: reward + after.worth[1] >= most - NEAR * Math.abs(most), chance: own[n],
        spawns: this.spawns(there, sum) };
    });
    return { ...this.worthOf(state), actions };
  }

  worthOf({ worth }) {
    const odds = (first) => this.tiles.map((_, n) => worth[first + 2 * n]);
    return { best: worth[0], own: worth[1], odds: { best: odds(2), own: odds(3) } };
  }

  spawns(after, sum) {
    return this.spawnsOf(after).map(({ cell, exponent, chance, cells }) => {
      const { worth: [best, own] } = this.state(cells, sum + 2 ** exponent);
      return { cell, exponent, chance, board: this.rules.toHex(cells), best, own };
    });
  }
}

// Shares of what is preferred: the largest and its equals share 1.
function sharing(preferences) {
  const most = Math.max(...preferences);
  const best = preferences.map((number) => number >= most - TIE * Math.abs(most));
  const ties = best.filter(Boolean).length;
  return best.map((one) => (one ? 1 / ties : 0));
}

// A board's symmetric images, as where each cell comes from: four, eight of a square.
function imagesOf({ rows, columns, cells }) {
  const at = (row, column) => columns * row + column;
  const place = (cell) => [Math.floor(cell / columns), cell % columns];
  const flips = [0, 1].flatMap((down) => [0, 1].map((across) => cells.map((cell) => {
    const [row, column] = place(cell);
    return at(down ? rows - 1 - row : row, across ? columns - 1 - column : column);
  })));
  if (rows !== columns) return flips;
  return [...flips, ...flips.map((image) => image.map((cell) => at(...place(cell).reverse())))];
}
