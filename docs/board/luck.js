// The library's luck without BigInt: SplitMix64 (game/rng.py) on two halves of 32 bits, for games
// that are played as fast as a page can.  A `Luck` walks; game.js has the same in a line or two.

import { WHOLE, stream } from "../../lib2048/show/widgets/game.js";

const GOLDEN_HIGH = 0x9e3779b9;
const GOLDEN_LOW = 0x7f4a7c15;
const TWO32 = 4294967296;

// The upper 32 bits of the product of two numbers of 32 bits.
function upper(a, b) {
  const low = a & 0xffff;
  const high = a >>> 16;
  const less = b & 0xffff;
  const more = b >>> 16;
  const middle = high * less + ((low * less) >>> 16);
  const other = low * more + (middle & 0xffff);
  return (high * more + Math.floor(middle / 65536) + (other >>> 16)) >>> 0;
}

export class Luck {
  // state: a BigInt of 64 bits, as `stream` of game.js returns it.
  constructor(state) {
    this.high = Number(state >> 32n);
    this.low = Number(state & 0xffffffffn);
    this.above = 0; // what was drawn last: its upper and its lower half
    this.below = 0;
  }

  static of(seed, number) {
    return new Luck(stream(seed, number));
  }

  draw() {
    const low = this.low + GOLDEN_LOW;
    this.low = low >>> 0;
    this.high = (this.high + GOLDEN_HIGH + (low >= TWO32)) >>> 0;
    let h = (this.high ^ (this.high >>> 30)) >>> 0;
    let l = (this.low ^ ((this.low >>> 30) | (this.high << 2))) >>> 0;
    h = (upper(l, 0x1ce4e5b9) + Math.imul(h, 0x1ce4e5b9) + Math.imul(l, 0xbf58476d)) >>> 0;
    l = Math.imul(l, 0x1ce4e5b9) >>> 0;
    l = (l ^ ((l >>> 27) | (h << 5))) >>> 0;
    h = (h ^ (h >>> 27)) >>> 0;
    h = (upper(l, 0x133111eb) + Math.imul(h, 0x133111eb) + Math.imul(l, 0x94d049bb)) >>> 0;
    l = Math.imul(l, 0x133111eb) >>> 0;
    this.below = (l ^ ((l >>> 31) | (h << 1))) >>> 0;
    this.above = (h ^ (h >>> 31)) >>> 0;
  }

  // A number from 0 to n − 1, from the upper half of the last draw.
  choose(n) {
    return Math.floor((this.above * n) / TWO32);
  }

  // The exponent of the tile that spawns, from its lower half.
  tile() {
    return this.below < WHOLE.fours ? 2 : 1;
  }
}
