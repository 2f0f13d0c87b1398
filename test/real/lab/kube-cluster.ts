/**
 * A real cluster whose Patroni keeps its leader in Kubernetes: an API server with its etcd, three PostgreSQL, three Patroni
 * on loopback. Nothing runs pods: the object of each is created here, and Patroni keeps its state in it.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubeconfigText } from "../../fake/kubeconfig.ts";
import { until } from "../../fake/until.ts";
import { giveToPostgres } from "./child.ts";
import { KubeApi, kubeTokens } from "./kube-api.ts";
import { noLocks, PatroniNode } from "./patroni.ts";
import { ports, requireFree } from "./ports.ts";
import { removeAtExit } from "./reaper.ts";

/** Where Patroni keeps its leader. */
export type LeaderKind = "configmaps" | "endpoints";

const namespace = "databases";

export class KubeCluster {
  readonly folder: string = mkdtempSync(join(tmpdir(), "rolecall-real-kube-"));
  readonly kube: KubeApi;
  readonly nodes: readonly [PatroniNode, PatroniNode, PatroniNode];

  /**
   * Starts the nodes at an API server that runs, and waits for a leader and two replicas that stream.
   * @param patroni the command that starts a Patroni
   */
  static async start(kube: KubeApi, patroni: readonly [string, ...string[]], kind: LeaderKind): Promise<KubeCluster> {
    await requireFree([0, 1, 2].flatMap((n) => [ports.api + n, ports.database + n]));
    const cluster = new KubeCluster(kube, patroni, kind);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private constructor(kube: KubeApi, patroni: readonly [string, ...string[]], kind: LeaderKind) {
    this.kube = kube;
    removeAtExit(this.folder);
    const kubeconfig = join(this.folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigText({ server: kube.url, token: kubeTokens.admin, isTrusted: true }));
    giveToPostgres(this.folder);
    const node = (number: number): PatroniNode =>
      new PatroniNode({
        number,
        folder: this.folder,
        patroni: ["/usr/bin/env", `KUBECONFIG=${kubeconfig}`, ...patroni],
        tls: null,
        locks: noLocks,
        dcs: {
          kubernetes: {
            namespace,
            context: "test",
            labels: { application: "patroni" },
            use_endpoints: kind === "endpoints",
            // The API server takes no addresses of loopback in Endpoints.
            pod_ip: `10.0.0.${number}`,
            ports: [{ name: "postgresql", port: 5432 }],
          },
        },
      });
    this.nodes = [node(1), node(2), node(3)];
  }

  /** Waits up to `seconds` for a node that answers that it holds the lock. */
  leader(seconds = 60): Promise<PatroniNode> {
    return until({ what: "leader", seconds, evidence: () => this.#tails }, async () => {
      const replies = await Promise.all(this.nodes.map((node) => node.ask("/leader").catch(() => null)));
      return this.nodes.find((_, index) => replies[index]?.status === 200);
    });
  }

  /** Waits until the leader feeds both replicas, and lists them as candidates: so much later. */
  async streaming(seconds = 90): Promise<void> {
    await until({ what: "two streaming replicas", seconds, evidence: () => this.#tails }, async () => {
      const leader = await this.leader();
      const [{ body }, list] = [await leader.ask("/patroni"), await leader.ask("/cluster")];
      return body.split('"state": "streaming"').length === 3 && list.body.split('"lag": 0').length === 3;
    });
  }

  /** Asks the leader for a switchover, and waits until it is done. */
  async switchOver(candidate: PatroniNode): Promise<void> {
    const leader = await this.leader();
    const body = { leader: leader.name, candidate: candidate.name };
    const reply = await leader.ask("/switchover", { method: "POST", body, deadlineMs: 40_000 });
    if (reply.status !== 200)
      throw new Error(`Cannot switch over to ${candidate.name}: ${leader.name} answers ${reply.status} ${reply.body}`);
  }

  /** Ends the nodes, and removes what they have written. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    const group = `/api/v1/namespaces/${namespace}`;
    for (const kind of ["configmaps", "endpoints", "pods"])
      await this.kube.call("DELETE", `${group}/${kind}?labelSelector=cluster-name%3Ddemo&gracePeriodSeconds=0`);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    for (const { name } of this.nodes)
      await this.kube.done("POST", `/api/v1/namespaces/${namespace}/pods`, {
        body: {
          metadata: { name, labels: { application: "patroni", "cluster-name": "demo" } },
          spec: { containers: [{ name: "postgresql", image: "postgresql" }] },
        },
      });
    const [first, ...others] = this.nodes;
    first.start();
    await this.leader();
    for (const node of others) node.start();
    await this.streaming();
  }

  get #tails(): string {
    return this.nodes.map((node) => node.tail).join("\n");
  }
}
