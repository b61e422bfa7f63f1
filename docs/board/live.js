// What a lesson shows as a picture comes alive in the book: a button over it loads what the widget needs, and
// it begins in the picture's place.  Nothing is loaded before, and no kernel is needed: `kinds` answer in its
// place.  A classic script, as a page opened as a file needs it.

const here = document.currentScript.src;

// A model as anywidget has it: traits, and messages that somebody on this page answers.
class Model {
  // traits: {name: value}; answer: takes a message and a function that brings one back.
  constructor(traits, answer = () => {}) {
    Object.assign(this, { traits, answer, heard: {} });
  }

  get(name) {
    return this.traits[name];
  }

  set(name, value) {
    this.traits[name] = value;
    this.tell(`change:${name}`);
  }

  save_changes() {}

  on(event, hear) {
    (this.heard[event] ??= []).push(hear);
  }

  off() {}

  tell(event, ...about) {
    (this.heard[event] ?? []).forEach((hear) => hear(...about));
  }

  send(message) {
    setTimeout(() => this.answer(message, (answer) => this.tell("msg:custom", answer)));
  }
}

// Make an element, with what it holds.
function make(tag, attributes = {}, ...parts) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...parts);
  return element;
}

// Put a widget into an element; returns a function that ends it.
function show(name, root, model) {
  const end = live.renders[name]({ model, el: root });
  root.querySelector(".lib2048")?.classList.add("lib-page");
  return end;
}

// kinds: {name: begins in an element, with what data-about says}; renders: what widgets end in; data: files.
const live = { kinds: {}, renders: {}, data: {}, Model, make, show };
globalThis.lib2048Live = live;

// What there is to press, and what a kind loads; place: the id that its script looks for by itself.
const KINDS = {
  play: { says: "Play here", files: ["play.js"], place: "play-2048" },
  train: { says: "Train here", files: ["train.js"], place: "train-2048" },
  small: { says: "Explore it here", files: ["small.css", "small.js"] },
  curves: { says: "Explore the curves here", files: ["curves.css", "curves.js"] },
  replay: { says: "Watch a game here", files: ["replay.css", "game.js", "replay.js"] },
  threes: { says: "Play here", files: ["threes.css", "threes.js"] },
};
const loaded = new Map();

function load(name) {
  if (!loaded.has(name)) loaded.set(name, new Promise((resolve, reject) => {
    const href = new URL(name, here).href;
    const link = { rel: "stylesheet", href };
    const element = name.endsWith(".css") ? make("link", link) : make("script", { src: href });
    element.onload = resolve;
    element.onerror = () => reject(new Error(`${name} is not there`));
    document.head.append(element);
  }));
  return loaded.get(name);
}

async function wake(place, pressed, note) {
  const { live: kind, about = "{}" } = place.dataset;
  const told = JSON.parse(about);
  const root = make("div");
  pressed.disabled = true;
  note.textContent = "Loading …";
  try {
    if (KINDS[kind].place) {
      root.id = KINDS[kind].place;
      Object.assign(root.dataset, told);
      place.prepend(root);
    }
    for (const name of [...KINDS[kind].files, ...(told.files ?? [])]) await load(name);
    if (!KINDS[kind].place) {
      place.prepend(root);
      live.kinds[kind](root, told);
    }
  } catch (error) {
    root.remove();
    pressed.disabled = false;
    note.textContent = `This did not come alive: ${error.message}.`;
    return;
  }
  place.dataset.alive = "";
  [...place.children].forEach((child) => child !== root && child.remove());
  if (place.dataset.note) root.after(make("p", { className: "live-note" }, place.dataset.note));
  const first = root.matches("[tabindex]") ? root : root.querySelector("[tabindex]");
  first?.focus({ preventScroll: true });
}

// Put the button over the picture.
function offer(place) {
  const { live: kind, note = "In this page, with nothing to install." } = place.dataset;
  const said = make("span", { role: "status" }, note);
  const pressed = make("button", { type: "button", className: "live-button" }, `▶ ${KINDS[kind].says}`);
  const row = make("p", { className: "live-offer" }, pressed, said);
  pressed.onclick = () => wake(place, pressed, said);
  place.prepend(row);
}

function offerAll() {
  document.querySelectorAll(".live-2048").forEach(offer);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", offerAll);
else offerAll();
