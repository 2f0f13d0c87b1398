import { type Simulator, startSimulator } from "../../src/tools/simulator/simulator.ts";
import type { Fault } from "../../src/tools/simulator/model/faults.ts";
import type { Action } from "./plan.ts";
import { timing } from "./timing.ts";
import { TruthRecord } from "./truth.ts";

/** The longest silence of a slow node, in ms: well within the timeout of a probe. */
const slowMs = 300;

/** The simulated clusters of a soak with their truth. */
export class Clusters {
  readonly all: readonly { readonly simulator: Simulator; readonly record: TruthRecord }[];
  /** Called after each look with the holder of the lock of a cluster. */
  onLook: (cluster: string, holder: string | null) => void = () => {};
  /** Called after all clusters were looked at. */
  onLooked: () => void = () => {};
  /** How long the last looks were late, with their instants, in ms. */
  readonly stalls: { readonly atMs: number; readonly lostMs: number }[] = [];
  readonly #busy = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  private constructor(simulators: readonly Simulator[]) {
    this.all = simulators.map((simulator) => ({ simulator, record: new TruthRecord(simulator.scope) }));
  }

  /** Starts clusters `c0` upwards of three nodes each. */
  static async start(count: number): Promise<Clusters> {
    const options = {
      nodes: 3,
      port: 0,
      ttlMs: timing.ttlMs,
      loopWaitMs: timing.loopMs,
      retryTimeoutMs: timing.retryMs,
      walBytesPerSecond: timing.walBytesPerSecond,
      switchoverMs: 1_000,
    };
    const simulators = Array.from({ length: count }, (_, at) =>
      startSimulator({ ...options, scope: `c${at}`, keepAlive: at % 2 === 0 }),
    );
    const clusters = new Clusters(await Promise.all(simulators));
    let dueMs = performance.now() + timing.lookMs;
    clusters.#timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - dueMs > timing.lookMs) clusters.noteStall(nowMs - dueMs);
      dueMs = nowMs + timing.lookMs;
      clusters.look();
    }, timing.lookMs);
    return clusters;
  }

  /** Notes that a process did not run for a while: the machine is shared. */
  noteStall(lostMs: number): void {
    this.stalls.push({ atMs: performance.now(), lostMs });
    if (this.stalls.length > 200) this.stalls.splice(0, 100);
  }

  /** How long no process ran within the last seconds, in ms. */
  lostMs(nowMs: number): number {
    return this.stalls.filter(({ atMs }) => atMs > nowMs - 15_000).reduce((sum, { lostMs }) => sum + lostMs, 0);
  }

  look(): void {
    for (const { simulator, record } of this.all) {
      const { holder } = record.look(simulator, performance.now());
      this.onLook(record.cluster, holder);
    }
    this.onLooked();
  }

  recordOf(cluster: string): TruthRecord | undefined {
    return this.all.find(({ record }) => record.cluster === cluster)?.record;
  }

  /** Moves the lock of a cluster without a fault to another node. @returns what was done */
  async switchOver({ pick }: Action): Promise<string> {
    const at = this.all[pick % this.all.length];
    const last = at?.record.looks.at(-1);
    if (at === undefined || last === undefined || last.holder === null) return "none: no leader";
    if (this.#busy.has(at.record.cluster)) return "none: the cluster has a fault";
    const candidates = at.simulator.nodes.filter(({ name }) => name !== last.holder);
    const candidate = candidates[pick % candidates.length];
    const leader = at.simulator.nodes.find(({ name }) => name === last.holder);
    if (leader === undefined || candidate === undefined) return "none";
    const response = await fetch(`${leader.url}/switchover`, {
      method: "POST",
      body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
      signal: AbortSignal.timeout(15_000),
    });
    return `${at.record.cluster} ${leader.name} to ${candidate.name}: ${response.status} ${await response.text()}`;
  }

  /** Injects a fault, and heals it when it has lasted long enough. A cluster has one at a time. */
  async fault({ pick, variant, lastsMs }: Action): Promise<string> {
    const at = this.all[pick % this.all.length];
    if (at === undefined) return "none";
    const { simulator, record } = at;
    if (this.#busy.has(record.cluster)) return "none: the cluster has a fault";
    const holder = record.looks.at(-1)?.holder;
    const replicas = simulator.nodes.filter(({ name }) => name !== holder);
    const node = variant.endsWith("Leader") ? holder : replicas[pick % replicas.length]?.name;
    if (node === undefined || node === null) return "none: no such node";
    this.#busy.add(record.cluster);
    await simulator.fault(node, faultOf(variant.replace("Leader", ""), pick));
    this.look();
    setTimeout(() => {
      void this.#heal(at, node);
    }, lastsMs);
    return `${record.cluster} ${node} ${variant}`;
  }

  async #heal({ simulator, record }: Clusters["all"][number], node: string): Promise<void> {
    await simulator.fault(node, { kind: "heal" });
    this.look();
    this.#busy.delete(record.cluster);
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.all.map(({ simulator }) => simulator.stop()));
  }
}

function faultOf(kind: string, pick: number): Fault {
  switch (kind) {
    case "kill":
    case "freeze":
    case "hang":
    case "detach":
      return { kind };
    case "slow":
      return { kind, ms: slowMs };
    case "lag":
      return { kind, bytes: 4_000_000 };
    case "garbage": {
      const styles = ["json", "http", "html", "huge"] as const;
      return { kind, style: styles[pick % styles.length] ?? "json" };
    }
    default:
      throw new Error(`Cannot inject a fault: it must be one of the plan's, got ${kind}`);
  }
}
