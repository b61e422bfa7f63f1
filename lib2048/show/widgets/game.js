// The rules of 2048 as pure functions, with the library's own luck: the same seed and the same
// actions give the same game here and in lib2048 (tests/test_game_js.py plays both).
//
// A board is an array of 16 exponents, row by row: 0 is empty, 1 is a 2, 11 is a 2048.  An action
// is 0..3: Up, Right, Down, Left.  A random state is a BigInt of 64 bits.

export const ACTIONS = ["Up", "Right", "Down", "Left"];
export const FOUR_CHANCE = SPEC.FOUR_CHANCE; // SPEC is what Python says, see base.py
export const FOUR_THRESHOLD = SPEC.FOUR_THRESHOLD; // the same, of 2^32
export const LARGEST = 15; // two 32768 do not merge: the library keeps a cell in four bits
const CELLS = [...Array(16).keys()];

// ---------------------------------------------------------------- luck
// SplitMix64, as in game/rng.py.

const GOLDEN = 0x9e3779b97f4a7c15n;
const bits64 = (number) => BigInt.asUintN(64, number);

function mix(z) {
  z = bits64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = bits64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

// The random state with which game `number` of `seed` begins; both any integers.
export function stream(seed, number) {
  const ours = mix(bits64(bits64(BigInt(seed)) + GOLDEN));
  return mix(ours ^ mix(bits64(bits64(BigInt(number)) * GOLDEN)));
}

// [next state, 64 random bits]
function draw(state) {
  state = bits64(state + GOLDEN);
  return [state, mix(state)];
}

// ---------------------------------------------------------------- boards as text

// A board as 16 hexadecimal digits, the last cell first: the digits of the library's integer.
export function toHex(cells) {
  return cells.map((exponent) => exponent.toString(16)).reverse().join("");
}

export function fromHex(text) {
  return [...text.padStart(16, "0")].reverse().map((digit) => parseInt(digit, 16));
}

export const tileOf = (exponent) => (exponent ? 2 ** exponent : 0);

// A board in words, row by row, for those who do not see it.
export function inWords(cells, columns = 4) {
  const firsts = [...cells.keys()].filter((cell) => cell % columns === 0);
  const rows = firsts.map((first) => cells.slice(first, first + columns));
  return rows.map((row) => row.map((exponent) => tileOf(exponent) || "empty").join(" ")).join(", ");
}

export function placeInWords(cell, columns = 4) {
  return `row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}`;
}

// ---------------------------------------------------------------- sliding and spawning

const lineFrom = (first, step) => [0, 1, 2, 3].map((i) => first + i * step);
const LINES = [ // of each action: four lines of cells, the cell at the edge first
  [0, 1, 2, 3].map((column) => lineFrom(column, 4)),
  [0, 1, 2, 3].map((row) => lineFrom(4 * row + 3, -1)),
  [0, 1, 2, 3].map((column) => lineFrom(12 + column, -4)),
  [0, 1, 2, 3].map((row) => lineFrom(4 * row, 1)),
];

// Slide a board: {cells, reward, travels}; a travel is {from, to, merges}.
// An action that changes nothing is not legal; `slides` says so.
export function slide(cells, action) {
  const after = Array(16).fill(0);
  const travels = [];
  let reward = 0;
  for (const line of LINES[action]) {
    let filled = 0;
    let open = false; // whether the tile that came last may still merge
    for (const from of line.filter((cell) => cells[cell])) {
      const last = line[filled - 1];
      const merges = open && after[last] === cells[from] && cells[from] < LARGEST;
      const to = merges ? last : line[filled++];
      after[to] = cells[from] + merges;
      reward += merges ? tileOf(after[to]) : 0;
      open = !merges;
      travels.push({ from, to, merges });
    }
  }
  return { cells: after, reward, travels };
}

export function slides(cells, action) {
  return slide(cells, action).travels.some(({ from, to }) => from !== to);
}

export function legalActions(cells) {
  return [0, 1, 2, 3].filter((action) => slides(cells, action));
}

export const isOver = (cells) => legalActions(cells).length === 0;

// Put a 2, or now and then a 4, into an empty cell: {cells, state, cell}.
export function spawn(cells, state) {
  const [next, bits] = draw(state);
  const empty = CELLS.filter((cell) => cells[cell] === 0);
  const cell = empty[Number(((bits >> 32n) * BigInt(empty.length)) >> 32n)];
  const board = [...cells];
  board[cell] = (bits & 0xffffffffn) < BigInt(FOUR_THRESHOLD) ? 2 : 1;
  return { cells: board, state: next, cell };
}

// Begin a game: {cells, state}.
export function initial(state) {
  const first = spawn(Array(16).fill(0), state);
  return spawn(first.cells, first.state);
}

// ---------------------------------------------------------------- a game

// A game is what was decided: {seed, number, start, actions, helped}; boards, score, luck follow.
// seed: a whole number as text; start: a board as hexadecimal digits where it did not begin as the
// seed says; actions: a text of digits 0..3; helped: whether a player took some of them.
export class Game {
  constructor({ seed = "1", number = 0, start = null, actions = "", helped = false } = {}) {
    Object.assign(this, { seed, number, start, helped });
    const state = stream(seed, number);
    const { cells, state: next } = start ? { cells: fromHex(start), state } : initial(state);
    this.turns = [{ cells, state: next, score: 0 }]; // the last one is where the game stands
    [...actions].forEach((action) => this.act(Number(action)));
  }

  get here() {
    return this.turns[this.turns.length - 1];
  }

  get length() {
    return this.turns.length - 1;
  }

  get largest() {
    return tileOf(Math.max(...this.here.cells));
  }

  get actions() {
    return this.turns.slice(1).map((turn) => turn.action).join("");
  }

  get decisions() {
    const { seed, number, start, actions, helped } = this;
    return { seed, number, start, actions, helped };
  }

  // Take an action; return the turn, or null where it is not legal.
  act(action) {
    const turn = next(this.here, action);
    if (turn) this.turns.push(turn);
    return turn;
  }

  // Take the last action back; the same action will meet the same spawn again.
  undo() {
    return this.length ? this.turns.pop() : null;
  }
}

// What an action makes of {cells, state, score}: the same and how it came about, or null.
export function next({ cells, state, score }, action) {
  const { cells: after, reward, travels } = slide(cells, action);
  if (travels.every(({ from, to }) => from === to)) return null;
  const spawned = spawn(after, state);
  return { ...spawned, score: score + reward, action, reward, travels, after };
}

// ---------------------------------------------------------------- positions that people type

// Read a position to which a game can come; see `readBoard`.
export const readPosition = (text) => possible(readBoard(text));

// Read a board: 16 tiles with anything between them, or the library's integer.
// Returns the cells; throws an Error that says in words what is wrong.
export function readBoard(text) {
  const plain = text.trim().replace(/^(np\.)?uint64\((.*)\)$/, "$2");
  const packed = /^(0x[0-9a-f]+|\d+)$/i.test(plain) ? BigInt(plain) : null;
  if (packed !== null && packed >> 64n === 0n) return fromHex(packed.toString(16));
  return readCells(plain, 16);
}

// Read so many tiles with anything between them; see `readBoard`.
export function readCells(text, count, columns = 4) {
  const words = text.split(/[\s,;|/[\]()]+/).filter((word) => word !== "");
  const place = (n) => (words.length === count ? ` (${placeInWords(n, columns)})` : "");
  const cells = words.map((word, n) => exponentOf(word, count, place(n)));
  const off = Math.abs(cells.length - count);
  if (!off) return cells;
  throw new Error(`a board has ${count} cells, and here are ${cells.length}: ${off} too ` +
    (cells.length > count ? "many" : "few"));
}

function exponentOf(word, count, place) {
  if (["0", ".", "-", "_"].includes(word)) return 0;
  const largest = Math.min(LARGEST, count + 1); // of 4s alone, each in a cell of its own
  const exponent = Math.log2(Number(word));
  const other = [...word].find((character) => !/\d/.test(character));
  const whole = Number.isInteger(exponent) && exponent >= 1;
  if (!other && whole && exponent <= largest) return exponent;
  const shown = word.length > 20 ? `${word.slice(0, 20)}…` : word;
  const tiles = `2, 4, 8 … ${tileOf(largest)}`;
  const why = other ? `${other} is no digit` : whole
    ? `the largest on a board of ${count} cells is ${tileOf(largest)}`
    : `tiles are ${tiles}, and 0 is an empty cell`;
  throw new Error(`${shown} is not a tile${place}: ${why}`);
}

// Return the cells; throw an Error where no game can come to such a board.
export function possible(cells) {
  const tiles = cells.filter((exponent) => exponent).sort((a, b) => b - a);
  if (tiles.length < 2) throw new Error("a game has at least two tiles on its board, at any time");
  if (tiles[tiles.length - 1] > 2) {
    throw new Error("no 2 and no 4: the tile that came last is missing");
  }
  const tight = tiles.findIndex((exponent, larger) => exponent > cells.length + 1 - larger);
  if (tight < 0) return cells;
  throw new Error(
    `too many large tiles: beside ${tight} as large, there was no room to make another ` +
      `${tileOf(tiles[tight])}`,
  );
}
