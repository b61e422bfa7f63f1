// Recorded curves in the book: what the explorer asks of a kernel is answered by the rows of a file.

const { Model, show, kinds, data } = globalThis.lib2048Live;
const ORDERS = {
  run: "Nothing trains in the book: run a row in JupyterLab, or train a learner on the page Train a learner.",
  file: "The book writes no files: the tables are in data/curves.",
};

// name: of the file's catalogue and curves.
kinds.curves = (root, { name }) => {
  const { catalogue, curves } = data[name];
  const model = new Model({ catalogue }, (message, back) => {
    const { kind, id } = message;
    back({ kind: "heard", id });
    if (kind === "load") message.rows.forEach((row) => back({ kind: "curves", row, curves: curves[row] ?? [] }));
    else if (kind in ORDERS) back({ kind: "trouble", error: ORDERS[kind] });
  });
  show("curves", root, model);
};
