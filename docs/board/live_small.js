// Small boards in the book: solved in a worker, whose text comes along as WORKER, and asked there instead of a
// kernel.  What to solve is chosen above the board.

const SIZES = ["2×2", "2×3", "3×2"];
const WAYS = [["random", "random play"], ["greedy", "greedy play (the largest reward)"]];
const FOUR = 0.1; // the chance of a 4
const { make, Model, show, kinds } = globalThis.lib2048Live;

function choice(label, options, value, onchange) {
  const select = make("select", { onchange, ariaLabel: label },
    ...options.map(([value, text]) => make("option", { value }, text)));
  select.value = value;
  return [make("label", {}, `${label} `, select), select];
}

// size, way: what is solved first; position: a packed board in hexadecimal digits, or none.
kinds.small = (root, { size = "2×3", way = "random", position = null }) => {
  const worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
  const place = make("div");
  const said = make("span", { role: "status" });
  let [end, hear, first] = [null, null, position];
  const [sizeLabel, sizes] = choice("board", SIZES.map((text) => [text, text]), size, () => solve());
  const [wayLabel, ways] = choice("beside optimal play", WAYS, way, () => solve());
  root.append(make("p", { className: "live-offer" }, sizeLabel, wayLabel, said), place);

  function solve() {
    const [rows, columns] = sizes.value.split("×").map(Number);
    const told = { ...SPEC, name: `2048@${rows}x${columns}`, rows, columns };
    said.textContent = "It is solved …";
    worker.postMessage({ kind: "solve", told, four: FOUR, way: ways.value });
  }

  function solved(about) {
    said.textContent = "";
    end?.();
    place.replaceChildren();
    const model = new Model({ small: about, position: first ?? "0000000000000011" }, (message, back) => {
      hear = back;
      if (message.kind === "open") worker.postMessage(message);
    });
    first = null;
    end = show("small", place, model);
  }

  worker.onmessage = ({ data }) => (data.kind === "solved" ? solved(data.about) : hear(data));
  worker.onerror = () => (said.textContent = "This browser cannot solve it here: it allows no workers.");
  solve();
};
