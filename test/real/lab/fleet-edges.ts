/** Edges of one fleet over simulated clusters, as processes, and what their nodes are asked. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Ending } from "../../fake/ending.ts";
import { type FakeNode, openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";

/** What differs from the usual fleet. */
export interface FleetEdgesOptions {
  /** How many clusters of three nodes are simulated. */
  readonly count: number;
  /** How often each node is probed, in ms. 500 if left out. */
  readonly intervalMs?: number;
  /** Clusters of others, as the configuration has them. */
  readonly others?: readonly object[];
}

/** Between two questions to one edge, in ms: the edges share the machine. */
const askPauseMs = 20;

/** A cluster of three fake nodes. */
interface EdgeCluster {
  readonly name: string;
  readonly nodes: readonly FakeNode[];
}

/** One edge of the fleet. */
export interface FleetEdge {
  readonly process: RolecallProcess;
  readonly url: string;
  readonly admin: string;
}

/** Simulated clusters, and the edges beside them. */
export class FleetEdges {
  readonly clusters: readonly EdgeCluster[];
  readonly edges: FleetEdge[] = [];
  readonly #context: Ending;
  readonly #etcd: readonly string[];
  readonly #others: readonly object[];
  readonly #intervalMs: number;

  /** Opens the nodes of the simulated clusters. @param etcd the addresses of its members */
  static async open(context: Ending, etcd: readonly string[], options: FleetEdgesOptions): Promise<FleetEdges> {
    const clusters: EdgeCluster[] = [];
    for (let at = 0; at < options.count; at += 1)
      clusters.push({ name: `c${at}`, nodes: await openFakeCluster(context, ["pg1", "pg2", "pg3"]) });
    return new FleetEdges(context, etcd, { ...options, clusters });
  }

  private constructor(
    context: Ending,
    etcd: readonly string[],
    { clusters, intervalMs = 500, others = [] }: FleetEdgesOptions & { readonly clusters: readonly EdgeCluster[] },
  ) {
    this.#context = context;
    this.#etcd = etcd;
    this.clusters = clusters;
    this.#intervalMs = intervalMs;
    this.#others = others;
  }

  /** Starts an edge. @param fleet more keys of `fleet`, as JSON */
  async start(fleet: object = {}, etcd: object = {}): Promise<FleetEdge> {
    const [port, admin] = [await freePort(), await freePort()];
    const clusters = this.clusters.map(({ name, nodes }) => ({
      name,
      scope: "demo",
      nodes: nodes.map((node) => ({ name: node.name, api: node.api })),
    }));
    const file = writeConfigFile(
      this.#context,
      JSON.stringify({
        clusters: [...clusters, ...this.#others],
        probe: {
          interval: `${this.#intervalMs}ms`,
          timeout: "400ms",
          connect_timeout: "200ms",
          max_age: `${6 * this.#intervalMs}ms`,
          cluster_interval: "2s",
        },
        fleet: { name: "edges", advertise: `http://127.0.0.1:${admin}`, etcd: { urls: this.#etcd, ...etcd }, ...fleet },
        listen: [
          { port, whole_cluster: true },
          { port: admin, dialect: "admin" },
        ],
        workers: 0,
        drain: "0s",
      }),
    );
    const process = new RolecallProcess(this.#context, ["serve", "--config", file]);
    const edge = { process, url: `http://127.0.0.1:${port}`, admin: `http://127.0.0.1:${admin}` };
    this.edges.push(edge);
    await process.waitForLog("fleet joined");
    return edge;
  }

  /** How often the nodes were asked for their status within some time, in times an interval and node. */
  async probesPerNode(ms: number): Promise<number> {
    const count = (): number => this.statuses().reduce((sum, each) => sum + each, 0);
    const [before, beganMs] = [count(), performance.now()];
    await sleep(ms);
    const intervals = (performance.now() - beganMs) / this.#intervalMs;
    return (count() - before) / (this.clusters.length * 3) / intervals;
  }

  /** How often the nodes of each cluster were asked for their status so far. */
  statuses(): readonly number[] {
    return this.clusters.map(({ nodes }) =>
      nodes.reduce((sum, { requests }) => sum + requests.filter((path) => path === "/leader").length, 0),
    );
  }

  /** Waits until each node is asked once an interval by each observer. */
  async settle(what: string, observers = 1): Promise<void> {
    let last = 0;
    await until(
      { what: `${observers} probes of each node ${what}`, seconds: 60, evidence: () => String(last) },
      async () => {
        last = await this.probesPerNode(2_000);
        return last >= 0.95 * observers && last <= 1.1 * observers;
      },
    );
  }

  /** Asks some edges for the primary and the replicas of every cluster again and again. @returns all answers but the right ones */
  watch(edges: readonly FleetEdge[]): {
    readonly end: () => Promise<readonly string[]>;
    /** How many answers there were so far. */
    readonly count: () => number;
  } {
    const wrong: string[] = [];
    let count = 0;
    const ending = new AbortController();
    const ask = async ({ url }: FleetEdge): Promise<void> => {
      while (!ending.signal.aborted)
        for (const { name } of this.clusters)
          for (const [path, wanted] of [
            ["nodes/pg1/primary", 200],
            ["nodes/pg2/primary", 503],
            ["nodes/pg3/replica", 200],
          ] as const) {
            const { status, phrase } = await sendRequest(`${url}/clusters/${name}/${path}`);
            count += 1;
            await sleep(askPauseMs);
            if (status !== wanted) wrong.push(`${url} ${name}/${path}: ${status} ${phrase}`);
          }
    };
    const running = Promise.all(edges.map(ask));
    return {
      count: () => count,
      end: async () => {
        ending.abort();
        await running;
        return wrong;
      },
    };
  }
}
