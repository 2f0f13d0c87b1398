/** A real cluster on loopback: etcd, three PostgreSQL, three Patroni. Up in about ten seconds, gone without a trace. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates, type Certificates } from "./certificates.ts";
import { giveToPostgres } from "./child.ts";
import { Etcd } from "./etcd.ts";
import { type NodeLocks, type NodePlace, noLocks, PatroniNode } from "./patroni.ts";
import { ports, requireFree } from "./ports.ts";
import { removeAtExit } from "./reaper.ts";
import type { Reply } from "./ask.ts";
import { until } from "../../fake/until.ts";

/** How long a running replica may not stream. After a failover it streams much sooner, even with `pg_rewind`. */
const notStreamingSeconds = 20;

/** Machines of their own for the nodes. */
export interface NodePlaces {
  /** Where etcd is for the nodes. */
  readonly host: string;
  readonly placeOf: (number: number, disk: string) => NodePlace;
  /** Makes the ports of the nodes on 127.0.0.1 lead to them. */
  readonly forward: (nodes: readonly PatroniNode[]) => Promise<void>;
}

export class Cluster {
  readonly folder: string;
  /** What the nodes' APIs are protected by; none: plain HTTP. */
  readonly tls: Certificates | null;
  readonly etcd: Etcd;
  readonly nodes: readonly [PatroniNode, PatroniNode, PatroniNode];
  readonly #clear: () => void;

  /**
   * Starts everything and waits for a leader and two replicas that stream, without lag.
   * @param patroni the command that starts a Patroni
   * @param isOverTls whether the nodes' APIs speak TLS, with certificates made for this run
   * @param locks what is added to each node's `restapi` and `ctl`, beside its own certificate
   * @param furnish prepares the folder before anything starts, such as disks below it; what it returns undoes that
   * @param places where the nodes run; `null`: on loopback
   * @throws Error with the ends of the logs if it does not start; nothing is left running then
   */
  static async start(
    patroni: readonly [string, ...string[]],
    isOverTls = false,
    locks: NodeLocks = noLocks,
    furnish: (folder: string) => () => void = () => () => {},
    places: NodePlaces | null = null,
  ): Promise<Cluster> {
    await requireFree([
      ports.etcdClient,
      ports.etcdPeer,
      ...[0, 1, 2].flatMap((n) => [ports.api + n, ports.database + n]),
    ]);
    const cluster = new Cluster(patroni, isOverTls, locks, furnish, places);
    try {
      await places?.forward(cluster.nodes);
      await cluster.#start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private constructor(
    patroni: readonly [string, ...string[]],
    isOverTls: boolean,
    locks: NodeLocks,
    furnish: (folder: string) => () => void,
    places: NodePlaces | null,
  ) {
    this.folder = mkdtempSync(join(tmpdir(), "rolecall-real-"));
    removeAtExit(this.folder);
    this.#clear = furnish(this.folder);
    this.tls = isOverTls ? makeCertificates(this.folder) : null;
    giveToPostgres(this.folder);
    this.etcd = new Etcd(this.folder, places?.host);
    const placeOf = (number: number): { readonly place?: NodePlace } =>
      places === null ? {} : { place: places.placeOf(number, this.folder) };
    const node = (number: number): PatroniNode =>
      new PatroniNode({ number, folder: this.folder, patroni, tls: this.tls, locks, ...placeOf(number) });
    this.nodes = [node(1), node(2), node(3)];
  }

  /** Waits up to `seconds` for a node that answers that it holds the lock, and returns it. */
  leader(seconds = 40): Promise<PatroniNode> {
    return until({ what: "leader", seconds, evidence: () => this.#tails }, async () => {
      const replies = await Promise.all(this.nodes.map((node) => node.ask("/leader")));
      return this.nodes.find((_, index) => replies[index]?.status === 200);
    });
  }

  /** The nodes beside the leader. */
  async replicas(): Promise<readonly PatroniNode[]> {
    const leader = await this.leader();
    return this.nodes.filter((node) => node !== leader);
  }

  /**
   * Waits until `GET /cluster` names a leader and two replicas that follow without lag, each node reports that it runs,
   * with its role, and both replicas stream. `/cluster` alone is not enough: it shows a node as running for a while
   * after its PostgreSQL was stopped, and an old leader as a replica before its demotion.
   *
   * If the replicas report that they run, but not both stream for `notStreamingSeconds`, those that do not are
   * reinitialized, as an operator would do. After a freeze, the old leader may acquire the lock again and stay on its
   * old timeline. A replica that has meanwhile followed another leader is on a later timeline, and Patroni does not
   * rewind it.
   */
  async whole(seconds = 60): Promise<void> {
    let waitsSinceMs: number | null = null;
    await until({ what: "whole cluster", seconds, evidence: () => this.#tails }, async () => {
      const leader = await this.leader();
      const isSettled = await Promise.all(
        this.nodes.map(async (node) => {
          const [health, own] = [await node.ask("/health"), await node.ask("/patroni")];
          return health.status === 200 && isReplica(own) === (node !== leader);
        }),
      );
      const streaming = streamingReplicas(await leader.ask("/patroni"));
      if (!isSettled.every(Boolean) || streaming.length === 2) {
        waitsSinceMs = null;
        return isSettled.every(Boolean) && isWhole(await leader.ask("/cluster")) ? true : undefined;
      }
      waitsSinceMs ??= performance.now();
      if (performance.now() - waitsSinceMs < notStreamingSeconds * 1000) return undefined;
      waitsSinceMs = null;
      const stuck = this.nodes.filter((node) => node !== leader && !streaming.includes(node.name));
      for (const node of stuck) await node.ask("/reinitialize", { method: "POST", body: {}, deadlineMs: 10_000 });
      return undefined;
    });
  }

  /**
   * Waits until the leader feeds both replicas: after a start they look whole for seconds before their slots exist and
   * they stream.
   */
  async streaming(seconds = 30): Promise<void> {
    const leader = await this.leader();
    await until({ what: "two streaming replicas", seconds, evidence: () => this.#tails }, async () =>
      streamingReplicas(await leader.ask("/patroni")).length === 2 ? true : undefined,
    );
  }

  /** Changes the cluster's dynamic configuration, as `PATCH /config` merges it. */
  async configure(patch: object): Promise<void> {
    const leader = await this.leader();
    const { status, body } = await leader.ask("/config", { method: "PATCH", body: patch, deadlineMs: 10_000 });
    if (status !== 200) throw new Error(`Cannot configure the cluster: ${leader.name} answers ${status} ${body}`);
  }

  /** Asks the leader for a switchover and waits (30 s) until it is done. */
  async switchOver(candidate: PatroniNode): Promise<void> {
    const leader = await this.leader();
    const body = { leader: leader.name, candidate: candidate.name };
    const reply = await leader.ask("/switchover", { method: "POST", body, deadlineMs: 30_000 });
    if (reply.status !== 200)
      throw new Error(`Cannot switch over to ${candidate.name}: ${leader.name} answers ${reply.status} ${reply.body}`);
  }

  /** Ends every process and removes the folder. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.etcd.stop();
    this.#clear();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    await this.etcd.start();
    const [first, ...others] = this.nodes;
    first.start();
    await this.leader();
    for (const node of others) node.start();
    await this.whole();
    await this.streaming();
  }

  get #tails(): string {
    return this.nodes.map((node) => node.tail).join("\n");
  }
}

/** Whether the document of a node (`GET /patroni`) has the role of a replica. */
function isReplica({ body }: Reply): boolean {
  return /"role": "(replica|standby_leader|sync_standby)"/.test(body);
}

/** The names of the replicas that the status document of a leader (`GET /patroni`) lists as streaming. */
function streamingReplicas({ status, body }: Reply): readonly string[] {
  if (status !== 200) return [];
  const { replication = [] } = JSON.parse(body) as {
    readonly replication?: readonly { readonly application_name: string; readonly state: string }[];
  };
  return replication.filter(({ state }) => state === "streaming").map(({ application_name: name }) => name);
}

function isWhole(reply: Reply): boolean {
  if (reply.status !== 200) return false;
  const { members } = JSON.parse(reply.body) as {
    readonly members: readonly { readonly role: string; readonly state: string; readonly lag?: unknown }[];
  };
  const following = members.filter(
    ({ role, state, lag }) => role !== "leader" && ["running", "streaming"].includes(state) && lag === 0,
  );
  return members.some(({ role }) => role === "leader") && following.length === 2;
}
