// The game at full speed: a board as four rows of 16 bits, each row slid by a table.  The tables are
// made in some milliseconds; game.js has the same rules to be read, and a test compares all rows.  A
// seed gives the same games as there and as in lib2048.

import { LARGEST, WHOLE } from "../../lib2048/show/widgets/game.js";
import { Luck } from "./luck.js";

const ROWS = 65536;
const TURN = 7; // numbers that `Quick` keeps of a turn
const LARGE = 2 << LARGEST; // a 65536, which four bits do not hold: a 15 on the board, see `top`

// What sliding makes of each row: {left, right: the row, reward: the points, the same both ways}.
// apart: whether two of the largest stay apart, as they do beside a 65536.
function rowTables(apart) {
  const [left, right, reward] = [new Uint16Array(ROWS), new Uint16Array(ROWS), new Int32Array(ROWS)];
  for (let row = 0; row < ROWS; row++) {
    left[row] = slideLeft(row, reward, apart);
    right[mirrored(row)] = mirrored(left[row]);
  }
  return { left, right, reward };
}

const mirrored = (row) => (row >> 12) | ((row >> 4) & 0xf0) | ((row & 0xf0) << 4) | ((row & 15) << 12);

// Slide a row towards its lowest bits; what merges is added to the row's reward.
function slideLeft(row, reward, apart) {
  let slid = 0;
  let filled = 0;
  let last = 0; // the tile that may still merge, 0 for none
  for (let rest = row; rest; rest >>= 4) {
    const tile = rest & 15;
    if (!tile) continue;
    if (tile === last && !(apart && tile === LARGEST)) {
      slid += tile < LARGEST ? 1 << (4 * (filled - 1)) : 0;
      reward[row] += 2 << tile;
      last = 0;
    } else {
      slid |= tile << (4 * filled++);
      last = tile;
    }
  }
  return slid;
}

// Four rows of four exponents, the first in the lowest bits, as 16 exponents.
function cellsOf(rows) {
  return Array.from({ length: 16 }, (_, cell) => (rows[cell >> 2] >> (4 * (cell & 3))) & 15);
}

// The same with the 65536 in its cell, −1 for none.
function withTop(cells, top) {
  if (top >= 0) cells[top] = LARGEST + 1;
  return cells;
}

function turned(from, to) {
  for (let i = 0; i < 4; i++) {
    const at = 4 * i;
    to[i] = ((from[0] >> at) & 15) | (((from[1] >> at) & 15) << 4) |
      (((from[2] >> at) & 15) << 8) | (((from[3] >> at) & 15) << 12);
  }
}

let [merging, apart] = [null, null]; // tables, made when they are first needed

// A game, and the four afterstates of where it stands.
export class Quick {
  // seed: a whole number as text; number: of the game.
  constructor(seed, number) {
    merging ??= rowTables(false);
    Object.assign(this, { seed, number, luck: Luck.of(seed, number), score: 0, past: [] });
    this.top = -1; // the cell of the 65536
    this.rows = new Int32Array(4);
    this.columns = new Int32Array(4);
    // Up and Down are kept as columns: a network gives a board and its mirror image one value.
    this.after = [0, 1, 2, 3].map(() => new Int32Array(4));
    this.rewards = new Int32Array(4); // −1 for an action that is not legal
    this.spawned = this.spawn();
    this.spawned = this.spawn();
    this.look();
  }

  get cells() {
    return withTop(cellsOf(this.rows), this.top);
  }

  get length() {
    return this.past.length / TURN;
  }

  get largest() {
    return 2 ** Math.max(...this.cells);
  }

  get over() {
    const { rewards } = this;
    return rewards[0] < 0 && rewards[1] < 0 && rewards[2] < 0 && rewards[3] < 0;
  }

  // Work out where the four actions lead.
  look() {
    const tables = this.top < 0 ? merging : (apart ??= rowTables(true));
    turned(this.rows, this.columns);
    this.lookAlong(0, this.columns, tables.left, tables.reward);
    this.lookAlong(1, this.rows, tables.right, tables.reward);
    this.lookAlong(2, this.columns, tables.right, tables.reward);
    this.lookAlong(3, this.rows, tables.left, tables.reward);
  }

  lookAlong(action, lines, slid, pays) {
    const after = this.after[action];
    let changed = 0;
    let reward = 0;
    for (let i = 0; i < 4; i++) {
      const line = lines[i];
      after[i] = slid[line];
      changed |= after[i] ^ line;
      reward += pays[line];
    }
    this.rewards[action] = changed ? reward : -1;
  }

  // Take an action and let a tile spawn; return its points, or −1 where it is not legal.
  act(action) {
    const reward = this.rewards[action];
    if (reward < 0) return -1;
    const { rows, luck } = this;
    this.past.push(rows[0] | (rows[1] << 16), rows[2] | (rows[3] << 16), luck.high, luck.low,
      this.score, action, this.top);
    if (reward >= LARGE || this.top >= 0) this.top = WHOLE.slide(this.cells, action).cells.indexOf(LARGEST + 1);
    if (action & 1) rows.set(this.after[action]);
    else turned(this.after[action], rows);
    this.score += reward;
    this.spawned = this.spawn();
    this.look();
    return reward;
  }

  // Put a tile into an empty cell; return that cell.
  spawn() {
    const { rows, luck } = this;
    let empty = 0;
    for (let cell = 0; cell < 16; cell++) empty += !((rows[cell >> 2] >> (4 * (cell & 3))) & 15);
    luck.draw();
    let skip = luck.choose(empty);
    let cell = 0;
    while ((rows[cell >> 2] >> (4 * (cell & 3))) & 15 || skip-- > 0) cell++;
    rows[cell >> 2] |= luck.tile() << (4 * (cell & 3));
    return cell;
  }

  // Take the last action back; the same action will meet the same tile again.  Returns whether
  // there was one.
  undo() {
    if (!this.past.length) return false;
    const [north, south, high, low, score, , top] = this.past.splice(-TURN);
    this.stand(north, south, top);
    Object.assign(this.luck, { high, low });
    Object.assign(this, { score, spawned: null });
    return true;
  }

  // Put a board there, given as its upper and its lower half and the cell of its 65536.
  stand(north, south, top = -1) {
    this.top = top;
    this.rows.set([north & 0xffff, north >>> 16, south & 0xffff, south >>> 16]);
    this.look();
  }

  // A turn of the past: {cells, action, score: before it}, and its board as `stand` takes it.
  turn(n) {
    const [north, south, , , score, action, top] = this.past.slice(TURN * n, TURN * (n + 1));
    const cells = cellsOf([north & 0xffff, north >>> 16, south & 0xffff, south >>> 16]);
    return { cells: withTop(cells, top), action, score, north, south, top };
  }

  // The game as it stood before a turn, to be played on: the same action meets the same tile there.
  from(n) {
    const game = new Quick(this.seed, this.number);
    game.past = this.past.slice(0, TURN * (n + 1));
    game.undo();
    return game;
  }
}
