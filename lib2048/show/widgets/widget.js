// What Jupyter needs: anywidget calls `render` with a model, whose traits and messages are those of
// board.py, replay.py, train.py, curves.py, tuples.py, tree.py and small.py.  Nothing else here knows
// of Jupyter.

import { make } from "./board.js";
import { explore } from "./curves.js";
import { play } from "./play.js";
import { replay } from "./replay.js";
import { small } from "./small.js";
import { train } from "./train.js";
import { tree } from "./tree.js";
import { tuples } from "./tuples.js";

const PAUSE = 200; // milliseconds before a position is reported

function playing(model, root) {
  const changed = (game) => {
    model.set("game", game); // for other views of this game
    try {
      model.send({ kind: "game", game });
    } catch {
      view.lose(); // the board plays on
    }
  };
  const send = (message) => model.send(message);
  const [game, players] = [model.get("game"), model.get("players")];
  const view = play(root, { game, players, send, changed });
  model.on("change:game", () => view.adopt(model.get("game")));
  model.on("change:message", () => view.say(model.get("message")));
  model.on("msg:custom", (message) => view.hear(message));
  return view;
}

function replaying(model, root) {
  let timer = null;
  const tell = (position) => {
    try {
      model.send({ kind: "position", position });
    } catch {
      // no kernel: the replay needs none
    }
  };
  const moved = (position) => {
    clearTimeout(timer);
    timer = setTimeout(() => tell(position), PAUSE);
  };
  const view = replay(root, { ...model.get("record"), position: model.get("position"), moved });
  model.on("change:position", () => view.go(model.get("position"), false));
  return view;
}

function training(model, root) {
  const send = (message) => model.send(message);
  const view = train(root, { runs: model.get("about"), send });
  model.on("msg:custom", (message) => view.hear(message));
  return view;
}

function charting(model, root) {
  const send = (message) => model.send(message);
  const view = explore(root, { catalogue: model.get("catalogue"), send });
  model.on("change:catalogue", () => view.adopt(model.get("catalogue")));
  model.on("msg:custom", (message) => view.hear(message));
  return view;
}

function counting(model, root) {
  const send = (message) => model.send(message);
  const view = tuples(root, { ...model.get("tuples"), send });
  model.on("msg:custom", (message) => view.hear(message));
  return view;
}

// One of the explorers that look at a position, begun by `show`; about: the trait that says of what.
const exploring = (show, about) => (model, root) => {
  const send = (message) => model.send(message);
  const changed = (position) => {
    model.set("position", position); // for other views of it
    try {
      send({ kind: "position", position });
    } catch {
      // no kernel: the question says so
    }
  };
  const position = model.get("position");
  const view = show(root, { about: model.get(about), position, send, changed });
  model.on("change:position", () => view.adopt(model.get("position")));
  model.on("msg:custom", (message) => view.hear(message));
  return view;
};

// What a widget is, by the trait that only it has.
const KINDS = {
  about: training, catalogue: charting, record: replaying, tuples: counting,
  tree: exploring(tree, "tree"), small: exploring(small, "small"), game: playing,
};

function render({ model, el }) {
  const root = make("div");
  el.append(root);
  const [, kind] = Object.entries(KINDS).find(([trait]) => model.get(trait));
  const view = kind(model, root);
  model.on("comm_live_update", () => view.lose?.()); // after the start, it only ever dies
  return () => view.close();
}

export default { render };
