// A small board solved in a worker.  It hears {kind: "solve", told, four, way} and {kind: "open", id, board}; it
// posts {kind: "solved", about} and {kind: "answer", id, …}.

import { Rules } from "../../lib2048/show/widgets/game.js";
import { Solved } from "./solver.js";

let solved = null;

function seen(board) {
  try {
    return solved.seen(board);
  } catch (error) {
    return { error: error.message };
  }
}

onmessage = ({ data: { kind, id, told, four, way, board } }) => {
  if (kind === "solve") {
    solved = new Solved(new Rules(told), four, way);
    postMessage({ kind: "solved", about: solved.about });
  } else if (kind === "open") postMessage({ kind: "answer", id, ...seen(board) });
};
