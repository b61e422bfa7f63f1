// The search tree of a position, drawn: boards, your turn and luck's in levels, from the top down.  A
// click unfolds a node, and the kernel says what lies below it.
// Paths are those of search/tree.py: "3/5:1/0" is Left, then a 2 in cell 5, then Up.

import { ACTIONS } from "./game.js";
import { rulesOf } from "./games.js";
import {
  Board, box, button, counted, enable, furnish, make, menu, points, row, still, table,
} from "./board.js";
import { Editor } from "./editor.js";
import { AGAIN, exploring } from "./jupyter.js";
import { drawing } from "./svg.js";
import { Plane } from "./plane.js";
import { tidy } from "./tidy.js";

const ARROWS = ["↑", "→", "↓", "←"];
const SHOWN = 4; // spawns of an afterstate, until all are asked for
const BOARD = 96; // the longer side of a board, in pixels of the sheet
const [EDGE, WORDS, KNOB] = [22, 38, 20]; // above a board; below it: its words, its knob
const [WIDE, NARROW, GAP, LINE] = [BOARD + 18, 94, 6, 40]; // of a node, of “and 6 more”; between them
const GUTTER = 24; // left of the tree, for the names of its levels
const GLIDE = 260; // milliseconds
const [SMALLEST, LARGEST] = [0.72, 1.1]; // the zoom of a tree that comes

const share = (chance) =>
  `${points(100 * chance, chance < 0.095 ? 1 : 0).replace(/\.0$/, "")} %`;
const digitsOf = (value) => (Math.abs(value) < 10000 ? 1 : 0);
const worthIn = (value) => (value === null ? "no number" : points(value, digitsOf(value)));
// By how much a worth is less than the best one, with as many digits as it has.
const lessIn = (less, worth) => points(-less, digitsOf(worth));

// What the tree counts, and what it is called.
const WORK = {
  probes: "afterstates to be searched", hits: "answered by the table", nodes: "searched",
  leaves: "leaves", looked_up: "of them looked up",
};

class Tree extends Editor {
  // about: {plies, most, reduce, name, boards, game}; position: a board as hexadecimal digits; send:
  // takes questions; changed: hears of every new position.  `wanted` are the paths of the nodes that
  // are open, or null where nobody has chosen, `past` is what Back leads to.
  constructor(root, { about, position, send, changed }) {
    super(root, send, "Look at this", "Stay at this position", rulesOf(about.game));
    Object.assign(this, { about, changed, plies: about.plies, nodes: new Map() });
    Object.assign(this, { wanted: null, past: [] });
    this.here = this.rules.fromHex(position);
    const side = BOARD / Math.max(this.rules.rows, this.rules.columns);
    this.tall = EDGE + Math.round(side * this.rules.rows) + WORDS + KNOB;
    this.build();
    enable(this.backing, false);
    this.grow();
  }

  // ---- what is on the page

  build() {
    this.board = new Board("board", this.rules);
    this.frame = make("div.lib-frame", this.board.element);
    this.caption = make("p.lib-caption");
    this.sum = make("p.lib-sum");
    this.reason = make("p.lib-reason", { "aria-live": "polite" });
    this.backing = button("Back", "Where you were before", () => this.back());
    const edit = button("Edit …", "Edit or paste a position", () => this.askPosition());
    this.jump = button("Where it was met", "Go to where the table met this board", () => {
      this.meet();
    });
    this.plane = new Plane({
      gutter: GUTTER,
      sized: () => this.plane?.seen && this.unseen && this.arrange(),
    });
    this.tree = make("ul.lib-tree", { role: "tree", "aria-label": "Search tree" });
    this.lines = drawing("svg", { class: "lib-lines", "aria-hidden": "true" });
    this.met = drawing("svg", { class: "lib-lines", "aria-hidden": "true" });
    this.link = drawing("path", { class: "lib-link" });
    this.met.append(this.link);
    this.bands = make("div", { "aria-hidden": "true" });
    this.plane.space.prepend(this.bands);
    this.plane.sheet.append(this.lines, this.tree, this.met);
    this.plane.sheet.style = `--node: ${WIDE}px; --narrow: ${NARROW}px; --tall: ${this.tall}px; --board: ${BOARD}px; --above: ${EDGE}px`;
    const line = button("Best line", "Unfold the best actions to the end", () => this.line());
    this.plane.buttons.append(line);
    const bar = make("div.lib-bar", this.limits(), this.plane.buttons);
    const legend = make("p.lib-small.lib-legend",
      make("i.lib-knob", { "data-kind": "state" }), "your turn: the best action counts",
      make("i.lib-knob", { "data-kind": "after" }), "luck: the mean over all spawns counts",
      make("i", "↺"), "the table had met this board");
    this.work = make("div.lib-work");
    const words = make("div.lib-words", this.caption, this.sum, this.reason,
      row(this.backing, edit, this.jump), this.forms, this.message);
    const lens = make("div.lib-lens", this.frame, words, this.work);
    const keys = "↑ ↓ up and down the tree · ← → along a level · Enter folds and unfolds · B best " +
      "line · M where it was met · + − 0 zoom · Backspace back · E edit";
    furnish(this.root, { name: `Search tree of ${this.about.name}`, keys, role: "group",
      kinds: ["lib-forest"] }, bar, ...this.turns(), this.plane.element, legend, lens);
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
    this.unfitted = true;
    this.grow(this.selected?.path);
  }

  // ---- where we were

  // Keep where we are, for Back.
  leave() {
    const { here, wanted } = this;
    this.past.push({ here, wanted: wanted && new Set(wanted), path: this.selected?.path ?? "" });
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
    this.go(this.rules.inFourBits(cells));
    this.say("");
  }

  // Look at another position; sliding: one of many on a slider's way, to be taken back as one.
  go(cells, sliding = false) {
    if (!(sliding && this.sliding)) this.leave();
    Object.assign(this, { here: cells, sliding, wanted: null });
    this.grow();
    this.changed(this.rules.toHex(cells));
  }

  // Go to a position that somebody else has set.
  adopt(position) {
    if (position !== this.rules.toHex(this.here)) this.go(this.rules.fromHex(position));
  }

  // Begin a new tree, open at its root and at all `wanted` nodes that it has; path: the node that is
  // looked at, or the nearest above it.  What was there stays until all of it has come.
  grow(path = "") {
    this.growth = this.begin(path);
  }

  async begin(path) {
    this.board.show(this.here);
    this.root.dataset.board = this.rules.toHex(this.here);
    this.showTurn?.();
    const fresh = new Map();
    this.coming = fresh;
    this.queue = Promise.resolve();
    this.tree.setAttribute("aria-busy", "true");
    const answer = await this.ask("");
    if (this.coming !== fresh) return;
    if (!answer) return this.came(null);
    this.pays = answer.pays;
    const root = this.node(fresh, null, "", {
      kind: "state", board: this.rules.toHex(this.here), plies: this.plies,
    });
    make("ul", root.element); // where its children find a place behind it
    this.fill(root, answer);
    const best = root.children.find((child) => child.best);
    root.action = best?.action ?? null;
    root.worth = best?.worth ?? 0;
    root.dead = !best;
    this.wanted ??= new Set(best ? ["", best.path] : []);
    root.open = true;
    await this.openAgain(fresh);
    if (this.coming !== fresh) return;
    this.showWork(answer.work);
    this.came(root, path);
  }

  // Show a tree that has come, or what was there where none has.
  came(root, path) {
    this.tree.removeAttribute("aria-busy");
    this.coming = null;
    if (!root) return;
    const held = this.tree.contains(document.activeElement);
    const before = this.nodes;
    this.unfitted ||= root.board !== before.get("")?.board;
    this.nodes = root.nodes;
    for (const [path, { now, edge }] of before) {
      if (this.nodes.has(path)) this.nodes.get(path).now = now;
      edge.remove();
    }
    this.tree.replaceChildren(...root.element.parentNode.children);
    this.select(this.nearest(path), held);
  }

  // Open the nodes that were open, the upper ones first.
  async openAgain(nodes) {
    for (const path of [...this.wanted].sort((a, b) => a.length - b.length)) {
      const node = nodes.get(path);
      if (this.coming !== nodes) return;
      if (!node?.opens || !(await this.ready(node))) continue;
      node.open = true;
      if (node.above?.children.indexOf(node) >= SHOWN) node.above.all = true; // it is not hidden
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

  // Make a node: kind 'state' (an action is to be chosen), 'after' or 'more'.
  node(nodes, above, path, about) {
    const opens = about.kind === "state" ? !about.dead : about.kind === "after" && about.plies > 0;
    const level = above ? above.level + 1 : 0;
    const element = make("li.lib-node", {
      role: "treeitem", hidden: "", tabindex: -1, "aria-selected": "false", "aria-level": level + 1,
      "aria-expanded": opens ? "false" : null, "data-path": path, "data-kind": about.kind,
      "data-worth": about.worth ?? null,
      onmousedown: (event) => event.preventDefault(), // a focus would scroll it away from the click
      onclick: ({ target }) => this.clicked(node, target.closest(".lib-knob")),
      onfocus: () => this.selected !== node && this.select(node, false),
    });
    const node = { nodes, above, path, ...about, element, opens, level, edge: drawing("path") };
    Object.assign(node, { children: [], open: false, all: false, now: null });
    nodes.set(path, node);
    return node;
  }

  // Put what the kernel has answered below a node.  Of spawns the most likely come first, and of those
  // the worst.
  fill(node, { options, outcomes, known }) {
    const { nodes } = node;
    node.told = known; // what the tables of endgames know, in words
    const join = (step) => (node.path ? `${node.path}/${step}` : String(step));
    const child = (step, about) => this.node(nodes, node, join(step), about);
    if (options) {
      const best = options.find((option) => option.best);
      node.children = options.map((option) => child(option.action, {
        kind: "after", plies: node.plies - 1, less: best.worth - option.worth, ...option,
      }));
    } else {
      const near = (a, b) => (Math.abs(a - b) < 1e-9 ? 0 : a - b);
      outcomes.sort((a, b) => near(b.chance, a.chance) || a.worth - b.worth);
      node.children = outcomes.map((outcome) => child(`${outcome.cell}:${outcome.exponent}`, {
        kind: "state", dead: outcome.action === null, ...outcome,
      }));
      const rest = outcomes.length - SHOWN;
      if (rest > 1) node.children.push(child("more", { kind: "more", rest }));
    }
    node.element.after(...node.children.map(({ element }) => element));
    node.filled = true;
  }

  // The children of a node that are drawn.
  below({ open, all, children }) {
    if (!open || all || children.at(-1)?.kind !== "more") return open ? children : [];
    return [...children.slice(0, SHOWN), children.at(-1)];
  }

  // See to it that what lies below a node is known; whether it is.
  async ready(node) {
    if (node.filled) return true;
    const wait = this.queue.then(() => this.ask(node.path)); // one question after the other
    this.queue = wait;
    const answer = await wait;
    if (answer && !node.filled) this.fill(node, answer);
    return Boolean(answer);
  }

  async open(node) {
    await this.growth;
    const { nodes } = this;
    if (!node.opens || node.open || nodes !== node.nodes) return;
    node.element.setAttribute("aria-busy", "true");
    const known = await this.ready(node);
    node.element.removeAttribute("aria-busy");
    if (known && this.nodes === nodes) this.expand(node, true);
  }

  expand(node, open) {
    node.open = open;
    if (open) this.wanted.add(node.path);
    else this.wanted.delete(node.path);
    const inside = this.selected !== node && this.selected?.path.startsWith(node.path);
    if (!open && inside) this.select(node);
    else this.arrange(node);
  }

  // Show all spawns of an afterstate, or only the first.
  unfold(more) {
    const { above } = more;
    above.all = !above.all;
    const next = above.children[above.all ? SHOWN : 0];
    this.select(next, this.tree.contains(document.activeElement));
  }

  // A click goes to a node and unfolds it; its knob, or a second click, folds it again.
  clicked(node, knob) {
    const there = this.selected === node;
    this.select(node);
    if (knob || there || !node.open) this.toggle(node);
  }

  toggle(node) {
    if (node.kind === "more") this.unfold(node);
    else if (node.open) this.expand(node, false);
    else this.open(node);
  }

  // Unfold the best action of every state and the first spawn after it, down to the end.
  async line() {
    await this.growth;
    const { nodes } = this;
    let node = nodes.get("");
    while (node?.opens && !this.coming) {
      if (!(await this.ready(node)) || this.nodes !== nodes) return;
      node.open = true;
      this.wanted.add(node.path);
      node = node.children.find((child) => child.best) ?? node.children[0];
    }
    this.arrange(nodes.get(""));
    this.plane.fit();
    this.select(node ?? nodes.get(""));
  }

  // ---- drawing

  // Put all nodes that are open where they belong; what is seen at `anchor` stays there, as far as it
  // and its children can be seen then.
  arrange(anchor = this.selected) {
    const root = this.nodes.get("");
    const { plane, tall } = this;
    this.unseen = !plane.seen;
    if (!root || this.unseen) return;
    const wide = ({ kind }) => (kind === "more" ? NARROW : WIDE);
    const { places, width, levels } = tidy(root, {
      children: (node) => this.below(node), width: wide, gap: GAP,
    });
    const height = levels * (tall + LINE) - LINE;
    const first = ![...places.keys()].some(({ now }) => now);
    for (const node of this.nodes.values()) this.dress(node, places);
    const moved = plane.become({ width, height });
    if (this.unfitted && !plane.chosen) plane.fit(SMALLEST, LARGEST);
    this.unfitted = false;
    this.showBands(levels);
    const steps = [...places].map(([node, { x, level }]) => {
      node.x = x;
      const to = { x, y: level * (tall + LINE) };
      const from = node.now && { x: node.now.x + moved.x, y: node.now.y + moved.y };
      return { node, from: from ?? this.whence(node, moved) ?? to, to };
    });
    const still = steps.find(({ node }) => node === anchor);
    this.glide(steps, this.scrolled(anchor, places, still), first);
  }

  // A node that is new comes from where its parent was.
  whence({ above }, moved) {
    return above?.now && { x: above.now.x + moved.x, y: above.now.y + moved.y };
  }

  // Where the plane is to be scrolled to.
  scrolled(anchor, places, step) {
    const { plane, tall } = this;
    if (!step) return plane.reach();
    const frame = (node) => {
      const { x, level } = places.get(node);
      const top = level * (tall + LINE);
      return { left: x - WIDE / 2, right: x + WIDE / 2, top, bottom: top + tall };
    };
    const { element, zoom } = plane;
    const kept = [(step.to.x - step.from.x) * zoom, (step.to.y - step.from.y) * zoom];
    const [left, top] = [element.scrollLeft, element.scrollTop];
    element.scrollTo(left + kept[0], top + kept[1]);
    const all = [anchor, ...this.below(anchor)].map(frame);
    const many = {
      left: Math.min(...all.map((f) => f.left)), right: Math.max(...all.map((f) => f.right)),
      top: all[0].top, bottom: all.at(-1).bottom,
    };
    const high = { ...all[0], bottom: many.bottom };
    const found = plane.reach(many, high, all[0]);
    element.scrollTo(left, top);
    return found;
  }

  // Let nodes and the plane go where they belong.
  glide(steps, scroll, first) {
    const { element } = this.plane;
    const from = { left: element.scrollLeft, top: element.scrollTop };
    const begun = performance.now();
    const takes = first || still() || document.hidden ? 0 : GLIDE;
    const at = (a, b, t) => a + (b - a) * t;
    const step = (now) => {
      const part = takes ? Math.min(1, Math.max(0, now - begun) / takes) : 1;
      const t = part * part * (3 - 2 * part);
      for (const { node, from, to } of steps) {
        node.now = { x: at(from.x, to.x, t), y: at(from.y, to.y, t) };
      }
      steps.forEach(({ node }) => this.move(node));
      this.putLink();
      element.scrollTo(at(from.left, scroll.left, t), at(from.top, scroll.top, t));
      this.tree.toggleAttribute("data-gliding", part < 1); // a click may miss what moves
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.gliding);
    step(begun);
  }

  move(node) {
    const { now, above, element, edge } = node;
    element.style.transform = `translate(${now.x}px, ${now.y}px)`;
    if (above) edge.setAttribute("d", this.bent(above.now, now, node));
  }

  // The line from one node to another, which is level at neither.
  bent(from, to, { kind }) {
    const [top, bottom] = [from.y + this.tall - 2, to.y + 2];
    const middle = (top + bottom) / 2;
    const on = kind === "more" ? `V${to.y + EDGE + BOARD / 2 - 18}` : "";
    return `M${from.x} ${top}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${bottom}${on}`;
  }

  // Tie a node to where its board was met, where both are drawn.
  putLink() {
    const [here, all] = [this.selected, [...this.nodes.values()]];
    const there = this.nodes.get(here?.known) ?? all.find(({ known, now }) => now && known === here?.path);
    const both = here?.now && there?.now;
    this.link.toggleAttribute("hidden", !both);
    if (!both) return;
    const [a, b] = [here.now, there.now];
    const [y0, y1] = [a.y + EDGE, b.y + EDGE]; // from board to board
    const bow = Math.min(y0, y1) - 70;
    this.link.setAttribute("d", `M${a.x} ${y0}C${a.x} ${bow} ${b.x} ${bow} ${b.x} ${y1}`);
  }

  // Let a node look as it is now, or be away.
  dress(node, places) {
    const here = places.has(node);
    node.element.hidden = !here;
    if (node.opens) node.element.setAttribute("aria-expanded", String(node.open));
    if (!here) {
      node.now = null;
      return node.edge.remove();
    }
    if (node.kind === "more") this.wear(node);
    else if (!node.worn) this.wear(node);
    node.worn = true;
    const best = this.onLine(node);
    node.element.classList.toggle("lib-on-line", best);
    if (!node.above) return;
    const beside = this.below(node.above);
    node.element.setAttribute("aria-setsize", beside.length);
    node.element.setAttribute("aria-posinset", beside.indexOf(node) + 1);
    node.edge.setAttribute("class", best ? "lib-on-line" : "");
    node.edge.style.strokeWidth = node.chance ? 1 + 7 * Math.sqrt(node.chance) : best ? 4 : 1.5;
    if (best) this.lines.append(node.edge);
    else if (!node.edge.parentNode) this.lines.prepend(node.edge);
  }

  // Whether a node is met where every action is the best one.
  onLine({ above, kind, best }) {
    return !above || (kind !== "after" || best) && kind !== "more" && this.onLine(above);
  }

  // Give a node its board and its words.
  wear(node) {
    const { kind, element } = node;
    element.setAttribute("aria-label", this.label(node));
    if (kind === "more") {
      return element.replaceChildren(make("span.lib-rest", this.label(node)));
    }
    const board = new Board("board", this.rules);
    const fresh = kind === "state" && node.path ? this.rules.cellOf(node.cell) : null;
    board.show(this.rules.fromHex(node.board), fresh);
    board.element.setAttribute("aria-hidden", "true");
    board.element.removeAttribute("role");
    const knob = node.opens ? [make("i.lib-knob", { "data-kind": kind })] : [];
    element.classList.toggle("lib-dead", Boolean(node.dead));
    element.classList.toggle("lib-best", Boolean(node.best));
    element.replaceChildren(
      make("span.lib-edge", this.edgeWords(node)), make("div.lib-mini", board.element),
      make("b.lib-value", node.dead ? "dead end: 0" : worthIn(node.worth)),
      make("span.lib-rest", this.rest(node)), ...knob,
    );
  }

  // What stands at the line to a node.
  edgeWords({ kind, path, action, reward, exponent, chance, known }) {
    if (kind === "after") {
      const paid = this.pays && reward ? ` +${points(reward)}` : "";
      return `${known ? "↺ " : ""}${ARROWS[action]} ${ACTIONS[action]}${paid}`;
    }
    return path ? `${this.rules.tiles[exponent]} · ${share(chance)}` : "the position";
  }

  // What stands under a node's worth.
  rest({ kind, best, less, worth, dead, action, reduced, path }) {
    if (kind === "after") return best ? "best" : less === 0 ? "as good" : lessIn(less, worth);
    if (dead) return "";
    return `${path ? "then" : "best:"} ${ARROWS[action]} ${ACTIONS[action]}${reduced ? " · 1 ply less" : ""}`;
  }

  showBands(levels) {
    const step = this.tall + LINE;
    const name = (n) => (n === 2 * this.plies - 1 ? "the network" : n % 2 ? "luck: mean" : "you: best");
    this.bands.replaceChildren(...Array.from({ length: levels }, (_, n) => make("div.lib-band",
      { style: `--top: ${n * step - LINE / 2}px; --tall: ${step}px`, "data-kind": n % 2 ? "after" : "state" },
      make("span", name(n)))));
  }

  // ---- words

  // A path in words; its cells have the library's numbers.
  way(path) {
    if (!path) return "the position";
    return path.split("/").map((step) => {
      const [first, exponent] = step.split(":").map(Number);
      return exponent ? this.spawned(first, exponent, " in") : ACTIONS[first];
    }).join(", ");
  }

  spawned(cell, exponent, where) {
    const { rules } = this;
    return `a ${rules.tiles[exponent]}${where} ${rules.placeInWords(rules.cellOf(cell))}`;
  }

  // A node as it is read out.
  label(node) {
    const { kind, path, action, best, known, rest, above, cell, exponent } = node;
    if (kind === "more") return above.all ? "fewer" : `… and ${rest} more`;
    if (kind === "after") {
      const marks = [best && "the best", known && "met before", !node.plies && "the network’s value"];
      return [ACTIONS[action], this.sumOf(node), ...marks.filter(Boolean)].join(", ");
    }
    const what = path ? this.spawned(cell, exponent, " in") : "The position";
    return `${what}, ${this.sumOf(node)}`;
  }

  // How the worth of a node comes about.
  sumOf({ kind, path, reward, value, worth, less, chance, dead, action }) {
    if (kind === "after") {
      const sum = this.pays ? `${points(reward)} + ${worthIn(value)} = ` : "";
      return `${sum}${worthIn(worth)}${less > 0 ? `, ${lessIn(less, worth).slice(1)} less than the best` : ""}`;
    }
    const odds = path ? `${share(chance)}, ` : "";
    return odds + (dead ? "a dead end: 0" : `best ${ACTIONS[action]}: ${worthIn(worth)}`);
  }

  // ---- the node that is looked at

  // Look at a node, wherever it is folded away; focus: whether the keyboard goes there.
  select(node, focus = true) {
    for (let child = node; child.above; child = child.above) {
      const { above } = child;
      above.open = true;
      this.wanted.add(above.path);
      if (child.kind === "state" && above.children.indexOf(child) >= SHOWN) above.all = true;
    }
    for (const { element } of this.nodes.values()) {
      element.tabIndex = element === node.element ? 0 : -1;
      element.setAttribute("aria-selected", String(element === node.element));
    }
    this.selected = node;
    this.arrange(node);
    if (focus) node.element.focus({ preventScroll: true });
    const seen = node.kind === "more" ? node.above : node;
    const fresh = seen.kind === "state" && seen.path ? this.rules.cellOf(seen.cell) : null;
    this.board.show(this.rules.fromHex(seen.board), fresh);
    this.board.point(seen.kind === "state" ? seen.action : null);
    this.caption.textContent = seen.path ? this.way(seen.path) : "The position: your turn.";
    this.sum.textContent = seen.path ? this.sumOf(seen) : "";
    this.reason.textContent = this.why(seen);
    enable(this.jump, Boolean(seen.known));
  }

  // Say what the search does at a node, and why it looks no further where it does not.
  why(node) {
    const { kind, plies } = node;
    if (node.dead) return "A dead end: no action is legal. No points follow, so it is worth 0.";
    if (kind === "state") {
      const less = node.reduced
        ? " A 4 is unlikely, so the search looks one ply less deep behind it." : "";
      const legal = this.rules.legalActions(this.rules.fromHex(node.board));
      const not = ACTIONS.filter((_, action) => !legal.includes(action)).join(" and ");
      const rest = not && ` ${not} would move nothing.`;
      const told = node.told ? ` The player’s ${node.told}.` : "";
      return `Your turn: the largest of the ${NUMBERS[legal.length]} counts.${rest}${less}${told}`;
    }
    if (node.known) {
      const how = node.turned ? " (turned or mirrored)" : "";
      return `The search stops here: its table knows this board${how} since ${this.way(node.known)}. ` +
        "You can open it all the same.";
    }
    if (!plies) return "The search ends here: this is the network’s own value.";
    return `The mean over all spawns, with ${counted(plies, "more action")} looked at.`;
  }

  // Open the way to where the table met this board, and go there.
  async meet() {
    const { known } = this.selected ?? {};
    if (!known) return this.say("The table has met nothing here before.");
    const { nodes } = this;
    await this.growth;
    this.leave();
    const steps = known.split("/");
    for (let n = 0; n < steps.length; n++) {
      const node = nodes.get(steps.slice(0, n).join("/"));
      if (!node || !(await this.ready(node)) || this.nodes !== nodes) return;
    }
    const node = nodes.get(known);
    if (node) this.select(node);
  }

  // ---- keys

  keyed(key, event) {
    if (event.target.closest("select, input")) return false;
    const node = this.selected;
    const { plane } = this;
    if (key === "e") this.askPosition();
    else if (key === "m") this.meet();
    else if (key === "backspace") this.back();
    else if (key === "+" || key === "=") plane.by(1.25);
    else if (key === "-") plane.by(0.8);
    else if (key === "0") plane.fit();
    else if (!node) return false;
    else if (key === "b") this.line();
    else if (key === "enter" || key === " ") this.toggle(node);
    else if (key === "arrowup") this.visit(node.above);
    else if (key === "arrowdown") this.down(node);
    else if (key === "arrowright") this.along(node, 1);
    else if (key === "arrowleft") this.along(node, -1);
    else if (key === "home") this.select(this.nodes.get(""));
    else if (key === "end") this.along(node, Infinity);
    else return false;
    return true;
  }

  visit(node) {
    if (node) this.select(node);
  }

  // Go to the best child, or the first, or unfold.
  down(node) {
    const below = this.below(node);
    if (below.length) this.select(below.find(({ best }) => best) ?? below[0]);
    else this.open(node);
  }

  // Go along a level, to the next node or to the last.
  along(node, by) {
    const row = [...this.nodes.values()].filter(({ level, now }) => now && level === node.level);
    row.sort((a, b) => a.x - b.x);
    const at = row.indexOf(node);
    this.visit(row[Math.max(0, Math.min(row.length - 1, at + by))]);
  }

  get lost() {
    return "The kernel has ended or was restarted. What is open stays; to open more, " +
      `${AGAIN}.`;
  }

  close() {
    cancelAnimationFrame(this.gliding);
    this.plane.close();
    super.close();
  }
}

const NUMBERS = ["none", "one", "two", "three", "four"];

export default { render: exploring(Tree, "tree") };
