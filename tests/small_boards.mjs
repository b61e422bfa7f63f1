// Answers test_page_small.py: solves a small board and says what it is asked about it.
// arguments: solver.js, games.js, a question as JSON: {rules, four, way, boards}.
const [, , solver, games, question] = process.argv;
const { Solved } = await import(solver);
const { rulesOf } = await import(games);
const { rules, four, way, boards } = JSON.parse(question);
const begin = performance.now();
const solved = new Solved(rulesOf(rules), four, way);
const seconds = (performance.now() - begin) / 1000;
const { about } = solved;
console.log(JSON.stringify({ about, seen: boards.map((board) => solved.seen(board)), seconds }));
