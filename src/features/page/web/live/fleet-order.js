import { compareNames, conditionOf, isProblem } from "../parts/condition.js";

/** The orders of the fleet. Equal rows are in the order of their names. */
export const orders = [
  { name: "problem", word: "problems first" },
  { name: "name", word: "name" },
  { name: "lag", word: "highest lag" },
  { name: "age", word: "oldest evidence" },
];

/**
 * Selects and sorts the rows of the fleet.
 * @param rows all rows
 * @param wanted `{ search, condition, order, ageOf }`: words that must all occur in the names, leader or problems of a
 *   row; a condition or "all"; an order; the age of a row's evidence in ms
 */
export function selectRows(rows, { search, condition, order, ageOf }) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = rows.filter((row) => isWanted(row, condition) && words.every((word) => textOf(row).includes(word)));
  const keyed = chosen.map((row) => ({ row, keys: keysOf(row, order, ageOf) }));
  keyed.sort((one, other) => {
    for (const [at, key] of one.keys.entries()) if (key !== other.keys[at]) return other.keys[at] - key;
    return compareNames(one.row.cluster, other.row.cluster);
  });
  return keyed.map(({ row }) => row);
}

/** How many rows each filter selects. */
export function countRows(rows) {
  const counts = new Map([["all", rows.length]]);
  for (const row of rows) {
    const { name, tone } = conditionOf(row);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (isProblem(tone)) counts.set("problems", (counts.get("problems") ?? 0) + 1);
  }
  return counts;
}

function isWanted(row, condition) {
  if (condition === "all") return true;
  const { name, tone } = conditionOf(row);
  return condition === "problems" ? isProblem(tone) : name === condition;
}

function textOf({ cluster, leader, problems }) {
  return [cluster, leader ?? "", ...problems.map(({ node, reason }) => `${node} ${reason}`)].join(" ").toLowerCase();
}

/** Keys that are compared in turn, the highest first. */
function keysOf(row, order, ageOf) {
  switch (order) {
    case "lag":
      return [row.lag_bytes ?? (row.replicas > 0 ? Infinity : -1)];
    case "age":
      return [ageOf(row.cluster) ?? Infinity];
    case "problem":
      return [-conditionOf(row).rank, row.problem_count];
    default:
      return [];
  }
}
