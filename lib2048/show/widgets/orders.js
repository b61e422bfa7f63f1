// Orders to the kernel: each has a number, by which the kernel says that it has heard.

const UNHEARD = 700; // milliseconds until a kernel that has not answered is called busy

export class Orders {
  // send: brings a message to the kernel; view: is told by `say` when it lets orders wait, by
  // `tellAgain` when it then has heard them all, and by `lose` when there is none any more.
  constructor(send, view) {
    Object.assign(this, { send, view, count: 0, waits: new Map(), late: false });
  }

  give(order) {
    const id = `${++this.count}`;
    try {
      this.send({ ...order, id });
    } catch {
      return this.view.lose();
    }
    this.waits.set(id, setTimeout(() => this.wait(), UNHEARD));
  }

  wait() {
    this.late = true;
    this.view.say("The kernel is busy: it hears this when it is free.");
  }

  heard(id) {
    clearTimeout(this.waits.get(id));
    this.waits.delete(id);
    if (!this.late || this.waits.size) return;
    this.late = false;
    this.view.tellAgain();
  }

  close() {
    this.waits.forEach(clearTimeout);
  }
}
