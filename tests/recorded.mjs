// Answers test_live.py: the record of the game that a page replays, by the scripts that it loads.
// arguments: what answers the widget, the data.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

globalThis.lib2048Live = { kinds: {}, renders: {}, data: {} };
for (const path of process.argv.slice(2)) runInThisContext(readFileSync(path, "utf8"));
const { recordOf, data } = globalThis.lib2048Live;
console.log(JSON.stringify(recordOf(data.game)));
