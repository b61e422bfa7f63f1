// Which rules are played here, by their names: a game is what Python tells of it, see `told` in game.py,
// which lists them, too.  Boards of any other are shown, and their tiles do not travel.

import { Endgame } from "./endgame.js";
import { Rules } from "./game.js";
import { Threes } from "./threes.js";

const KINDS = { 2048: Rules, threes: Threes };

export const rulesOf = (told) => new (told.walls ? Endgame : KINDS[told.rules] ?? Rules)(told);
