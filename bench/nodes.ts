/** Nodes to probe, in a child process. */
import { fileURLToPath } from "node:url";
import type { Core } from "./machine.ts";
import type { Clusters } from "./rolecall.ts";
import { ChildProgram } from "./child-program.ts";

/** The kind and number of nodes. */
export interface NodeOptions {
  /** `simulated`: the model in src/tools/simulator; `constant`: prepared answers, which cost little. */
  readonly by: "simulated" | "constant";
  readonly clusters: number;
  /** How many nodes each cluster has. */
  readonly nodes: number;
  readonly connections: "keep" | "close";
  /** What changes from answer to answer: nothing, positions, or also the state of replicas; constant nodes only. */
  readonly motion?: "still" | "moving" | "turning";
  /** The number of the first cluster, by default 0. */
  readonly first?: number;
  /** Where they run, by default beside the load. */
  readonly core?: Core;
}

/** The gaps between two probes of the same node (GET /leader), as the nodes saw them. */
export interface ProbeGaps {
  readonly count: number;
  readonly worstMs: number;
}

/** Running nodes. */
export interface ServedNodes {
  readonly clusters: Clusters;
  /** How many answers they have sent; constant nodes only. */
  answers(): Promise<number>;
  /** The gaps between probes since the last call; constant nodes only. */
  gaps(): Promise<ProbeGaps>;
  /** Lets the next member of every cluster become its primary; constant nodes only. @returns the time of day, in ms */
  promote(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts clusters of nodes. */
export async function serveNodes({
  by,
  clusters,
  nodes,
  connections,
  motion = "still",
  core = "load",
  first = 0,
}: NodeOptions): Promise<ServedNodes> {
  const child = await ChildProgram.start({
    command: [process.execPath, childFile(`${by}-nodes`), `${clusters}`, `${nodes}`, connections, motion, `${first}`],
    core,
    readyMs: 30_000,
  });
  const clusterList = JSON.parse(child.line) as Clusters;
  return {
    clusters: clusterList,
    answers: async () => Number(await child.request("count")),
    gaps: async () => JSON.parse(await child.request("gaps")) as ProbeGaps,
    promote: async () => Number(await child.request("promote")),
    stop: () => child.stop(),
  };
}

/** The compiled file of a program in bench/children. */
export function childFile(name: string): string {
  return fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
}
