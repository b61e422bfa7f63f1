// The rules of 2048 on any board and with any odds, with the library's own luck: the same seed and the
// same actions give the same game here and in lib2048 (tests/test_game_js.py plays both).
//
// A board is an array of exponents, row by row, of as many cells as its game has: 0 is empty, 1 is a 2,
// 11 is a 2048.  An action is 0..3: Up, Right, Down, Left.  A random state is a BigInt of 64 bits.

export const ACTIONS = ["Up", "Right", "Down", "Left"];
export const LARGEST = 15; // the largest exponent in a cell of the library's, which has four bits
const BEYOND = LARGEST + 1; // a 65536: there it is a 15 whose cell the word of the state says

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
export function draw(state) {
  state = bits64(state + GOLDEN);
  return [state, mix(state)];
}

// One of n numbers, 0 … n − 1, by the upper half of 64 random bits.
export const below = (bits, n) => Number(((bits >> 32n) * BigInt(n)) >> 32n);

// The same by their lower half.
export const alsoBelow = (bits, n) => below(bits64(bits << 32n), n);

// ---------------------------------------------------------------- the rules

// The cells that an action slides along, a line each, the cell at the edge first.
function linesOf(rows, columns, action) {
  const upright = action % 2 === 0;
  const back = action === 1 || action === 2;
  const [count, length] = upright ? [columns, rows] : [rows, columns];
  return Array.from({ length: count }, (_, line) => {
    const at = (i) => (upright ? columns * i + line : columns * line + i);
    return Array.from({ length }, (_, i) => at(back ? length - 1 - i : i));
  });
}

// A game as it is played here.  What another game does otherwise, it says in a class of its own.
export class Rules {
  // told: {name, rules, rows, columns, fours, tiles, shown}, see `told` in game.py: fours is the number
  // that 32 random bits fall below where a 4 spawns; tiles are what is written on each exponent's; shown
  // is what the lowest two bits of a word say, [] for nothing.
  constructor(told) {
    Object.assign(this, { unit: "points" }, told); // what players count in
    this.cells = [...Array(this.rows * this.columns).keys()];
    this.lines = [0, 1, 2, 3].map((action) => linesOf(this.rows, this.columns, action));
  }

  get empty() {
    return this.cells.map(() => 0);
  }

  // How to play, in words.
  get how() {
    return "Slide the tiles: two equal ones merge.";
  }

  // Why an action is not taken, in words.
  why(action) {
    return `${ACTIONS[action]} changes nothing: it is not legal, and no tile spawns.`;
  }

  // What there is to say at the end of a game: on the board, and below it.
  ending() {
    return ["Game over", "The game is over: no action is legal."];
  }

  // ---- sliding and spawning

  // What two tiles that meet become: an exponent, or 0 where they do not merge.
  merged(one, other) {
    return one === other && one < this.tiles.length - 1 ? one + 1 : 0;
  }

  // Slide a board: {cells, reward, travels}; a travel is {from, to, merges}.
  // An action that changes nothing is not legal; `slides` says so.  Beside a 65536 two 32768 stay apart,
  // and of two that one action makes the second is a 32768: the library keeps only one.
  slide(cells, action) {
    const after = this.empty;
    const apart = cells.includes(BEYOND);
    const travels = [];
    let reward = 0;
    for (const line of this.lines[action]) {
      let filled = 0;
      let open = false; // whether the tile that came last may still merge
      for (const from of line.filter((cell) => cells[cell])) {
        const last = line[filled - 1];
        const meets = open && !(apart && cells[from] === LARGEST);
        const made = meets ? this.merged(after[last], cells[from]) : 0;
        const to = made ? last : line[filled++];
        after[to] = made || cells[from];
        reward += made ? this.tiles[made] : 0;
        open = !made;
        travels.push({ from, to, merges: made > 0 });
      }
    }
    const first = after.indexOf(BEYOND);
    return { cells: after.map((e, cell) => (e === BEYOND && cell !== first ? LARGEST : e)), reward, travels };
  }

  slides(cells, action) {
    return this.slide(cells, action).travels.some(({ from, to }) => from !== to);
  }

  legalActions(cells) {
    return [0, 1, 2, 3].filter((action) => this.slides(cells, action));
  }

  isOver(cells) {
    return this.legalActions(cells).length === 0;
  }

  // Put a 2 or, with the game's chance, a 4 into an empty cell of {cells, state}; the same and the cell.
  spawn({ cells, state }) {
    const [next, bits] = draw(state);
    const exponent = (bits & 0xffffffffn) < BigInt(this.fours) ? 2 : 1;
    return { ...this.place(cells, bits, exponent), word: this.wordOf(cells), state: next, pays: 0 };
  }

  // Put a tile into an empty cell by 64 random bits: {cells, cell}.
  place(cells, bits, exponent) {
    const empty = this.cells.filter((cell) => cells[cell] === 0);
    const cell = empty[below(bits, empty.length)];
    const board = [...cells];
    board[cell] = exponent;
    return { cells: board, cell };
  }

  // What a board's tiles are worth where that is what a score counts.
  points() {
    return 0;
  }

  // Begin a game: {cells, word, state}; the word is what a game remembers beside its tiles.
  begin(state) {
    const { cells, word, state: next } = this.spawn(this.spawn({ cells: this.empty, state }));
    return { cells, word, state: next };
  }

  // Begin a game at a board that `toWhole` wrote, else as another has begun.
  from(text, begun, state) {
    const cells = this.fromHex(text);
    return { ...begun, cells, word: this.wordOf(cells) || begun.word, state };
  }

  // What an action makes of {cells, word, state, score}: the same and how it came about, or null.
  next({ cells, word, state, score }, action) {
    const { cells: after, reward, travels } = this.slide(cells, action);
    if (travels.every(({ from, to }) => from === to)) return null;
    const spawned = this.spawn({ cells: after, word, state, action, travels });
    return { ...spawned, score: score + reward + spawned.pays, action, reward, travels, after };
  }

  // What `next` says of an action that led from one known board to another; null where the tiles
  // cannot be told to have travelled so.
  between(before, action, cells) {
    const { travels, cells: after } = this.slide(before, action);
    const cell = cells.findIndex((exponent, cell) => exponent !== after[cell]);
    const strange = after.some((exponent, at) => exponent !== cells[at] && at !== cell);
    return strange || cell < 0 ? null : { cells, travels, cell };
  }

  // ---- boards as text

  // A board as 16 hexadecimal digits, the last cell first: the digits of the library's integer, which
  // has a smaller board in the upper left corner of 4×4.
  toHex(cells) {
    const whole = Array(16).fill(0);
    this.inFourBits(cells).forEach((exponent, cell) => (whole[this.packed(cell)] = exponent));
    return whole.map((exponent) => exponent.toString(16)).reverse().join("");
  }

  // The same with the word before it where there is a 65536: `board.whole` of the library.
  toWhole(cells) {
    return (this.wordOf(cells) || "").toString(16) + this.toHex(cells);
  }

  // What the library's word says of a board of 2048: where its 65536 stands, from 1 on, or 0.
  wordOf(cells) {
    const cell = cells.indexOf(BEYOND);
    return cell < 0 ? 0 : 1 + this.packed(cell);
  }

  // Read either; word: of the state, which only 2048 asks for.
  fromHex(text, word = parseInt(text.slice(0, -16) || "0", 16)) {
    const digits = text.slice(-16).padStart(16, "0");
    const whole = [...digits].reverse().map((digit) => parseInt(digit, 16));
    if (word && this.tiles.length > BEYOND) whole[word - 1] = BEYOND;
    return this.cells.map((cell) => whole[this.packed(cell)]);
  }

  // A board as networks and searches see it: a 32768 where a 65536 stands.
  inFourBits(cells) {
    return cells.map((exponent) => Math.min(exponent, LARGEST));
  }

  // The number of a cell in the library's integer, and back.
  packed(cell) {
    return 4 * Math.floor(cell / this.columns) + (cell % this.columns);
  }

  cellOf(packed) {
    return this.columns * (packed >> 2) + (packed & 3);
  }

  // A board in words, row by row, for those who do not see it.
  inWords(cells) {
    const word = (cell) => this.tiles[cells[cell]] || "empty";
    return this.lines[3].map((row) => row.map(word).join(" ")).join(", ");
  }

  placeInWords(cell) {
    return `row ${Math.floor(cell / this.columns) + 1}, column ${(cell % this.columns) + 1}`;
  }

  // ---- positions that people type

  // Read a position to which a game can come; see `readBoard`.
  readPosition(text) {
    return this.possible(this.readBoard(text));
  }

  // Read a board: its tiles with anything between them, or the library's integer.
  // Returns the cells; throws an Error that says in words what is wrong.
  readBoard(text) {
    const plain = text.trim().replace(/^(np\.)?uint64\((.*)\)$/, "$2");
    const packed = /^(0x[0-9a-f]+|\d+)$/i.test(plain) ? BigInt(plain) : null;
    if (packed === null || packed >> 69n !== 0n) return this.readCells(plain);
    const digits = packed.toString(16).padStart(16, "0");
    const cells = this.fromHex(digits);
    if (this.toWhole(cells) === digits) return cells;
    throw new Error(`${plain} is no board of ${this.rows}×${this.columns} cells`);
  }

  // Read the tiles of all cells, with anything between them.
  readCells(text) {
    const { length: count } = this.cells;
    const words = text.split(/[\s,;|/[\]()]+/).filter((word) => word !== "");
    const place = (n) => (words.length === count ? ` (${this.placeInWords(n)})` : "");
    const cells = words.map((word, n) => this.exponentOf(word, place(n)));
    const off = Math.abs(cells.length - count);
    if (!off) return cells;
    throw new Error(`a board has ${count} cells, and here are ${cells.length}: ${off} too ` +
      (cells.length > count ? "many" : "few"));
  }

  // The largest exponent that a game can come to: where the last tile may be a 4, one more than cells.
  get largest() {
    return Math.min(this.tiles.length - 1, this.cells.length + (this.fours > 0));
  }

  exponentOf(word, place) {
    if (["0", ".", "-", "_"].includes(word)) return 0;
    const { largest, tiles } = this;
    const other = [...word].find((character) => !/\d/.test(character));
    const exponent = other ? -1 : tiles.indexOf(Number(word));
    if (exponent > 0 && exponent <= largest) return exponent;
    const shown = word.length > 20 ? `${word.slice(0, 20)}…` : word;
    const some = `${tiles.slice(1, 4).join(", ")} … ${tiles[largest]}`;
    const why = other ? `${other} is no digit` : Number(word) > tiles[largest]
      ? `the largest on a board of ${this.cells.length} cells is ${tiles[largest]}`
      : `tiles are ${some}, and 0 is an empty cell`;
    throw new Error(`${shown} is not a tile${place}: ${why}`);
  }

  // Return the cells; throw an Error where no game can come to such a board.
  possible(cells) {
    const tiles = cells.filter((exponent) => exponent).sort((a, b) => b - a);
    if (tiles.length < 2) throw new Error("a game has at least two tiles on its board, at any time");
    if (tiles[tiles.length - 1] > 2) {
      throw new Error("no 2 and no 4: the tile that came last is missing");
    }
    if (tiles[1] === BEYOND) throw new Error("a board holds one 65536 at most");
    const top = cells.length + (this.fours > 0); // not `largest`: the library has no larger tile
    const tight = tiles.findIndex((exponent, larger) => exponent > top - larger);
    if (tight < 0) return cells;
    throw new Error(
      `too many large tiles: beside ${tight} as large, there was no room to make another ` +
        `${this.tiles[tiles[tight]]}`,
    );
  }
}

export const WHOLE = new Rules(SPEC); // 2048 on 4×4; SPEC is what Python says, see base.py

// ---------------------------------------------------------------- a game

// By whom an action was: by hand, with a hint on the board, a player's.
export const OWN = "0";
export const HINTED = "1";
export const PLAYERS = "2";

// A game is what was decided: {seed, number, start, actions, by}; boards, score, luck follow.
// seed: a whole number as text; start: a board as hexadecimal digits where it did not begin as the
// seed says; actions: a text of digits 0..3; by: another, whose each of them was.
export class Game {
  constructor(decisions = {}, rules = WHOLE) {
    const { seed = "1", number = 0, start = null, actions = "", by = "" } = decisions;
    Object.assign(this, { seed, number, start, rules });
    const state = stream(seed, number);
    const begun = rules.begin(state);
    const first = start ? rules.from(start, begun, state) : begun;
    this.turns = [{ ...first, score: rules.points(first.cells) }]; // the last one is where the game stands
    [...actions].forEach((action, n) => this.act(Number(action), by[n]));
  }

  get here() {
    return this.turns[this.turns.length - 1];
  }

  get length() {
    return this.turns.length - 1;
  }

  get largest() {
    return this.rules.tiles[Math.max(...this.here.cells)];
  }

  get actions() {
    return this.turns.slice(1).map((turn) => turn.action).join("");
  }

  get decisions() {
    const { seed, number, start, actions, by } = this;
    return { seed, number, start, actions, by };
  }

  get by() {
    return this.turns.slice(1).map((turn) => turn.by).join("");
  }

  // How many actions were one's own, and whether any was not.
  get own() {
    return this.turns.filter((turn) => turn.by === OWN).length;
  }

  get helped() {
    return this.own < this.length;
  }

  // Take an action; return the turn, or null where it is not legal.
  act(action, by = OWN) {
    const turn = this.rules.next(this.here, action);
    if (turn) this.turns.push(Object.assign(turn, { by }));
    return turn;
  }

  // Take the last action back; the same action will meet the same spawn again.
  undo() {
    return this.length ? this.turns.pop() : null;
  }
}
