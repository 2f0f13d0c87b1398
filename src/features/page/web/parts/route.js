/**
 * Which view an address has: `fleet`, `events`, `edges`, `reasons`, `cluster` or `node`; null: there is none.
 * @param route the path after `#`, decoded, as a list
 */
export function shapeOf([first, second, third, fourth, ...rest]) {
  const isAlone = third === undefined;
  if (first === undefined) return "fleet";
  if (first === "events" || first === "edges") return second === undefined ? first : null;
  if (first === "reasons") return isAlone ? first : null;
  if (first !== "clusters" || rest.length > 0) return null;
  if (second === undefined) return "fleet";
  if (isAlone) return "cluster";
  if (third === "nodes" && fourth !== undefined) return "node";
  return third === "at" && !Number.isNaN(Date.parse(fourth)) ? "cluster" : null;
}
