// A sheet that is larger than its box: it scrolls as everything does, a mouse drags it, and it is zoomed
// by buttons, by Ctrl and the wheel, and by two fingers.

import { button, make, row } from "./board.js";

const [LEAST, MOST, STEP] = [0.2, 3, 1.25]; // of the zoom
const AROUND = 12; // pixels between the sheet and its box
const DRAG = 4; // pixels from which on a press is no click
const within = (low, high) => (number) => Math.max(low, Math.min(high, number));
const zooms = within(LEAST, MOST);

export class Plane {
  // gutter: how much of its left side something else lies over; sized: hears that the box has another
  // size.
  constructor({ gutter = 0, sized = () => {} } = {}) {
    Object.assign(this, { gutter, zoom: 1, width: 0, height: 0, chosen: false });
    this.sheet = make("div.lib-sheet");
    this.space = make("div.lib-space", this.sheet);
    this.element = make("div.lib-plane", this.space);
    this.said = make("output.lib-zoom");
    this.buttons = row(
      button("−", "Smaller", () => this.by(1 / STEP), { "aria-label": "Zoom out" }), this.said,
      button("+", "Larger", () => this.by(STEP), { "aria-label": "Zoom in" }),
      button("Fit", "See the whole tree", () => this.fit()));
    this.hearWheel();
    this.hearMouse();
    this.hearFingers();
    this.watch = new ResizeObserver(() => sized());
    this.watch.observe(this.element);
  }

  close() {
    this.watch.disconnect();
  }

  // ---- sizes

  // Let the sheet have another size or zoom; returns by how much that moved what is seen on it, in its
  // own pixels.
  become({ width = this.width, height = this.height, zoom = this.zoom }) {
    const before = this.corner();
    Object.assign(this, { width, height, zoom });
    const { style } = this.space;
    style.setProperty("--zoom", zoom);
    style.setProperty("--sheet-width", `${width * zoom}px`);
    style.setProperty("--sheet-height", `${height * zoom}px`);
    style.setProperty("--around", `${AROUND}px`);
    style.setProperty("--gutter", `${this.gutter}px`);
    this.said.textContent = `${Math.round(100 * zoom)} %`;
    const after = this.corner();
    return { x: (before.x - after.x) / zoom, y: (before.y - after.y) / zoom };
  }

  // Where the sheet's corner is in the box.
  corner() {
    const { element, sheet } = this;
    return { x: sheet.offsetLeft - element.scrollLeft, y: sheet.offsetTop - element.scrollTop };
  }

  get seen() {
    return this.element.clientWidth > 0;
  }

  // ---- zoom

  // Zoom; x, y: the point of the box that stays where it is, by default the middle.
  to(zoom, { x = this.element.clientWidth / 2, y = this.element.clientHeight / 2 } = {}) {
    const { x: left, y: top } = this.corner();
    const [px, py] = [(x - left) / this.zoom, (y - top) / this.zoom];
    this.become({ zoom: zooms(zoom) });
    const { sheet, element } = this;
    element.scrollLeft = sheet.offsetLeft + px * this.zoom - x;
    element.scrollTop = sheet.offsetTop + py * this.zoom - y;
  }

  by(factor, where) {
    this.chosen = true;
    this.to(this.zoom * factor, where);
  }

  // The zoom at which all is seen.
  get whole() {
    const { clientWidth, clientHeight } = this.element;
    const room = (long, size) => (long - 2 * AROUND) / size;
    return Math.min(room(clientWidth - this.gutter, this.width), room(clientHeight, this.height));
  }

  // See all, but no larger and no smaller than so.
  fit(low = LEAST, high = 1.25) {
    this.chosen = false;
    this.become({ zoom: within(low, high)(this.whole) });
  }

  // Where to scroll to see some boxes of the sheet, the last one for certain: {left, top}.
  reach(...boxes) {
    const { element, sheet, zoom } = this;
    let [left, top] = [element.scrollLeft, element.scrollTop];
    const along = (at, begin, from, to, long, gutter = 0) => {
      const [low, high] = [begin + from * zoom - AROUND - gutter, begin + to * zoom + AROUND - long];
      return high > low ? at : Math.min(low, Math.max(high, at)); // one that has no room stays
    };
    for (const box of boxes) {
      left = along(left, sheet.offsetLeft, box.left, box.right, element.clientWidth, this.gutter);
      top = along(top, sheet.offsetTop, box.top, box.bottom, element.clientHeight);
    }
    const most = (whole, part) => within(0, Math.max(0, whole - part));
    return {
      left: most(element.scrollWidth, element.clientWidth)(left),
      top: most(element.scrollHeight, element.clientHeight)(top),
    };
  }

  // ---- wheel, mouse and fingers

  place({ clientX, clientY }) {
    const { left, top } = this.element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  hearWheel() {
    this.element.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault(); // the page keeps its size
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.by(Math.exp(-0.004 * lines * within(-60, 60)(event.deltaY)), this.place(event));
    }, { passive: false });
  }

  hearMouse() {
    const { element } = this;
    let from = null;
    let dragged = false;
    element.addEventListener("pointerdown", ({ pointerType, button, clientX, clientY }) => {
      dragged = false;
      if (pointerType !== "mouse" || button !== 0) return;
      from = { x: clientX + element.scrollLeft, y: clientY + element.scrollTop, clientX, clientY };
    });
    element.addEventListener("pointermove", ({ clientX, clientY, buttons, pointerId }) => {
      if (!from || !(buttons & 1)) return void (from = null);
      if (Math.hypot(clientX - from.clientX, clientY - from.clientY) > DRAG && !dragged) {
        dragged = true;
        element.setPointerCapture(pointerId);
      }
      if (!dragged) return;
      element.scrollTo(from.x - clientX, from.y - clientY);
      element.classList.add("lib-dragged");
    });
    const end = () => {
      from = null;
      element.classList.remove("lib-dragged");
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    element.addEventListener("click", (event) => {
      if (dragged) event.stopPropagation();
      dragged = false;
    }, true);
  }

  hearFingers() {
    let apart = 0;
    const two = ({ touches: [a, b] }) => ({
      apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
      middle: this.place({
        clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2,
      }),
    });
    const hear = (name, then) => this.element.addEventListener(name, (event) => {
      if (event.touches.length !== 2) return;
      event.preventDefault(); // one finger scrolls, two do not
      then(two(event));
    }, { passive: false });
    hear("touchstart", (now) => ({ apart } = now));
    hear("touchmove", ({ apart: now, middle }) => {
      this.by(now / apart, middle);
      apart = now;
    });
  }
}
