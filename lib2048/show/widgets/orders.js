// Orders to the kernel: each has a number, by which the kernel says that it has heard.

const UNHEARD = 700; // milliseconds until a kernel that has not answered is called busy

export class Orders {
  // send: brings a message to the kernel; busy, free, lost: are called when it lets orders wait, when
  // it then has heard them all, and when there is none any more.
  constructor(send, { busy, free, lost }) {
    Object.assign(this, { send, busy, free, lost, count: 0, waits: new Map(), late: false });
  }

  give(order) {
    const id = `${++this.count}`;
    try {
      this.send({ ...order, id });
    } catch {
      return this.lost();
    }
    this.waits.set(id, setTimeout(() => this.wait(), UNHEARD));
  }

  wait() {
    this.late = true;
    this.busy();
  }

  heard(id) {
    clearTimeout(this.waits.get(id));
    this.waits.delete(id);
    if (!this.late || this.waits.size) return;
    this.late = false;
    this.free();
  }

  close() {
    this.waits.forEach(clearTimeout);
  }
}
