// The search tree of a position: a click opens a node, and the kernel says what lies below it.
// Paths are those of search/tree.py: "3/5:1/0" is Left, then a 2 in cell 5, then Up.

import { ACTIONS } from "./game.js";
import { rulesOf } from "./games.js";
import { Board, box, button, counted, enable, furnish, make, menu, points, row, table } from "./board.js";
import { Editor } from "./editor.js";
import { AGAIN, exploring } from "./jupyter.js";

const share = (chance) => `${points(100 * chance, chance < 0.095 ? 1 : 0)} %`;
const worthIn = (value) =>
  value === null ? "no number" : points(value, Math.abs(value) < 10000 ? 1 : 0);

// What the tree counts, and what it is called.
const WORK = {
  probes: "afterstates to be searched", hits: "answered by the table", nodes: "searched",
  leaves: "leaves", looked_up: "of them looked up",
};

class Tree extends Editor {
  // about: {plies, most, reduce, name, boards, game}; position: a board as hexadecimal digits; send:
  // takes questions; changed: hears of every new position.  `wanted` are the paths of the nodes that
  // are open, `past` is what Back leads to.
  constructor(root, { about, position, send, changed }) {
    super(root, send, "Look at this", "Stay at this position", rulesOf(about.game));
    Object.assign(this, { about, changed, plies: about.plies, nodes: new Map() });
    Object.assign(this, { wanted: new Set(), past: [] });
    this.here = this.rules.fromHex(position);
    this.build();
    enable(this.backing, false);
    this.grow();
  }

  // ---- what is on the page

  build() {
    this.board = new Board("board", this.rules);
    this.frame = make("div.lib-frame", this.board.element);
    this.caption = make("p.lib-caption");
    this.reason = make("p.lib-reason");
    this.backing = button("Back", "Where you were before", () => this.back());
    const edit = button("Edit …", "Edit or paste a position", () => this.askPosition());
    this.jump = button("Where it was met", "Go to where the table met this board", () => {
      this.meet();
    });
    const left = make("div.lib-left", this.frame, this.caption, this.reason,
      row(this.backing, edit, this.jump), this.forms, this.message);
    this.tree = make("ul.lib-tree", { role: "tree", "aria-label": "Search tree" });
    this.work = make("div");
    const side = make("div.lib-side", this.limits(), ...this.turns(), this.tree, this.work);
    const keys = "Arrows move, open and close · Enter opens · M where it was met · " +
      "Backspace back · E edit";
    furnish(this.root, { name: `Search tree of ${this.about.name}`, keys, role: "group" },
      make("div.lib-columns", left, side));
  }

  limits() {
    const options = Array.from({ length: this.about.most }, (_, n) => [n + 1, `${n + 1}-ply`]);
    this.menu = menu("How far to look", options, () => this.limit());
    this.menu.value = this.plies;
    const [reduce, label] = box("one ply less behind a 4", () => this.limit());
    this.reduce = reduce;
    reduce.checked = this.about.reduce;
    return row(this.menu, label, make("span.lib-small", this.about.name));
  }

  // The turns of a recorded game, if there is one.
  turns() {
    const { boards } = this.about;
    const last = boards.length / 16 - 1;
    if (last < 1) return [];
    const said = make("output");
    const at = (turn) => boards.slice(16 * turn, 16 * turn + 16);
    const turns = boards.match(/.{16}/g);
    const go = () => this.go(this.rules.fromHex(at(Number(slider.value))), true);
    const slider = make("input", {
      type: "range", min: 0, max: last, value: 0, "aria-label": "Turn of the game", oninput: go,
      onchange: () => (this.sliding = false),
    });
    // Say which turn is looked at, if it is one of them.
    this.showTurn = () => {
      const here = this.rules.toHex(this.here);
      if (at(Number(slider.value)) !== here) slider.value = Math.max(0, turns.indexOf(here));
      const there = at(Number(slider.value)) === here;
      said.textContent = `${there ? Number(slider.value) + 1 : "–"} of ${last + 1}`;
      slider.ariaValueText = said.textContent;
    };
    return [make("label.lib-turns", "turn", slider, said)];
  }

  // Look further or less far; what was open stays open where it is still there.
  limit() {
    this.plies = Number(this.menu.value);
    this.grow(this.selected?.path);
  }

  // ---- where we were

  // Keep where we are, for Back.
  leave() {
    const { here, wanted } = this;
    this.past.push({ here, wanted: new Set(wanted), path: this.selected?.path ?? "" });
    this.sliding = false;
    enable(this.backing, true);
  }

  back() {
    const before = this.past.pop();
    if (!before) return this.say("There is nothing to go back to.");
    enable(this.backing, this.past.length > 0);
    const { here, wanted, path } = before;
    const moved = here.join() !== this.here.join();
    Object.assign(this, { here, wanted, sliding: false });
    this.say("");
    this.grow(path);
    if (moved) this.changed(this.rules.toHex(here));
  }

  // ---- the position

  use(cells) {
    this.closeForm();
    this.go(cells);
    this.say("");
  }

  // Look at another position; sliding: one of many on a slider's way, to be taken back as one.
  go(cells, sliding = false) {
    if (!(sliding && this.sliding)) this.leave();
    Object.assign(this, { here: cells, sliding, wanted: new Set() });
    this.grow();
    this.changed(this.rules.toHex(cells));
  }

  // Go to a position that somebody else has set.
  adopt(position) {
    if (position !== this.rules.toHex(this.here)) this.go(this.rules.fromHex(position));
  }

  // Begin a new tree, open at its root and at all `wanted` nodes that it has; path: the node that is
  // looked at, or the nearest above it.
  async grow(path = "") {
    this.board.show(this.here);
    this.root.dataset.board = this.rules.toHex(this.here);
    this.showTurn?.();
    const fresh = new Map();
    this.coming = fresh;
    this.tree.setAttribute("aria-busy", "true");
    const answer = await this.ask("");
    if (this.coming !== fresh) return;
    this.tree.removeAttribute("aria-busy");
    if (!answer) return;
    this.nodes = fresh;
    this.pays = answer.pays;
    const held = this.tree.contains(document.activeElement);
    const root = this.node("", {
      kind: "state", board: this.rules.toHex(this.here), plies: this.plies,
    });
    this.tree.replaceChildren(root.element);
    this.fill(root, answer);
    this.select(root, held);
    this.showWork(answer.work);
    await this.openAgain(fresh);
    if (this.coming === fresh && this.selected === root) this.select(this.nearest(path), held);
  }

  // Open the nodes that were open, the upper ones first.
  async openAgain(nodes) {
    for (const path of [...this.wanted].sort((a, b) => a.length - b.length)) {
      if (this.coming === nodes && nodes.has(path)) await this.open(nodes.get(path));
    }
  }

  // The node at the end of a path, or the last one that is there on the way.
  nearest(path) {
    return this.nodes.get(path) ?? this.nearest(path.split("/").slice(0, -1).join("/"));
  }

  showWork(work) {
    const rows = Object.entries(WORK).map(([kind, words]) => make("tr",
      make("th", { scope: "row" }, words), make("td", points(work.bare[kind])),
      make("td", { "data-work": kind }, points(work.table[kind]))));
    const head = ["", "no table", "with its table"];
    this.work.replaceChildren(table("The whole search", head, rows));
  }

  // Ask what lies below a node; null where there is no answer.
  ask(path) {
    const { plies } = this;
    const question = { kind: "open", path, plies, reduce: this.reduce.checked };
    return new Promise((resolve) => {
      this.mind.ask({ ...question, board: this.rules.toHex(this.here) }, (answer) => {
        if (answer.error) this.say(answer.error, true, answer.details);
        resolve(answer.error ? null : answer);
      });
    });
  }

  // ---- nodes

  // Make a node: kind 'state' (an action is to be chosen), 'after' or 'not legal'.
  node(path, about) {
    const opens = about.kind === "state" ? !about.dead : about.kind === "after" && about.plies > 0;
    const level = path ? path.split("/").length + 1 : 1;
    const line = make("div.lib-node", ...this.words(about));
    const group = make("ul", { role: "group", hidden: "" });
    const element = make("li", {
      role: "treeitem", tabindex: -1, "aria-level": level, "aria-selected": "false",
      "aria-label": line.textContent.trim(), "data-path": path,
      "aria-expanded": opens ? "false" : null, "data-worth": about.worth ?? null,
      "data-kind": about.kind,
    }, line, group);
    const node = { path, ...about, element, group, opens, open: false, filled: false };
    line.classList.toggle("lib-best", Boolean(about.best));
    line.onclick = () => this.clicked(node);
    element.onfocus = (event) => event.target === element && this.select(node, false);
    this.nodes.set(path, node);
    return node;
  }

  fill(node, { options, outcomes }) {
    const join = (step) => (node.path ? `${node.path}/${step}` : String(step));
    const children = options
      ? ACTIONS.map((_, action) => this.option(join(action), action, node, options))
      : outcomes.map((outcome) => this.node(join(`${outcome.cell}:${outcome.exponent}`), {
          kind: "state", dead: outcome.action === null, ...outcome,
        }));
    node.group.replaceChildren(...children.map(({ element }) => element));
    node.filled = true;
    this.expand(node, true);
  }

  option(path, action, { board, plies }, options) {
    const found = options.find((option) => option.action === action);
    if (!found) return this.node(path, { kind: "not legal", action, board });
    return this.node(path, { kind: "after", plies: plies - 1, ...found });
  }

  async open(node) {
    if (!node.opens) return;
    if (node.filled) return this.expand(node, true);
    const { nodes } = this;
    node.element.setAttribute("aria-busy", "true");
    const answer = await this.ask(node.path);
    node.element.removeAttribute("aria-busy");
    if (answer && this.nodes === nodes) this.fill(node, answer);
  }

  expand(node, open) {
    node.open = open;
    if (open) this.wanted.add(node.path);
    else this.wanted.delete(node.path);
    node.group.hidden = !open;
    node.element.setAttribute("aria-expanded", String(open));
  }

  clicked(node) {
    this.select(node);
    this.toggle(node);
  }

  toggle(node) {
    if (node.open) this.expand(node, false);
    else this.open(node);
  }

  // ---- words

  // A path in words; its cells have the library's numbers.
  way(path) {
    if (!path) return "the position";
    return path.split("/").map((step) => {
      const [first, exponent] = step.split(":").map(Number);
      return exponent ? this.came(first, exponent, " in") : ACTIONS[first];
    }).join(", ");
  }

  came(cell, exponent, where) {
    const { rules } = this;
    return `a ${rules.tiles[exponent]}${where} ${rules.placeInWords(rules.cellOf(cell))}`;
  }

  // The words of a node's line: what it is, its numbers, and what is special about it.
  words(about) {
    if (about.kind === "not legal") return [part(`${ACTIONS[about.action]} not legal`, "lib-faint")];
    if (about.kind === "after") return ofAction(about, this.pays);
    if (!about.exponent) return [part("The position", "lib-what")];
    const what = this.came(about.cell, about.exponent, ",");
    const then = about.dead ? "dead end: 0" : `${ACTIONS[about.action]} ${worthIn(about.worth)}`;
    const tags = about.reduced ? [part("one ply less", "lib-tag")] : [];
    return [part(share(about.chance), "lib-chance"), part(what, "lib-what"), part(then), ...tags];
  }

  // ---- the node that is looked at

  select(node, focus = true) {
    for (const { element } of this.nodes.values()) {
      element.tabIndex = element === node.element ? 0 : -1;
      element.setAttribute("aria-selected", String(element === node.element));
    }
    this.selected = node;
    if (focus) node.element.focus({ preventScroll: true });
    if (focus) scrollTo(this.tree, node.element.firstChild);
    const fresh = node.kind === "state" && node.path ? this.rules.cellOf(node.cell) : null;
    this.board.show(this.rules.fromHex(node.board), fresh);
    this.board.point(node.kind === "state" ? this.bestOf(node) : null);
    this.caption.textContent = node.path ? this.way(node.path) : "The position: your turn.";
    this.reason.textContent = this.why(node);
    enable(this.jump, Boolean(node.known));
  }

  bestOf(node) {
    if (node.path) return node.action;
    return [...this.nodes.values()].find(({ path, best }) => best && path.length === 1)?.action ??
      null;
  }

  // Say what the search does at a node, and why it looks no further where it does not.
  why(node) {
    const { kind, plies } = node;
    if (kind === "not legal") return `${ACTIONS[node.action]} would move nothing: not legal.`;
    if (node.dead || (!node.path && this.bestOf(node) === null)) {
      return "A dead end: no action is legal. No points follow, so it is worth 0.";
    }
    if (kind === "state") {
      const less = node.reduced
        ? " A 4 is unlikely, so the search looks one ply less deep behind it." : "";
      return `Your turn: the largest of the four counts.${less}`;
    }
    if (node.known) {
      const how = node.turned ? " (turned or mirrored)" : "";
      return `The search stops here: its table knows this board${how} since ${this.way(node.known)}. ` +
        "You can open it all the same.";
    }
    if (!plies) return "The search ends here: this is the network's own value.";
    return `The mean over all spawns, with ${counted(plies, "more action")} looked at.`;
  }

  // Open the way to where the table met this board, and go there.
  async meet() {
    const { known } = this.selected;
    if (!known) return this.say("The table has met nothing here before.");
    this.leave();
    const steps = known.split("/");
    for (let n = 0; n < steps.length; n++) {
      const node = this.nodes.get(steps.slice(0, n).join("/"));
      if (!node) return;
      await this.open(node);
    }
    const node = this.nodes.get(known);
    if (node) this.select(node);
  }

  // ---- keys

  shown() {
    const all = [...this.tree.querySelectorAll("[role=treeitem]")];
    const seen = all.filter((item) => !item.parentElement.closest("[role=group][hidden]"));
    return seen.map((item) => this.nodes.get(item.dataset.path));
  }

  keyed(key, event) {
    if (event.target.closest("select, input")) return false;
    const node = this.selected;
    if (key === "e") this.askPosition();
    else if (key === "m") this.meet();
    else if (key === "backspace") this.back();
    else if (!node) return false;
    else if (key === "enter" || key === " ") this.toggle(node);
    else if (key === "arrowright") this.right(node);
    else if (key === "arrowleft") this.left(node);
    else if (["arrowup", "arrowdown", "home", "end"].includes(key)) this.along(key);
    else return false;
    return true;
  }

  right(node) {
    if (!node.open) this.open(node);
    else this.along("arrowdown");
  }

  left(node) {
    const above = this.nodes.get(node.path.split("/").slice(0, -1).join("/"));
    if (node.open) this.expand(node, false);
    else if (node.path) this.select(above);
  }

  along(key) {
    const shown = this.shown();
    const at = shown.indexOf(this.selected);
    const last = shown.length - 1;
    const to = { arrowup: at - 1, arrowdown: at + 1, home: 0, end: last }[key];
    if (shown[to]) this.select(shown[to]);
  }

  get lost() {
    return "The kernel has ended or was restarted. What is open stays; to open more, " +
      `${AGAIN}.`;
  }
}

// Scroll a list to a line of it, and nothing else on the page.
function scrollTo(list, line) {
  const [outer, inner] = [list.getBoundingClientRect(), line.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop += inner.top - outer.top;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

const part = (text, name) => make("span", { class: name }, `${text} `);

function ofAction({ action, reward, value, worth, best, known, plies }, pays) {
  const sum = pays ? `${points(reward)} + ${worthIn(value)} = ` : "";
  const tags = [best && "best", known && "met before", !plies && "the network's value"];
  return [part(ACTIONS[action], "lib-what"), part(`${sum}${worthIn(worth)}`),
    ...tags.filter(Boolean).map((tag) => part(tag, "lib-tag"))];
}

export default { render: exploring(Tree, "tree") };
