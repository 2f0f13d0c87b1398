import { faultList } from "../model/fault-list.ts";

/**
 * The page at `GET /` of the control port: every fault with a command to paste, and how to undo it.
 * @param url the base URL of the control port
 * @param clusters for each cluster its path below `/sim`, empty for a sole cluster, and the names of its nodes
 */
export function faultIndex(url: string, clusters: readonly ControlledCluster[]): string {
  const [first] = clusters;
  const node = `${first?.path ?? ""}/${first?.nodes.at(-1) ?? "pg1"}`;
  const width = Math.max(...faultList.map(({ name }) => name.length)) + 2;
  return [
    "Faults of the simulated cluster. Each lasts until it is undone.",
    "",
    ...faultList.map(({ name, effect }) => `  ${name.padEnd(width)}${effect}`),
    `  ${"heal".padEnd(width)}undoes every fault of a node (also: revive)`,
    "",
    "Commands:",
    ...faultList.map(({ name, parameter }) => `  ${post(`${url}/sim${node}/${name}`, parameter)}`),
    "Undo, of one node and of all:",
    `  ${post(`${url}/sim${node}/heal`, null)}`,
    `  ${post(`${url}/sim/heal`, null)}`,
    "The present state of the model:",
    `  curl ${url}/sim`,
    "",
    "Nodes (leader is the node that leads at present):",
    ...clusters.map(
      ({ path, nodes }) => `  ${["leader", ...nodes].map((name) => `${path}/${name}`.slice(1)).join(" ")}`,
    ),
    "",
  ].join("\n");
}

/** A cluster in the index. */
export interface ControlledCluster {
  readonly path: string;
  readonly nodes: readonly string[];
}

/** A `curl` command that works in every shell: a URL with a query is quoted. */
function post(url: string, query: string | null): string {
  return `curl -X POST ${query === null ? url : `'${url}?${query}'`}`;
}
