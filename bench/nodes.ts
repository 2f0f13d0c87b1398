/** Nodes to probe, in a process of their own on the core of the load. */
import { fileURLToPath } from "node:url";
import type { Clusters } from "./rolecall.ts";
import { Started } from "./started.ts";

/** What the nodes are like. */
export interface Kind {
  /** `simulated`: a model that moves (src/simulator); `constant`: ready-made answers, which cost little. */
  readonly by: "simulated" | "constant";
  readonly clusters: number;
  /** How many nodes each cluster has. */
  readonly nodes: number;
  readonly connections: "keep" | "close";
  /** Whether positions differ from answer to answer; constant nodes only. */
  readonly motion?: "still" | "moving";
}

/** Nodes that are being served. */
export interface Served {
  readonly clusters: Clusters;
  /** How many answers they gave so far; constant nodes only. */
  answers(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts clusters of nodes. */
export async function serveNodes({ by, clusters, nodes, connections, motion = "still" }: Kind): Promise<Served> {
  const child = await Started.start({
    command: [process.execPath, childFile(`${by}-nodes`), `${clusters}`, `${nodes}`, connections, motion],
    core: "load",
    readyMs: 30_000,
  });
  const clusterList = JSON.parse(child.line) as Clusters;
  return { clusters: clusterList, answers: async () => Number(await child.ask("count")), stop: () => child.stop() };
}

/** The compiled file of one of the bench's own programs. */
export function childFile(name: string): string {
  return fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
}
