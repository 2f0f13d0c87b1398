import { sortedNodes } from "./many.js";

/** How many levels of a cascade are drawn beside each other. Deeper nodes are listed at the last level. */
export const levelsMax = 6;

/**
 * How WAL flows: the roots with those that receive from them, and the nodes apart. A ring of senders has no root: its
 * nodes are apart. A tree is `{ node, isDeeper, below }`; `isDeeper` says that its sender is at the same level.
 * @param most how many nodes of the flow are wanted; `left` says how many there are beyond them
 */
export function flowOf(cluster, most = Infinity) {
  const { nodes, leader } = cluster;
  const sorted = sortedNodes(cluster);
  const names = new Set(nodes.map(({ node }) => node));
  const receivers = new Map();
  for (const node of sorted)
    if (node.upstream !== null && node.node !== leader && names.has(node.upstream)) {
      const known = receivers.get(node.upstream);
      if (known === undefined) receivers.set(node.upstream, [node]);
      else known.push(node);
    }
  const isFed = ({ upstream }) => upstream !== null && names.has(upstream);
  const roots = sorted.filter((node) => node.node === leader || (!isFed(node) && receivers.has(node.node)));
  const { trees, reached } = treesOf(roots, receivers, most);
  const apart = sorted.filter(({ node }) => !reached.has(node));
  return { roots, trees, apart, left: Math.max(0, reached.size - most) };
}

/** Walks down without recursion: a cascade may be as deep as the cluster has nodes. */
function treesOf(roots, receivers, most) {
  const trees = [];
  const reached = new Set();
  const waiting = roots.toReversed().map((node) => ({ node, level: 1, into: trees, isDeeper: false }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, level, into, isDeeper } = next;
    if (reached.has(node.node)) continue;
    reached.add(node.node);
    const tree = { node, isDeeper, below: [] };
    if (reached.size <= most) into.push(tree);
    const isLast = level === levelsMax;
    const place = isLast ? { level, into, isDeeper: true } : { level: level + 1, into: tree.below, isDeeper: false };
    for (const below of (receivers.get(node.node) ?? []).toReversed()) waiting.push({ node: below, ...place });
  }
  return { trees, reached };
}
