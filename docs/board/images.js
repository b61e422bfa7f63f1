// A board's eight symmetric images, in the library's order, and what a tuple reads of them.

const mirrored = (image) => image.map((cell) => cell ^ 3); // left to right
const flipped = (image) => image.map((cell) => cell ^ 12); // upside down
const fourOf = (image) => [image, mirrored(image), flipped(image), mirrored(flipped(image))];
const PLAIN = fourOf([...Array(16).keys()]);
const TURNED = PLAIN.map((image) => image.map((cell) => 4 * (cell & 3) + (cell >> 2)));

// The images of a board, and those of one that is given by its columns: where each cell comes from.
export const IMAGES = [...PLAIN, ...TURNED];
export const OF_COLUMNS = [...TURNED, ...PLAIN];

// The cells that the look-ups of some tuples read, the highest digit of each index first.
export const placesOf = (tuples, images = IMAGES) => Uint8Array.from(tuples.flatMap((tuple) =>
  images.flatMap((image) => tuple.map((cell) => image[cell]).reverse())));

// Write the exponents of four rows of 16 bits, or columns, into an array of 16.
export function unpack(rows, cells) {
  for (let i = 0; i < 4; i++) {
    const row = rows[i];
    cells[4 * i] = row & 15;
    cells[4 * i + 1] = (row >> 4) & 15;
    cells[4 * i + 2] = (row >> 8) & 15;
    cells[4 * i + 3] = row >> 12;
  }
}
