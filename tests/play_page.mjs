// Answers test_play_page.py by the files that a page loads: a list of questions in JSON comes in, a
// list of answers goes out.  arguments: network.js, play.js, game.js.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [, , weights, play, rules] = process.argv;
const { WHOLE } = await import(rules);
for (const path of [weights, play]) runInThisContext(readFileSync(path, "utf8"));
const { Quick, readNetwork, reviewed } = globalThis.lib2048Play;
const network = await readNetwork(globalThis.lib2048Network);

const packed = (cells) => [0, 4, 8, 12].map((c) => cells.slice(c, c + 4)
  .reduce((row, exponent, i) => row | (exponent << (4 * i)), 0));
const hex = (cells) => WHOLE.toHex(cells);
const unpacked = (rows) => [...rows].flatMap((row) => [0, 4, 8, 12].map((at) => (row >> at) & 15));
const turned = (cells) => cells.map((_, cell) => cells[4 * (cell & 3) + (cell >> 2)]);

function standing(cells, top = -1) {
  const game = new Quick("1", 0);
  const [a, b, c, d] = packed(cells);
  game.stand(a | (b << 16), c | (d << 16), top);
  return game;
}

const answers = {
  board: ({ board, top = -1 }) => {
    const game = standing(WHOLE.fromHex(board), top);
    const worth = [0, 0, 0, 0];
    const action = network.choose(game, worth);
    const after = game.after.map((rows, a) => (a & 1 ? unpacked(rows) : turned(unpacked(rows))));
    return {
      action, rewards: [...game.rewards], over: game.over, after: after.map(hex),
      worth: worth.map((number) => (Number.isFinite(number) ? number : null)),
    };
  },
  rows: () => {
    let different = 0;
    for (let row = 0; row < 65536; row++) {
      const cells = unpacked([row, 0, 0, 0]);
      const game = standing(cells);
      for (const action of [1, 3]) {
        const { cells: after, reward } = WHOLE.slide(cells, action);
        const same = after.join() === cells.join();
        const found = [unpacked(game.after[action]).join(), game.rewards[action]];
        if (found[0] !== WHOLE.inFourBits(after).join() || found[1] !== (same ? -1 : reward)) different++;
      }
    }
    return different;
  },
  game: ({ seed, number }) => {
    const game = new Quick(seed, number);
    const worth = [0, 0, 0, 0];
    while (!game.over) game.act(network.choose(game, worth));
    return [game.score, game.length, game.largest];
  },
  // A game from a board on, by the first legal action: its boards, largest tile and score, and all undone.
  large: ({ board }) => {
    const game = standing(WHOLE.fromHex(board));
    const boards = [game.cells];
    while (!game.over) {
      game.act(game.rewards.findIndex((reward) => reward >= 0));
      boards.push(game.cells);
    }
    const { score, largest, length } = game;
    const turns = Array.from({ length }, (_, n) => game.turn(n).cells);
    const same = boards.slice(0, -1).join() === turns.join();
    const back = [];
    do back.unshift(game.cells); while (game.undo());
    return { boards: boards.map((cells) => WHOLE.toWhole(cells)), score, largest, same: same && back.join() === boards.join() };
  },
  // A game that was played by these actions, looked at again; then from the middle on by other ones.
  review: ({ seed, number, actions }) => {
    const game = new Quick(seed, number);
    actions.forEach((action) => game.act(action));
    const told = reviewed(game, network);
    const again = game.from(actions.length >> 1);
    const half = [hex(again.cells), again.score, again.length];
    actions.slice(actions.length >> 1).forEach((action) => again.act(action));
    const same = hex(again.cells) === hex(game.cells) && again.score === game.score;
    return { ...told, half, same };
  },
  undone: ({ seed, number, actions }) => {
    const game = new Quick(seed, number);
    const boards = [game.cells];
    const play = () => actions.map((action) => game.act(action) >= 0 && boards.push(game.cells));
    play();
    const there = boards.splice(0).map(hex);
    const [score, length] = [game.score, game.length];
    while (game.undo());
    boards.push(game.cells);
    const begun = game.score;
    play();
    return { there, again: boards.map(hex), begun, same: score === game.score, length };
  },
};

const questions = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(({ ask, ...about }) => answers[ask](about))));
