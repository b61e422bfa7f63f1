// What the four actions are worth to somebody, so that one can read it: four bars, and beside each how
// much less than the best it is.  The numbers themselves are in titles, and told to who does not see.
// Where a player counts in chances of success, 0 to 1, bars and numbers are the chances themselves.

import { ACTIONS } from "./game.js";
import { make, points } from "./board.js";

const FULL = 10000; // points less than the best, at which a bar is empty
const SHORTEST = 3; // per cent of a bar
const CAPTIONS = {
  points: "How much less than the best action each one is worth.",
  chance: "The chance of success after each action, with best play from there.",
};

// A number of points: with decimals where it is small; a chance in per cent, with as many digits as it
// needs to be told from none and from all, and if four would not do, with one.
export function exactly(number, unit = "points") {
  if (unit === "points") return points(number, Math.abs(number) < 10 ? 2 : 0);
  const least = Math.min(Math.abs(number), 1 - Math.abs(number));
  const digits = least < 5e-7 ? 1 : Math.min(4, Math.max(1, Math.ceil(-Math.log10(least)) - 1));
  return `${points(100 * number, digits)}\u202f%`;
}

// How much less than the best each value is: 0 for the best, null where there is none.
export function losses(values) {
  const best = Math.max(...values.filter((value) => value !== null));
  return values.map((value) => (value === null ? null : best - value));
}

// A loss as people read it: "best", "−108".
export const lossInWords = (loss, unit) => (loss === 0 ? "best" : `−${exactly(loss, unit)}`);

// Losses in one line, the best first: "Right: best · Up −108"; chances: "Right 97.2 % · Up 95.1 %".
export function inOneLine(values, unit = "points") {
  const said = (loss, action) => (unit === "points"
    ? `${loss ? " " : ": "}${lossInWords(loss)}` : ` ${exactly(values[action], unit)}`);
  return losses(values).map((loss, action) => [loss, action]).filter(([loss]) => loss !== null)
    .sort(([one], [other]) => one - other)
    .map(([loss, action]) => `${ACTIONS[action]}${said(loss, action)}`).join(" · ");
}

export class Worths {
  // note: what stands below while there is nothing to show; unit: what is counted, points or a chance.
  constructor(note = "", unit = "points") {
    Object.assign(this, { note, unit });
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
    const { unit } = this;
    const less = losses(values ?? [null, null, null, null]);
    this.rows.forEach(({ element, bar, said, tag }, action) => {
      const loss = less[action];
      const none = loss === null;
      const full = unit === "chance" ? 100 * values?.[action]
        : Math.max(SHORTEST, 100 - (100 * Math.log10(1 + loss)) / Math.log10(1 + FULL));
      bar.style.width = `${none ? 0 : full}%`;
      const number = unit === "chance" ? exactly(values?.[action] ?? 0, unit) : lossInWords(loss ?? 0);
      said.textContent = none ? (values ? "–" : "") : number;
      tag.textContent = tags[action] ?? "";
      element.classList.toggle("lib-worths-best", loss === 0);
      element.title = none ? "" : `worth ${exactly(values[action], unit)}`;
      const worth = none ? (values ? "not legal" : "not asked") : `${lossInWords(loss, unit)}, ${element.title}`;
      element.setAttribute("aria-label", `${ACTIONS[action]}: ${worth}${tags[action] ? `, ${tags[action]}` : ""}`);
    });
    this.words.textContent = words || (values ? CAPTIONS[unit] : this.note);
    this.words.hidden = !this.words.textContent;
  }
}
