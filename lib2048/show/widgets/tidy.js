// Where the nodes of a tree stand that grows downwards.

// Children stand side by side in their order, as near to each other as what is below them lets them,
// and their parent over the middle of the first and the last.  children, width: of a node; gap: between
// neighbours.  Returns {places: Map of each node to {x: its middle, level: 0 for the root}, width,
// levels: how many there are}.
export function tidy(root, { children, width, gap }) {
  const places = new Map();
  const whole = spread(root, { children, width, gap });
  const edge = Math.min(...whole.left);
  stand(whole, -edge, 0, places);
  return { places, width: Math.max(...whole.right) - edge, levels: whole.left.length };
}

// How far a node and all below it reach to both sides of its middle, level by level, and where its
// children stand beside it: {node, below: [[what spread says of it, dx]], left: [], right: []}.
function spread(node, how) {
  const [below, left, right] = [[], [], []];
  for (const child of how.children(node).map((child) => spread(child, how))) {
    const apart = child.left.map((reach, n) => (right[n] ?? -Infinity) - reach + how.gap);
    const dx = below.length ? Math.max(...apart.filter(Number.isFinite)) : 0;
    child.left.forEach((reach, n) => (left[n] ??= dx + reach));
    child.right.forEach((reach, n) => (right[n] = dx + reach));
    below.push([child, dx]);
  }
  const middle = below.length ? below.at(-1)[1] / 2 : 0;
  const half = how.width(node) / 2;
  const moved = (reach) => reach - middle;
  return {
    node, below: below.map(([child, dx]) => [child, dx - middle]),
    left: [-half, ...left.map(moved)], right: [half, ...right.map(moved)],
  };
}

function stand({ node, below }, x, level, places) {
  places.set(node, { x, level });
  below.forEach(([child, dx]) => stand(child, x + dx, level + 1, places));
}
