import { probeSchedule } from "./probe-schedule.ts";
import { Bursts, type BurstTargets } from "../../src/core/probe/bursts/bursts.ts";
import { ClusterFixture } from "./cluster-fixture.ts";
import { ManualClock } from "./manual-clock.ts";

/** The bursts of a cluster of three nodes, without probers: a test records the evidence. pg1 leads. */
export class TimedBursts extends ManualClock {
  readonly fixture = new ClusterFixture({ policy: { intervalMs: 1_000 } });
  readonly bursts: Bursts;
  /** The causes of the bursts that began. */
  readonly causes: string[] = [];
  /** The numbers of probes that bursts reported to have sent at once. */
  readonly reported: number[] = [];
  /** Nodes whose probe is in flight. */
  readonly busy = new Set<string>();
  /** How long the answers of nodes wait for this process, in ms. */
  answersWaitMs = 0;
  readonly #probes: { readonly node: string | null; readonly atMs: number }[] = [];

  /** @param intervalMs the interval of bursts of all nodes */
  constructor(intervalMs = 250) {
    super();
    this.fixture.lead("pg1", 0);
    for (const replica of ["pg2", "pg3"]) this.fixture.follow(replica, 0);
    const { fixture } = this;
    const probe: BurstTargets["probe"] = (node) => this.#probe(node);
    this.bursts = new Bursts(
      {
        cluster: "demo",
        schedule: { ...probeSchedule, burstIntervalMs: intervalMs },
        policy: () => fixture.policy,
        state: () => fixture.cluster,
        record: () => {},
        now: () => this.nowMs,
        wall: () => this.nowMs,
        random: () => 0.5,
        setTimer: (run, delayMs) => this.setTimer(run, delayMs),
        connect: () => {
          throw new Error("bursts must not connect");
        },
        answersWaitMs: () => this.answersWaitMs,
        onProbeFinished: () => {},
        onBurst: ({ cluster, cause }) => void this.causes.push(`${cluster} ${cause}`),
        onBurstProbes: ({ probes }) => void this.reported.push(probes),
      },
      {
        probe,
        probeAll: () => {
          this.#probes.push({ node: null, atMs: this.nowMs });
          this.reported.push(3);
        },
      },
    );
  }

  /** When a node, or all of them with `null`, were probed. */
  sentAt(node: string | null): readonly number[] {
    return this.#probes.filter((probe) => probe.node === node).map(({ atMs }) => atMs);
  }

  /** Nobody holds the lock any more: pg1 answers as a replica. */
  demote(): void {
    this.fixture.follow("pg1", this.nowMs);
    this.bursts.update();
  }

  /** pg1 holds the lock, and is writable. */
  promote(): void {
    this.fixture.lead("pg1", this.nowMs);
    this.bursts.update();
  }

  /** A node is no member any more. */
  leave(name: string): void {
    const { cluster } = this.fixture;
    const nodes = cluster.nodes.filter(({ node }) => node.name !== name);
    const index = new Map(nodes.map(({ node }, at) => [node.name, at]));
    this.fixture.cluster = { ...cluster, nodes, index };
    this.bursts.update();
  }

  #probe(node: string): number {
    if (this.busy.has(node)) return 0;
    this.#probes.push({ node, atMs: this.nowMs });
    return 1;
  }
}
