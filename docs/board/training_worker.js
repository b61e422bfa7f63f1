// A learner in a worker: it trains in slices, and in between tells how far it is, and plays a game
// by the weights that it has now.
//
// It hears {kind: "begin", settings, id} and {kind: "go", on}; it posts {kind: "news", id, actions, games,
// mean, seconds} and {kind: "turn", before, action, cells, cell, score, over}.

import { Learner } from "./learner.js";
import { Quick } from "./quick.js";

const SLICE = 50; // milliseconds between two looks at what was asked
const TURN = 120; // milliseconds between two actions of the game that is shown
const SHOWN = 1_000_000; // the number of the first game that is shown: training has other luck

let learner = null;
let name = 0; // which learner it is
let shown = null;
let going = false;
let trained = 0; // milliseconds
let next = 0; // when the next action is due
let number = SHOWN;

function begin({ settings, id }) {
  name = id;
  learner = new Learner(settings);
  [trained, number, shown] = [0, SHOWN, null];
  tell();
  turn();
}

function tell() {
  const { actions, games, mean } = learner;
  postMessage({ kind: "news", id: name, actions, games, mean, seconds: trained / 1000 });
}

// Take an action of the game that is shown, the best by the weights of now.
function turn() {
  if (!shown || shown.over) shown = new Quick(learner.seed, number++);
  const before = shown.cells;
  const action = learner.best(shown);
  if (action >= 0) shown.act(action);
  postMessage({ kind: "turn", before, action, cells: shown.cells, cell: shown.spawned,
    score: shown.score, over: shown.over });
}

// Train for a moment, so many actions at a time that each takes a millisecond or so.
function train() {
  if (!going) return;
  const start = performance.now();
  let now = start;
  while (now < start + SLICE) {
    learner.play(500);
    now = performance.now();
  }
  trained += now - start;
  tell();
  if (now > next) {
    turn();
    next = now + TURN;
  }
  setTimeout(train); // what was asked meanwhile comes first
}

onmessage = ({ data }) => {
  if (data.kind === "begin") begin(data);
  else if (data.kind === "go") {
    const idle = !going;
    going = data.on;
    if (going && idle) train();
  }
};
