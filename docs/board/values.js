// An n-tuple network of whole numbers: from a board to its value, exactly as lib2048 has it.
//
// A value is the sum of eight look-ups a tuple, one on each symmetric image of the board, times
// `unit`, the points that one step of a weight is worth.

import { placesOf, unpack } from "./images.js";

export class Network {
  // tuples: lists of cells; unit: points; weights: an Int16Array a tuple, where the exponents
  // e0, e1 … in its cells have index e0 + 16·e1 + 256·e2 …
  constructor(tuples, unit, weights) {
    Object.assign(this, { unit, weights, cells: new Int32Array(16) });
    this.sizes = tuples.map((tuple) => tuple.length);
    this.places = tuples.map((tuple) => placesOf([tuple]));
  }

  // The value, in points, of a board of four rows.  `rows` may be its columns as well.
  value(rows) {
    unpack(rows, this.cells);
    let sum = 0;
    for (let t = 0; t < this.weights.length; t++) {
      sum += this.lookUp(this.weights[t], this.places[t], this.sizes[t]);
    }
    return sum * this.unit;
  }

  lookUp(weights, places, size) {
    const { cells } = this;
    let sum = 0;
    for (let at = 0; at < places.length; at += size) {
      let index = 0;
      for (let j = 0; j < size; j++) index = (index << 4) | cells[places[at + j]];
      sum += weights[index];
    }
    return sum;
  }

  // Write reward + value of each legal action of a `Quick` game into `worth`, −Infinity for the
  // others; return the best action, the first of equals as in the library, −1 when none is legal.
  choose(game, worth) {
    let best = -1;
    for (let action = 0; action < 4; action++) {
      const reward = game.rewards[action];
      worth[action] = reward < 0 ? -Infinity : reward + this.value(game.after[action]);
      if (reward >= 0 && (best < 0 || worth[action] > worth[best])) best = action;
    }
    return best;
  }
}

// ---------------------------------------------------------------- unpacking

// Read a network as tools/play_page.py writes it: {tuples: ["01245", …], unit, weights, count, scored}:
// how many weights are not 0, and what it has scored.  weights is base64 of what zlib made of three parts: a bit for each index, whether its weight is
// there; a byte for each weight that is; and its second byte.  Small numbers of either sign are
// small: 0, −1, 1, −2 … are 0, 1, 2, 3 …  Returns a promise of a `Network`.
export async function readNetwork({ tuples, unit, weights, count, scored }) {
  const packed = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(plain).arrayBuffer());
  const cells = tuples.map((word) => [...word].map((digit) => parseInt(digit, 16)));
  const tables = unpacked(bytes, cells.map((tuple) => 16 ** tuple.length));
  return Object.assign(new Network(cells, unit, tables), { count, scored });
}

function unpacked(bytes, sizes) {
  const all = sizes.reduce((a, b) => a + b);
  const low = all / 8;
  const high = low + (bytes.length - low) / 2;
  const weights = new Int16Array(all);
  let n = 0;
  for (let i = 0; i < low; i++) {
    for (let bits = bytes[i], at = 8 * i; bits; bits >>= 1, at++) {
      if (!(bits & 1)) continue;
      const folded = bytes[low + n] | (bytes[high + n] << 8);
      weights[at] = (folded >>> 1) ^ -(folded & 1);
      n++;
    }
  }
  let end = 0;
  return sizes.map((size) => weights.subarray(end, (end += size)));
}
