/** Nodes to probe, in a child process on the core of the load. */
import { fileURLToPath } from "node:url";
import type { Clusters } from "./rolecall.ts";
import { ChildProgram } from "./child-program.ts";

/** The kind and number of nodes. */
export interface NodeOptions {
  /** `simulated`: the model in src/simulator; `constant`: prepared answers, which cost little. */
  readonly by: "simulated" | "constant";
  readonly clusters: number;
  /** How many nodes each cluster has. */
  readonly nodes: number;
  readonly connections: "keep" | "close";
  /** What changes from answer to answer: nothing, positions, or also the state of replicas; constant nodes only. */
  readonly motion?: "still" | "moving" | "turning";
}

/** Running nodes. */
export interface ServedNodes {
  readonly clusters: Clusters;
  /** How many answers they have sent; constant nodes only. */
  answers(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts clusters of nodes. */
export async function serveNodes({
  by,
  clusters,
  nodes,
  connections,
  motion = "still",
}: NodeOptions): Promise<ServedNodes> {
  const child = await ChildProgram.start({
    command: [process.execPath, childFile(`${by}-nodes`), `${clusters}`, `${nodes}`, connections, motion],
    core: "load",
    readyMs: 30_000,
  });
  const clusterList = JSON.parse(child.line) as Clusters;
  return { clusters: clusterList, answers: async () => Number(await child.request("count")), stop: () => child.stop() };
}

/** The compiled file of a program in bench/children. */
export function childFile(name: string): string {
  return fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
}
