import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import type { NodeReply } from "../../src/core/probe/client/client.ts";
import { ClusterProber } from "../../src/core/probe/cluster-prober.ts";
import { ClusterFixture, type FixtureOptions } from "./cluster-fixture.ts";
import { ManualClock } from "./manual-clock.ts";

/** A failure that says nothing about the node, so it leaves no trace in the state. */
export const notSent: NodeReply = { failure: { kind: "not_sent", detail: "a scripted failure" } };

/**
 * The prober of a cluster, whose requests fail at once without a trace in the state: the test alone changes the state.
 * Intervals are so long that nothing is requested by schedule.
 */
export class TimedProber extends ManualClock {
  readonly fixture: ClusterFixture;
  readonly prober: ClusterProber;
  /** The origins of the connections that were opened, and of those that were closed. */
  readonly opened: string[] = [];
  readonly closed: string[] = [];
  /** The numbers of probes that bursts reported to have sent at once. */
  readonly reported: number[] = [];
  /** How many first rounds have ended. */
  firstRounds = 0;
  /** What a request gets instead of a failure. */
  respond: (url: string) => NodeReply | Promise<NodeReply> = () => notSent;
  #requests: string[] = [];

  constructor(
    nodes: readonly string[] = ["pg1", "pg2", "pg3"],
    seeds: readonly string[] = [],
    policy: NonNullable<FixtureOptions["policy"]> = {},
  ) {
    super();
    this.fixture = new ClusterFixture({
      nodes,
      policy,
      ...(seeds.length === 0 ? {} : { cluster: { discover: seeds } }),
    });
    const foreverMs = 1_000_000_000;
    this.prober = new ClusterProber({
      cluster: "demo",
      schedule: {
        intervalMs: foreverMs,
        burstIntervalMs: 10_000,
        livenessIntervalMs: foreverMs,
        clusterIntervalMs: foreverMs,
        configIntervalMs: foreverMs,
        metricsIntervalMs: foreverMs,
        timeoutMs: 2_500,
        fall: 3,
      },
      policy: () => this.fixture.policy,
      state: () => this.fixture.cluster,
      record: (outcome) => void this.fixture.record(outcome, this.nowMs),
      now: () => this.nowMs,
      wall: () => this.nowMs,
      random: () => 0.5,
      setTimer: (run, delayMs) => this.setTimer(run, delayMs),
      connect: (origin) => {
        this.opened.push(origin);
        return {
          get: async (path) => {
            this.#requests.push(`${new URL(origin).hostname}${path}`);
            return this.respond(`${origin}${path}`);
          },
          getStreamed: async () => notSent,
          close: () => void this.closed.push(origin),
        };
      },
      onProbeFinished: () => {},
      onFirstRound: () => void (this.firstRounds += 1),
      onBurstProbes: ({ probes }) => void this.reported.push(probes),
    });
  }

  /** Starts probing, and lets the shortest time between two rounds pass. */
  async start(): Promise<void> {
    await this.prober.start();
    await this.pass(250);
    this.requests();
  }

  /** The requests since the last call, as `pg1/leader`, in alphabetical order. */
  requests(): readonly string[] {
    const requests = this.#requests.toSorted();
    this.#requests = [];
    return requests;
  }

  /** Changes the state as described, tells the prober, and returns what that requests at once. */
  async requestedBy(change: (state: ClusterState) => ClusterState): Promise<readonly string[]> {
    const before = this.fixture.cluster;
    this.fixture.cluster = change(before);
    this.prober.onChange(before, this.fixture.cluster);
    await this.pass(0);
    return this.requests();
  }
}
