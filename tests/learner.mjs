// Answers test_page_learner.py: trains as it is told, and writes the weights.
// arguments: learner.js, settings as JSON, actions, the file of the weights.
import { writeFileSync } from "node:fs";

const [, , module, settings, actions, file] = process.argv;
const { Learner } = await import(module);
const learner = new Learner(JSON.parse(settings));
learner.play(Number(actions));
writeFileSync(file, new Uint8Array(learner.weights.buffer));
console.log(JSON.stringify({ games: learner.games, scores: learner.scores }));
