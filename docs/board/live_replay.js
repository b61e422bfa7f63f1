// A recorded game in the book.

import { recordOf } from "./recorded.js";

const { Model, show, kinds, data } = globalThis.lib2048Live;

kinds.replay = (root) => {
  data.record ??= recordOf(data.game);
  show("replay", root, new Model({ record: data.record, position: 0 }));
};

globalThis.lib2048Live.recordOf = recordOf; // for tests
