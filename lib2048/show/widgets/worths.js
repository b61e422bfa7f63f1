// What the four actions are worth to somebody, so that one can read it: four bars, and beside each how
// much less than the best it is.  The numbers themselves are in titles, and told to who does not see.

import { ACTIONS } from "./game.js";
import { make, points } from "./board.js";

const FULL = 10000; // points less than the best, at which a bar is empty
const SHORTEST = 3; // per cent of a bar
const CAPTION = "How much less than the best action each one is worth.";

// A number of points: with decimals where it is small.
const exactly = (number) => points(number, Math.abs(number) < 10 ? 2 : 0);

// How much less than the best each value is: 0 for the best, null where there is none.
export function losses(values) {
  const best = Math.max(...values.filter((value) => value !== null));
  return values.map((value) => (value === null ? null : best - value));
}

// A loss as people read it: "best", "−108".
export const lossInWords = (loss) => (loss === 0 ? "best" : `−${exactly(loss)}`);

// Losses in one line, the best first: "Right: best · Up −108".
export function inOneLine(values) {
  return losses(values).map((loss, action) => [loss, action]).filter(([loss]) => loss !== null)
    .sort(([one], [other]) => one - other)
    .map(([loss, action]) => `${ACTIONS[action]}${loss ? " " : ": "}${lossInWords(loss)}`).join(" · ");
}

export class Worths {
  // note: what stands below while there is nothing to show.
  constructor(note = "") {
    this.note = note;
    this.rows = ACTIONS.map((name) => {
      const [bar, said, tag] = [make("i"), make("b", " "), make("small")];
      const element = make("div.lib-worths-row", { role: "listitem" }, make("span", name),
        make("div.lib-worths-bar", { "aria-hidden": "true" }, bar), said, tag);
      return { element, bar, said, tag };
    });
    const list = make("div", { role: "list", "aria-label": "What each action is worth" },
      ...this.rows.map(({ element }) => element));
    this.words = make("p.lib-small", note);
    this.element = make("div.lib-worths", list, this.words);
  }

  // values: of the four actions, null for none; null: nothing is known; tags: {action: a word beside
  // it}; words: what stands below.
  show(values, { tags = {}, words = "" } = {}) {
    const less = losses(values ?? [null, null, null, null]);
    this.rows.forEach(({ element, bar, said, tag }, action) => {
      const loss = less[action];
      const none = loss === null;
      const share = none ? 0 : Math.max(SHORTEST, 100 - (100 * Math.log10(1 + loss)) / Math.log10(1 + FULL));
      bar.style.width = `${share}%`;
      said.textContent = none ? (values ? "–" : "") : lossInWords(loss);
      tag.textContent = tags[action] ?? "";
      element.classList.toggle("lib-worths-best", loss === 0);
      element.title = none ? "" : `worth ${exactly(values[action])}`;
      const worth = none ? (values ? "not legal" : "not asked") : `${lossInWords(loss)}, ${element.title}`;
      element.setAttribute("aria-label", `${ACTIONS[action]}: ${worth}${tags[action] ? `, ${tags[action]}` : ""}`);
    });
    this.words.textContent = words || (values ? CAPTION : this.note);
    this.words.hidden = !this.words.textContent;
  }
}
