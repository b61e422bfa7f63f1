// Answers test_game_js.py: a list of questions in JSON comes in, a list of answers goes out.
import { readFileSync } from "node:fs";

const { Game, legalActions, possible, readCells, readPosition, slide, stream, toHex } = await import(process.argv[2]);

const tried = (read) => {
  try {
    return read();
  } catch (error) {
    return error.message;
  }
};
const answers = {
  stream: ({ seed, number }) => String(stream(seed, number)),
  game: ({ game }) => {
    const played = new Game(game);
    return {
      actions: played.actions,
      turns: played.turns.map(({ cells, score, state, reward, after }) => ({
        board: toHex(cells), score, state: String(state), reward, after: after && toHex(after),
        legal: legalActions(cells),
      })),
    };
  },
  slides: ({ cells }) => [0, 1, 2, 3].map((action) => {
    const { cells: after, reward } = slide(cells, action);
    return [toHex(after), reward];
  }),
  undone: ({ game, times, again }) => {
    const played = new Game(game);
    for (let i = 0; i < times; i++) played.undo();
    [...again].forEach((action) => played.act(Number(action)));
    return played.turns.map(({ cells }) => toHex(cells));
  },
  position: ({ text }) => tried(() => toHex(readPosition(text))),
  small: ({ text, count, columns }) => tried(() => possible(readCells(text, count, columns))),
};

const questions = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(({ ask, ...about }) => answers[ask](about))));
