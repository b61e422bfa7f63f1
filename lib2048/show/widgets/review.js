// The review of a game by itself, and below it a board to play on from any of its positions.

import { make } from "./board.js";
import { rendering, reporting } from "./jupyter.js";
import { begin as playing } from "./play.js";
import { Reviewed } from "./reviewed.js";

function begin(root, model, send) {
  let play = null;
  const place = make("div");
  const moved = reporting(model, send, (position) => view.go(position));
  const playOn = (cells) => {
    play ??= playing(place, model, send);
    play.use(cells);
    play.root.scrollIntoView({ block: "nearest" });
    play.root.focus({ preventScroll: true });
  };
  const view = new Reviewed(model.get("record"), { position: model.get("position"), playOn, moved });
  const around = make("div.lib2048", view.element);
  root.append(around, place);
  if (model.get("game").actions) play = playing(place, model, send);
  return {
    hear: (message) => play?.hear(message),
    lose: () => play?.lose(),
    close: () => {
      view.end();
      play?.close();
    },
  };
}

export default { render: rendering(begin) };
