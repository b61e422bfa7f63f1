// A game looked at again: what each action was worth, in the opinion of a network, as lib2048.play.review
// finds it (a test compares them) and as reviewed.js shows it.

import { WHOLE } from "../../lib2048/show/widgets/game.js";
import { Quick } from "./quick.js";

// Look at a `Quick` game again, with the eyes of a `Network`.
export function reviewed(game, network, by = "the network") {
  const there = new Quick(game.seed, game.number); // stands where the game stood
  const turns = Array.from({ length: game.length }, (_, n) => game.turn(n));
  const worths = turns.map(({ north, south, top }) => {
    const worth = [0, 0, 0, 0];
    there.stand(north, south, top);
    network.choose(there, worth);
    return worth.map((one) => (one > -Infinity ? one : null)); // null: not legal
  });
  const boards = [...turns.map(({ cells }) => cells), game.cells];
  return {
    by, worths, points: true, actions: turns.map(({ action }) => action).join(""),
    scores: [...turns.map(({ score }) => score), game.score],
    boards: boards.map((cells) => WHOLE.toHex(cells)).join(""), words: boards.map((cells) => WHOLE.wordOf(cells)),
  };
}
