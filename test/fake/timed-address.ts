import { probeSchedule } from "./probe-schedule.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import { AddressProber } from "../../src/core/probe/address-prober.ts";
import type { NodeReply } from "../../src/core/probe/client/client.ts";
import type { ProbeSchedule } from "../../src/core/probe/client/probe-context.ts";
import { ClusterFixture } from "./cluster-fixture.ts";
import { ManualClock } from "./manual-clock.ts";

/** The prober of one address of a discovered cluster, on a clock that is exact to the millisecond. */
export class TimedAddress extends ManualClock {
  readonly fixture: ClusterFixture;
  readonly prober: AddressProber;
  readonly recorded: ProbeOutcome[] = [];
  /** Connections that were opened and closed so far. */
  readonly connections = { opened: 0, closed: 0 };
  /** What a request to a path gets. */
  respond: (path: string) => NodeReply | Promise<NodeReply>;
  readonly #sent: { readonly path: string; readonly atMs: number }[] = [];

  /** Starts at the instant 1,000, without a probe. Intervals do not vary. */
  constructor(
    respond: TimedAddress["respond"],
    { isConfigured, ...schedule }: Partial<ProbeSchedule> & { readonly isConfigured: boolean },
  ) {
    super();
    const api = "http://vip:8008";
    this.respond = respond;
    this.fixture = new ClusterFixture({ nodes: [], cluster: { discover: [isConfigured ? api : "http://seed:8008"] } });
    this.prober = new AddressProber(
      api,
      {
        cluster: "demo",
        schedule: { ...probeSchedule, ...schedule },
        policy: () => this.fixture.policy,
        state: () => this.fixture.cluster,
        record: (outcome) => {
          this.recorded.push(outcome);
          this.fixture.record(outcome, this.nowMs);
        },
        now: () => this.nowMs,
        wall: () => this.nowMs,
        random: () => 0.5,
        setTimer: (run, delayMs) => this.setTimer(run, delayMs),
        isTlsServer: () => Promise.resolve(false),
        connect: () => {
          this.connections.opened += 1;
          return {
            get: async (path) => {
              this.#sent.push({ path, atMs: this.nowMs });
              return this.respond(path);
            },
            getStreamed: () => Promise.reject(new Error("no body of an address is streamed")),
            close: () => void (this.connections.closed += 1),
          };
        },
        onProbeFinished: () => {},
      },
      isConfigured,
    );
  }

  /** When a path was requested, in ms after the start. */
  sentAt(path: string): readonly number[] {
    return this.#sent.filter((sent) => sent.path === path).map(({ atMs }) => atMs - 1_000);
  }

  /** Moves the clock, probes, and lets the answers come. */
  async probeAfter(ms: number): Promise<void> {
    await this.pass(ms);
    this.prober.probe();
    await new Promise((resolve) => void setImmediate(resolve));
  }
}
