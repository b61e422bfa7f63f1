// What stands around a board that can be set: a message, forms, and a position that people type or
// paste, as fields over the board.  Whoever has such a board extends `Editor`.

import { WHOLE } from "./game.js";
import { button, holdKeys, make, messageLine, putWords, row, sizes } from "./board.js";
import { AGAIN } from "./jupyter.js";
import { Mind } from "./mind.js";

// `frame` (around the board) is set by who extends it; `here` are the cells that the fields begin
// with, `use(cells)` gets those that were chosen, `keyed(key)` hears keys.
export class Editor {
  // useWords: what the button says; keepWords: what Cancel means; send: takes questions; rules: of the
  // board.
  constructor(root, send, useWords, keepWords, rules = WHOLE) {
    Object.assign(this, { root, useWords, keepWords, rules, fields: null });
    this.message = messageLine();
    this.forms = make("div");
    this.mind = new Mind(send, (words) => this.wait(words));
    holdKeys(root, (key, event) => this.pressed(key, event));
    this.hearPaste();
  }

  // ---- what differs

  halt() {} // stop what goes on by itself

  get lost() {
    return `The kernel has ended or was restarted: ${AGAIN}.`;
  }

  warning() {
    return ""; // what another position throws away
  }

  read(text) {
    return this.rules.readPosition(text);
  }

  pressed(key, event) {
    return !event.target.closest(".lib-form, .lib-fields") && this.keyed(key, event);
  }

  // ---- words

  put(words, trouble = false, details = "") {
    this.waited = false;
    putWords(this.message, words, trouble, details);
  }

  say(words, trouble = false, details = "") {
    this.put(words, trouble, details);
  }

  wait(words) {
    if (words || this.waited) this.say(words);
    this.waited = Boolean(words);
  }

  // ---- forms

  openForm(form, focused) {
    this.halt();
    this.closeForm(false);
    this.forms.append(form);
    focused.focus();
  }

  // The keyboard comes back to the board: were it left to a form that is gone, keys would reach
  // the notebook.
  closeForm(focus = true) {
    const had = this.root.contains(document.activeElement) && this.forms.hasChildNodes();
    this.forms.replaceChildren();
    this.fields?.remove();
    this.fields = null;
    if (had && focus) this.root.focus({ preventScroll: true });
  }

  form(submit, words, ...children) {
    const onsubmit = (event) => {
      event.preventDefault();
      submit();
    };
    const onkeydown = (event) => event.key === "Escape" && this.closeForm();
    const note = make("p", { hidden: words ? null : "" }, words);
    return make("form.lib-form", { onsubmit, onkeydown }, note, ...children);
  }

  // ---- a position

  askPosition(cells = this.here) {
    this.closeForm(false);
    const fields = cells.map((exponent, cell) => this.field(exponent, cell));
    const use = make("button", { type: "submit" }, this.useWords);
    const no = button("Cancel", this.keepWords, () => this.closeForm());
    const how = make("p.lib-small", "Type the tiles, or paste a position into any cell: " +
      `${cells.length} tiles, or the integer of a board. An empty cell may stay empty.`);
    const apply = () => this.place(fields.map(({ value }) => value.trim() || ".").join(" "));
    const form = this.form(apply, this.warning(), how, row(use, no));
    const onkeydown = (event) => this.inFields(event, fields, apply);
    const fieldset = make("div.lib-fields", { style: sizes(this.rules), onkeydown }, ...fields);
    this.openForm(form, use);
    this.fields = fieldset;
    this.frame.append(fieldset);
    fields[0].focus();
    fields[0].select();
  }

  field(exponent, cell) {
    return make("input", {
      value: this.rules.tiles[exponent] || "", inputmode: "numeric", "data-field": cell, autocomplete: "off",
      "aria-label": `Tile in ${this.rules.placeInWords(cell)}`,
      onfocus: (event) => event.target.select(),
    });
  }

  inFields(event, fields, apply) {
    const { columns } = this.rules;
    const step = { ArrowUp: -columns, ArrowRight: 1, ArrowDown: columns, ArrowLeft: -1 }[event.key];
    const at = fields.indexOf(event.target);
    if (event.key === "Enter") apply();
    else if (event.key === "Escape") this.closeForm();
    else if (step && fields[at + step]) fields[at + step].focus();
    else return;
    event.preventDefault();
  }

  // ---- the clipboard

  hearPaste() {
    this.paste = (event) => this.root.contains(document.activeElement) && this.pasted(event);
    document.addEventListener("paste", this.paste, true); // a focused board hears of none
  }

  pasted(event) {
    const text = event.clipboardData.getData("text").trim();
    const { activeElement: focused } = document;
    const field = focused.closest("[data-field]");
    if (focused.matches("input:not([type=range], [type=checkbox])") && !field) return; // a seed
    if (field && /^\d{0,5}$/.test(text)) return; // one tile
    event.preventDefault();
    event.stopPropagation();
    try {
      this.askPosition(this.read(text));
      this.say(`Pasted. Press “${this.useWords}” to use it.`);
    } catch (error) {
      this.say(`This position cannot be: ${error.message}.`, true);
    }
  }

  place(text) {
    try {
      this.use(this.read(text));
    } catch (error) {
      this.say(`This position cannot be: ${error.message}.`, true);
    }
  }

  // ---- the kernel

  hear(message) {
    if (message.kind === "trouble") this.say(message.error, true, message.details);
    else this.mind.hear(message);
  }

  lose() {
    this.mind.lose(this.lost);
    this.halt();
    this.say(this.lost, true);
  }

  close() {
    this.halt();
    this.mind.close();
    document.removeEventListener("paste", this.paste, true);
  }
}
