// Questions to whoever chooses actions (in JupyterLab: the kernel), one at a time and never waited
// for: a busy kernel only makes answers late.

const PATIENCE = 700; // milliseconds until a wait is put into words

export class Mind {
  // send: a question leaves; told: words about the wait, "" when it is over.
  constructor(send, told) {
    Object.assign(this, { send, told, asked: null, waiting: null, lost: "" });
    this.name = Math.random().toString(36).slice(2); // two views of one widget hear all answers
    this.count = 0;
    this.clock = setInterval(() => this.say(), 500);
  }

  // Ask; `answered` gets the answer.  While one question is out, only the newest other one is kept.
  ask(question, answered) {
    if (this.asked) this.waiting = { question, answered };
    else this.put(question, answered);
  }

  put(question, answered) {
    const id = `${this.name}:${++this.count}`;
    this.asked = { id, answered, since: performance.now(), doing: null };
    try {
      if (!this.lost) this.send({ ...question, id });
    } catch (error) {
      this.lose(`the kernel cannot be reached (${error.message})`);
    }
    if (this.lost) this.end({ error: this.lost });
  }

  hear({ kind, id, ...answer }) {
    if (id !== this.asked?.id) return;
    const since = performance.now();
    if (kind === "working") Object.assign(this.asked, { ...answer, since });
    else this.end(answer);
  }

  end(answer) {
    const { answered } = this.asked;
    this.asked = null;
    if (answered) {
      this.told("");
      answered(answer);
    }
    if (this.waiting && !this.asked) {
      const { question, answered } = this.waiting;
      this.waiting = null;
      this.put(question, answered);
    }
  }

  // Forget the question that waits, and the answer to the one that is out.
  drop() {
    this.waiting = null;
    if (this.asked) this.asked.answered = null;
  }

  // Say why no answer will come any more.
  lose(why) {
    this.lost = why;
    if (this.asked) this.end({ error: why });
  }

  say() {
    if (!this.asked?.answered && !this.waiting) return; // nobody wants to know any more
    const { doing, busy, since } = this.asked;
    const waited = performance.now() - since;
    if (waited < PATIENCE) return;
    if (doing && !busy) this.told(`${doing}: ${Math.round(waited / 1000)} s`);
    else this.told("The kernel is busy with another cell: the answer comes afterwards.");
  }

  close() {
    clearInterval(this.clock);
    this.drop();
  }
}
