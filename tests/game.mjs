// Answers test_game_js.py: a list of questions in JSON comes in, a list of answers goes out.
import { readFileSync } from "node:fs";

const { Game, WHOLE, rulesOf, stream } = await import(process.argv[2]);

const tried = (read) => {
  try {
    return read();
  } catch (error) {
    return error.message;
  }
};
const answers = {
  stream: ({ seed, number }) => String(stream(seed, number)),
  game: ({ game }, rules) => {
    const played = new Game(game, rules);
    return {
      actions: played.actions,
      turns: played.turns.map(({ cells, word, score, state, reward, after }) => ({
        board: rules.toHex(cells), word: String(word), score, state: String(state), reward,
        after: after && rules.toHex(after), legal: rules.legalActions(cells),
      })),
    };
  },
  slides: ({ board }, rules) => [0, 1, 2, 3].map((action) => {
    const { cells, reward } = rules.slide(rules.fromHex(board), action);
    return [rules.toHex(cells), reward];
  }),
  undone: ({ game, times, again }, rules) => {
    const played = new Game(game, rules);
    for (let i = 0; i < times; i++) played.undo();
    [...again].forEach((action) => played.act(Number(action)));
    return played.turns.map(({ cells }) => rules.toHex(cells));
  },
  position: ({ text }, rules) => tried(() => rules.toHex(rules.readPosition(text))),
  // How often a 2 and a 4 came in each cell of a board: a list of pairs.
  spawns: ({ board, seed, count }, rules) => {
    const came = rules.cells.map(() => [0, 0]);
    let turn = { cells: rules.fromHex(board), state: stream(seed, 0) };
    for (let i = 0; i < count; i++) {
      const { cells, cell, state } = rules.spawn(turn);
      came[cell][cells[cell] - 1]++;
      turn = { ...turn, state };
    }
    return came;
  },
};

const questions = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(({ ask, rules = WHOLE, ...about }) =>
  answers[ask](about, rulesOf(rules)))));
