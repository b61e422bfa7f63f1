// A recorded game from its decisions: the boards and scores that a replay shows follow from the seed and the
// actions.

import { Game } from "../../lib2048/show/widgets/game.js";
import { rulesOf } from "../../lib2048/show/widgets/games.js";

// game: what Python tells of it; seed, number: of its luck; actions: a text of digits; values: what the player
// expected after each reward.
export function recordOf({ game, seed, number, actions, values }) {
  const rules = rulesOf(game);
  const { turns } = new Game({ seed, number, actions }, rules);
  const next = (n) => turns[n + 1];
  const over = turns.length - 1;
  const after = turns.map(({ cells }, n) => (n < over ? next(n).after : cells));
  return {
    game, values, scores: turns.map((turn, n) => (next(n) ?? turn).score), words: turns.map(({ word }) => word),
    boards: turns.map(({ cells }) => rules.toHex(cells)).join(""),
    afterstates: after.map((cells) => rules.toHex(cells)).join(""), afterwords: after.map((cells) => rules.wordOf(cells)),
    actions: turns.map((_, n) => (n < over ? next(n).action : null)),
    rewards: turns.map((_, n) => (n < over ? next(n).reward : 0)),
  };
}
