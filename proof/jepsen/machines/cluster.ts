/** All machines with their programs: etcd, Patroni with PostgreSQL, rolecall and HAProxy. */
import { mkdirSync, chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveToPostgres } from "../../../test/real/lab/child.ts";
import { noLocks, PatroniNode } from "../../../test/real/lab/patroni.ts";
import {
  addressOf,
  allAddresses,
  balancerNames,
  edgeNames,
  etcdNames,
  namespaceOf,
  type NodeName,
  nodeNames,
} from "./addresses.ts";
import { setClock, withClock } from "./clocks.ts";
import { mountDisk } from "./disks.ts";
import { type Balancer, RolecallEdge, startBalancer } from "./edges.ts";
import { etcdClients, EtcdMember } from "./etcd-member.ts";
import { makeNetwork, removeLeftovers } from "./network.ts";

/**
 * Spans for a busy machine. `synchronous_commit` is on, so that a position that is read after a commit covers it.
 * `fsync` is off: processes are killed, but the machine goes on, and keeps what they wrote.
 */
const settings = {
  ttl: 20,
  loop_wait: 5,
  retry_timeout: 5,
  maximum_lag_on_failover: 1048576,
  postgresql: {
    use_pg_rewind: true,
    parameters: {
      wal_level: "replica",
      hot_standby: "on",
      max_connections: 100,
      shared_buffers: "32MB",
      max_wal_size: "128MB",
      wal_keep_size: "64MB",
      fsync: "off",
      synchronous_commit: "on",
    },
  },
} as const;

/** A PostgreSQL needs about 60 MB, and keeps at most as much WAL again for a while. */
const diskMegabytes = 512;

export class JepsenCluster {
  readonly folder: string;
  readonly etcd: readonly EtcdMember[];
  readonly nodes: ReadonlyMap<NodeName, PatroniNode>;
  readonly edges: readonly RolecallEdge[];
  readonly balancers: Balancer[] = [];

  /** @param folder is made anew; all logs are there */
  constructor(folder: string) {
    this.folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    makeNetwork();
    for (const name of nodeNames) {
      mountDisk(this.diskOf(name), diskMegabytes);
      setClock(this.clockOf(name), 0);
    }
    const etcdDisk = join(folder, "etcd");
    mountDisk(etcdDisk, 1024);
    this.etcd = etcdNames.map((name) => new EtcdMember(name, folder, etcdDisk));
    this.nodes = new Map(nodeNames.map((name, at) => [name, this.#node(name, at + 1)]));
    this.edges = edgeNames.map((name) => new RolecallEdge(name, folder));
    // Each HAProxy has its own instance of rolecall first.
    giveToPostgres(folder);
  }

  diskOf(node: NodeName): string {
    return join(this.folder, `disk-${node}`);
  }

  /** The file with the offset of the clock of a node's Patroni. */
  clockOf(node: NodeName): string {
    return join(this.folder, `${node}.clock`);
  }

  node(name: NodeName): PatroniNode {
    const found = this.nodes.get(name);
    if (found === undefined) throw new Error(`Cannot find ${name}: it must be one of ${nodeNames.join(", ")}`);
    return found;
  }

  /** Starts etcd and the nodes. The caller waits until they are whole. */
  startDatabases(): void {
    for (const member of this.etcd) member.start();
    for (const node of this.nodes.values()) node.start();
  }

  async startBalancers(): Promise<void> {
    for (const [at, name] of balancerNames.entries()) {
      const edge = this.edges[at];
      if (edge !== undefined) this.balancers.push(await startBalancer(name, this.folder, edge));
    }
  }

  /** Starts both instances of rolecall anew. */
  async startEdges(hasDcs: boolean): Promise<void> {
    for (const edge of this.edges) {
      await edge.stop();
      setClock(edge.clockFile, 0);
      edge.configure(hasDcs);
      edge.start();
    }
  }

  /** Ends every program, and removes network and disks. The logs stay. */
  stop(): void {
    removeLeftovers();
  }

  #node(name: NodeName, number: number): PatroniNode {
    const place = {
      namespace: namespaceOf(name),
      host: addressOf(name),
      clients: allAddresses,
      etcd: etcdClients,
      disk: this.diskOf(name),
      settings,
    };
    const clock = this.clockOf(name);
    writeFileSync(clock, "+0\n");
    const patroni = withClock(clock, ["/usr/bin/patroni"]);
    return new PatroniNode({ number, folder: this.folder, patroni, tls: null, locks: noLocks, place });
  }
}
