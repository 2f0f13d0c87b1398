import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import type { Stalls } from "../rolecall/stalls.ts";
import { type ClusterOptions, ModelCluster } from "../run/model-cluster.ts";
import { Seat } from "../wire/seat.ts";
import { World } from "../world/world.ts";
import { exporterAt } from "./exporter-connection.ts";
import { epochMs } from "./machine.ts";
import { hasFault, type Plan } from "./plan.ts";
import type { Trace } from "./trace.ts";
import { VirtualDcs } from "./virtual-dcs.ts";
import { VirtualNetwork, type Address } from "./virtual-network.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What a simulated cluster is made with. */
export interface VirtualClusterOptions {
  readonly time: VirtualTime;
  readonly stalls: Stalls;
  readonly armed: Map<string, number>;
  readonly trace: Trace | null;
}

const port = 8008;

/** A modelled cluster on virtual time, with its network and the members of its DCS. */
export class VirtualCluster extends ModelCluster {
  readonly network: VirtualNetwork;
  readonly members: VirtualDcs;
  /** Called with the instant until which rolecall is to be stopped. */
  onRestart: (untilMs: number) => void = () => {};
  /** Returns the address at which rolecall probes a node. */
  probedAt: (node: string) => string | null = () => null;

  constructor(plan: Plan, options: VirtualClusterOptions) {
    const { shape, profile, chance } = plan;
    const { time, stalls, armed, trace } = options;
    const hasClone = hasFault(plan, "guest");
    const common: ClusterOptions = { chance, now: () => time.nowMs, stalls, armed, epochMs, hasClone };
    super(shape, profile, common);
    const addresses = new Map<string, Address>();
    for (const seat of this.seats) {
      seat.node.port = port;
      addresses.set(originOf(seat), { seat, evidence: this.evidence });
      addresses.set(exporterAt(originOf(seat)), { seat, evidence: this.evidence });
    }
    for (const seat of this.clone?.seats ?? []) {
      seat.node.port = port;
      addresses.set(originOf(seat), { seat, evidence: this.aside });
    }
    this.network = new VirtualNetwork({ time, chance: chance.fork(3), trace, addresses });
    this.members = new VirtualDcs(this.world, time, chance.fork(4));
    this.machine = {
      freeze: (ms) => {
        stalls.note(time.nowMs, time.nowMs + ms);
        for (const evidence of [this.evidence, this.aside]) evidence.late(time.nowMs, time.nowMs + ms);
        time.freeze(ms);
      },
      starve: (ms, costMs) => {
        // What waits is done later.
        stalls.note(time.nowMs, time.nowMs + ms + costMs);
        for (const evidence of [this.evidence, this.aside]) evidence.starve(time.nowMs, time.nowMs + ms + costMs);
        time.starve(ms, costMs);
      },
      suspend: (ms) => {
        stalls.note(time.nowMs, time.nowMs + ms);
        for (const evidence of [this.evidence, this.aside]) evidence.suspend(time.nowMs, time.nowMs + ms);
        time.suspend(ms);
      },
      restart: (ms) => this.onRestart(time.nowMs + ms),
      loseDcsMember: (member, how) => {
        const members = how === "down" ? this.members.down : this.members.isolated;
        members.add(member);
        return () => void members.delete(member);
      },
      disturbDcsEvents: (how) => {
        this.members.events = how === "lost" ? { kind: "lost" } : { kind: "late", ms: 4_000 };
        return () => (this.members.events = null);
      },
      stranger: strangerFor(profile, chance.fork(5)),
    };
  }

  /** When the last answer that rolecall surely has of a node becomes too old to count, at the latest. */
  expiresMs(node: string): number {
    const { maxAgeMs, slackMs } = this.profile;
    return (this.evidence.newestSure(node, "status", Infinity)?.arrivedMs ?? -Infinity) + maxAgeMs + slackMs;
  }

  /** Whether rolecall follows a clone in place of any node. */
  get isMovedAway(): boolean {
    return this.world.nodes.some(({ name }) => this.isMoved(name));
  }

  override isMoved(node: string): boolean {
    const clone = this.clone?.seats.find((seat) => seat.node.name === node);
    return clone !== undefined && this.probedAt(node) === originOf(clone);
  }

  /** Moves everything that is modelled to an instant. */
  tick(nowMs: number): void {
    this.advance(nowMs);
    this.members.tick();
    this.network.tick();
  }
}

function originOf({ node }: Seat): string {
  return `http://${node.host}:${node.port}`;
}

/** The leader of another cluster. */
function strangerFor(profile: Profile, chance: Chance): Seat {
  const world = new World({
    scope: "stranger",
    system: "6999999999999999999",
    profile,
    chance,
    hosts: ["127.0.200.1"],
    generation: 4,
    nowMs: 0,
    epochMs,
  });
  const [node] = world.nodes;
  if (node === undefined) throw new Error("Cannot build a stranger: it must have a node");
  // Its lock is never lost.
  node.leaseUntilMs = Infinity;
  return new Seat(world, node);
}
