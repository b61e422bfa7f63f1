// A strip of afterstates that light up as they hear of a surprise, game after game.

import { button, enable, furnish, holdKeys, make, messageLine, row } from "../../show/widgets/board.js";
import { rendering, tell } from "../../show/widgets/jupyter.js";

const STEPS = { arrowleft: -1, arrowright: 1, home: -Infinity, end: Infinity };

class Credit {
  // boards: {svg, text} each; heard: {way: rows of shares, one a game}; games: how many; game: the one
  // that is shown; moved: hears of every other.
  constructor(root, { boards, heard, games, game, moved }) {
    Object.assign(this, { heard, games, moved });
    this.lights = Object.fromEntries(Object.keys(heard).map((way) => [way, boards.map(() => make("td"))]));
    const head = make("tr", make("td"), ...Object.keys(heard).map((way) => make("th", { scope: "col" }, way)));
    const rows = boards.map((board, n) => make("tr", make("td", picture(board)),
      ...Object.values(this.lights).map((lights) => lights[n])));
    const strip = make("table.lib-news", make("thead", head), make("tbody", ...rows));
    this.slider = make("input", { type: "range", min: 1, max: games, step: 1, "aria-label": "Games that are over",
      oninput: () => this.go(Number(this.slider.value)) });
    this.back = button("◀", "One game less", () => this.go(this.game - 1));
    this.ahead = button("▶", "One game more", () => this.go(this.game + 1));
    this.message = messageLine();
    furnish(root, { name: "Who has heard of the surprise", keys: "Left and Right: a game less or more" },
      row(this.back, this.slider, this.ahead), this.message, strip);
    holdKeys(root, (key) => key in STEPS && (this.go(this.game + STEPS[key]), true));
    this.go(game, false);
  }

  go(game, tell = true) {
    this.game = Math.max(1, Math.min(this.games, game));
    for (const [way, lights] of Object.entries(this.lights)) {
      this.heard[way][this.game - 1].forEach((share, n) => {
        lights[n].style.setProperty("--share", share);
        lights[n].textContent = share < 0.005 ? "" : `${Math.round(100 * share)} %`;
      });
    }
    const counts = Object.entries(this.heard).map(([way, rows]) =>
      `${way}: ${rows[this.game - 1].filter((share) => share >= 0.5).length}`);
    const over = this.game === 1 ? "After 1 game" : `After ${this.game} games`;
    this.message.textContent = `${over}, heard by half or more: ${counts.join(" · ")}`;
    this.slider.value = this.game;
    this.slider.setAttribute("aria-valuetext", over);
    enable(this.back, this.game > 1);
    enable(this.ahead, this.game < this.games);
    if (tell) this.moved(this.game);
  }

  close() {}
}

const picture = ({ svg, text }) => make("img", { alt: text, src: `data:image/svg+xml,${encodeURIComponent(svg)}` });

const begin = (root, model, send) => {
  const moved = (game) => tell(send, { kind: "game", game });
  const view = new Credit(root, { ...model.get("story"), game: model.get("game"), moved });
  model.on("change:game", () => view.go(model.get("game"), false));
  return view;
};

export default { render: rendering(begin) };
