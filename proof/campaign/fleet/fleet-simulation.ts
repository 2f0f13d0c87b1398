import type { Machine } from "../../../src/app/machine/machine.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { FleetKeys } from "../../../test/fake/fleet-keys.ts";
import { profiles } from "../profile.ts";
import type { Violation } from "../oracle/scene.ts";
import { healthListener, agentListener, configurationFor } from "../sim/configuration.ts";
import type { NodeConnection } from "../../../src/core/probe/client/client.ts";
import { configOf } from "../../../test/fake/config.ts";
import { timedOut } from "../sim/network-failures.ts";
import type { RunContext } from "../sim/simulation.ts";
import type { VirtualNetwork } from "../sim/virtual-network.ts";
import { VirtualTime } from "../sim/virtual-time.ts";
import { CheapCluster } from "./cheap-cluster.ts";
import { CheapWatch } from "./cheap-watch.ts";
import { EdgeLinks } from "./edge-links.ts";
import type { EdgeTime } from "./edge-time.ts";
import { FleetFaultEffects } from "./fleet-fault-effects.ts";
import { doesServe, type FleetFault, type FleetPlan, type FleetRunId, nameOfFleetFault } from "./fleet-plan.ts";
import { FleetPromises } from "./fleet-promises.ts";
import { JudgedCluster } from "./judged-cluster.ts";
import { urlOf, VirtualEdge } from "./virtual-edge.ts";

/** How often the model moves, in virtual ms. */
const tickMs = 100;
/** How often cheap clusters are asked about, in ticks. */
const askEveryTicks = 5;
/** How often what the store has is kept, to come back later, in ticks. */
const keepEveryTicks = 70;
const leaseMs = 5_000;
/** How long the fleet has before the first fault, in virtual ms: members are settled then. */
const warmUpMs = 16_000;
/** How long after the last fault the fleet is right again: a lease, and a rest; and at rest: settled, and passed on. */
const rightAfterMs = leaseMs + 3_000;
const restAfterMs = 25_000;
/** How long nodes are counted at rest, in virtual ms. */
const countMs = 10_000;
const recoveryMaxMs = 240_000;
const sliceMs = 1_000;
/** How many events are kept for the report of a violation. */
const eventsMax = 80;

/** What a run of a fleet has shown. */
export interface FleetRunResult {
  readonly violations: readonly (Violation & { readonly atMs: number })[];
  readonly simulatedMs: number;
  readonly answers: number;
  /** How many answers of fully modelled clusters were judged without an excuse. */
  readonly unexcused: number;
  readonly story: readonly string[];
  /** How often a node was asked an interval at rest; `null`: it did not come to that. */
  readonly asked: number | null;
}

/** One run: instances that share the probes of their clusters, faults of both, the oracle and the promises of a fleet. */
export class FleetSimulation {
  readonly #id: FleetRunId;
  readonly #plan: FleetPlan;
  readonly #context: RunContext;
  readonly #time = new VirtualTime();
  readonly #links = new EdgeLinks(this.#time);
  readonly #keys: FleetKeys;
  readonly #edges: readonly VirtualEdge[];
  readonly #judged: readonly JudgedCluster[];
  readonly #cheap: readonly CheapCluster[];
  readonly #cheapAt: ReadonlyMap<string, CheapCluster>;
  readonly #promises: FleetPromises;
  readonly #watch: CheapWatch;
  readonly #effects: FleetFaultEffects;
  readonly #violations: (Violation & { readonly atMs: number })[] = [];
  readonly #events: string[] = [];
  #story: readonly string[] = [];
  readonly #broken = new Set<string>();
  readonly #begun = new Map<FleetFault, (() => void) | null>();
  #ticks = 0;
  #isCalm = false;

  constructor(id: FleetRunId, plan: FleetPlan, context: RunContext) {
    this.#id = id;
    this.#plan = plan;
    this.#context = context;
    const time = this.#time;
    const links = this.#links;
    const { armed, injected } = context;
    const setTimer: Machine["setTimer"] = (run, ms) => {
      const event = time.after("delivery", ms, run);
      return () => (event.run = null);
    };
    const clock = {
      get nowMs() {
        return time.nowMs;
      },
      setTimer,
    };
    this.#keys = new FleetKeys(clock, leaseMs);
    const latency = plan.chance.fork(1);
    this.#keys.latencyMs = () => 0.3 + 2 * latency.next();
    const onViolation = (violation: Violation): void => this.#violate(violation);
    const log = (text: string): void => this.#event(text);
    this.#judged = plan.full.map(
      (each) => new JudgedCluster({ plan: each, time, links, armed, injected, onViolation, log }),
    );
    const profile = profiles.default;
    this.#cheap = Array.from(
      { length: id.clusters - id.full },
      (_, index) => new CheapCluster({ index, size: id.nodes, profile, chance: plan.chance.fork(100 + index) }),
    );
    this.#cheapAt = new Map(this.#cheap.flatMap((each) => each.origins.map((origin) => [origin, each] as const)));
    this.#edges = Array.from({ length: id.edges }, (_, at) => this.#edge(at));
    const clusters = [...this.#judged, ...this.#cheap].map(({ name }) => name);
    const common = { time, edges: this.#edges, links, armed, onViolation, observers: plan.observers };
    const { keys } = { keys: this.#keys };
    this.#promises = new FleetPromises({ ...common, keys, clusters, leaseMs });
    const { intervalMs } = profile;
    const ownersOf = (cluster: string): readonly string[] => this.#promises.ownersOf(cluster);
    this.#watch = new CheapWatch({ ...common, clusters: this.#cheap, intervalMs, ownersOf });
    const about = { time, edges: this.#edges, links, keys, promises: this.#promises, watch: this.#watch, leaseMs };
    this.#effects = new FleetFaultEffects(about);
    for (const judged of this.#judged)
      for (const [at, edge] of this.#edges.entries())
        if (edge.serves(judged.name)) judged.judge(edge, at).start(warmUpMs / 2);
  }

  /** Runs to the end, or to the first violation and a little on. */
  async run(): Promise<FleetRunResult> {
    const late = new Set(this.#plan.faults.flatMap(({ kind, edge }) => (kind === "late" ? [edge] : [])));
    this.#time.after("world", 0, () => {
      for (const [at, edge] of this.#edges.entries())
        if (!late.has(at) || late.size === this.#edges.length) edge.start();
    });
    this.#tick();
    await this.#advance(warmUpMs);
    if (late.size === 0) this.#promises.keepPlaces();
    await this.#advance(warmUpMs + this.#faultsEndMs);
    const healedMs = this.#time.nowMs;
    this.#heal();
    this.#promises.restFrom(healedMs + restAfterMs);
    await this.#advance(healedMs + restAfterMs);
    this.#watch.beginCount();
    await this.#advance(healedMs + restAfterMs + countMs);
    const asked = this.#isOver ? null : this.#watch.endCount();
    if (!this.#isOver) this.#promises.checkPlaces();
    while (!this.#isRecovered && this.#time.nowMs < healedMs + recoveryMaxMs && !this.#isOver)
      await this.#advance(this.#time.nowMs + sliceMs);
    for (const edge of this.#edges) edge.kill(true);
    const judges = this.#judged.flatMap((judged) => judged.judges);
    return {
      violations: this.#violations,
      simulatedMs: this.#time.nowMs,
      answers: this.#watch.asked + judges.reduce((sum, { asker }) => sum + asker.asked, 0),
      unexcused: judges.reduce((sum, { unexcusedAnswers }) => sum + unexcusedAnswers, 0),
      story: this.#story,
      asked,
    };
  }

  get #faultsEndMs(): number {
    const ofFleet = this.#plan.faults.map(({ atMs, forMs }) => atMs + forMs);
    return Math.max(5_000, ...ofFleet, ...this.#judged.map(({ faultsEndMs }) => faultsEndMs));
  }

  get #isOver(): boolean {
    return this.#violations.length > 0;
  }

  get #isRecovered(): boolean {
    return this.#judged.every(({ judges }) => judges.every((judge) => judge.isRecovered));
  }

  async #advance(untilMs: number): Promise<void> {
    while (this.#time.nowMs < untilMs && !this.#isOver)
      await this.#time.run(Math.min(untilMs, this.#time.nowMs + sliceMs));
  }

  #heal(): void {
    for (const fault of this.#begun.keys()) this.#end(fault);
    this.#links.heal();
    this.#isCalm = true;
    for (const edge of this.#edges) {
      edge.start();
      edge.reachStore();
    }
    for (const judged of this.#judged) judged.heal(this.#time.nowMs + rightAfterMs);
    this.#promises.happened();
    this.#event("all healed");
  }

  #tick(): void {
    const { nowMs } = this.#time;
    const atMs = this.#isCalm || nowMs < warmUpMs ? null : nowMs - warmUpMs;
    if (!this.#isCalm) this.#moveFaults(nowMs - warmUpMs);
    this.#ticks += 1;
    if (this.#ticks % keepEveryTicks === 0) this.#effects.keepOlder();
    for (const judged of this.#judged) judged.tick(nowMs, atMs);
    this.#promises.tick();
    this.#watch.tick();
    if (this.#ticks % askEveryTicks === 0) this.#watch.ask(Math.max(1, Math.round(this.#cheap.length / 12)));
    // What an instance was asked sets its timers.
    this.#time.after("delivery", tickMs, () => this.#tick());
  }

  #moveFaults(atMs: number): void {
    for (const fault of this.#plan.faults) {
      const fromMs = fault.kind === "late" ? -warmUpMs : fault.atMs;
      if (atMs >= fromMs && !this.#begun.has(fault)) this.#begin(fault);
      if (atMs >= fault.atMs + fault.forMs) this.#end(fault);
    }
  }

  #begin(fault: FleetFault): void {
    const { injected } = this.#context;
    injected.set(fault.kind, (injected.get(fault.kind) ?? 0) + 1);
    this.#event(`begins: ${nameOfFleetFault(fault)}`);
    this.#begun.set(fault, this.#effects.begin(fault));
    for (const judge of this.#judges(fault.edge)) judge.soon();
  }

  #end(fault: FleetFault): void {
    const end = this.#begun.get(fault);
    if (end === null || end === undefined) return;
    this.#begun.set(fault, null);
    end();
    this.#event(`ends: ${fault.name}`);
    for (const judge of this.#judges(fault.edge)) judge.soon();
  }

  #judges(at: number): readonly JudgedCluster["judges"][number][] {
    const edge = this.#edges[at];
    return this.#judged.flatMap(({ judges }) => judges.filter((judge) => judge.edge === edge));
  }

  #edge(at: number): VirtualEdge {
    const name = `e${at + 1}`;
    const config = this.#configFor(at);
    return new VirtualEdge({
      name,
      config,
      hasWorker: at === 0 && this.#plan.full[0]?.hasWorker === true,
      cluster: config.clusters[0]?.name ?? "",
      time: this.#time,
      chance: this.#plan.chance.fork(200 + at),
      keys: this.#keys,
      links: this.#links,
      connect: (edge, time) => this.#connectorOf(edge, time),
      openDcs: (time) => (cluster) => {
        const judged = this.#judged.find((other) => other.name === cluster.name);
        if (judged === undefined) throw new Error(`Cannot open the DCS of ${cluster.name}: it must have one`);
        return judged.cluster.members.open(time);
      },
      peerAt: (url) => this.#edges.find((edge) => edge.url === url),
      onChange: (before, after) => {
        const judged = this.#judged.find((other) => other.name === after.name);
        judged?.judges.find(({ edge }) => edge.name === name)?.stateChanged(before, after);
      },
      onError: (text) => this.#violate({ rule: "errors", node: name, detail: text }),
    });
  }

  #configFor(at: number): Config {
    const [first] = this.#judged;
    const { probe } = first?.config ?? configOf({ clusters: [] });
    return configOf({
      listen: [healthListener, agentListener],
      workers: 0,
      probe: first === undefined ? configurationFor(defaultWatched, profiles.default, noDcs).probe : probe,
      clusters: [
        ...this.#judged.map(({ clusterConfig }) => clusterConfig),
        ...this.#cheap.map(({ config }) => config),
      ].filter((_, cluster) => doesServe(this.#id, at, cluster)),
      fleet: {
        name: "edges",
        advertise: urlOf(`e${at + 1}`),
        zone: ["a", "b"][at % 2] ?? null,
        weight: this.#plan.weights[at] ?? 1,
        observers: this.#plan.observers,
        leaseMs,
        etcd: { urls: ["http://etcd:2379"], prefix: "/rolecall", tls: null, auth: null },
        tokenFile: null,
        tls: null,
      },
    });
  }

  #connectorOf(edge: string, time: EdgeTime): VirtualNetwork["connect"] {
    const networks = this.#judged.map((judged) => ({ judged, network: judged.networkFor(edge, time) }));
    const chance = this.#plan.chance.fork(300);
    const isCut = (): boolean => this.#links.isCut(edge, "nodes");
    return (origin, limits) => {
      const cheap = this.#cheapAt.get(origin);
      if (cheap !== undefined) return cheap.connect(origin, limits, { edge, time, chance, isCut });
      const own = networks.find(({ judged }) => judged.has(origin)) ?? networks[0];
      if (own === undefined) throw new Error(`Cannot connect to ${origin}: it must be a node's`);
      return guarded(own.network.connect(origin, limits), { isCut, timeoutMs: limits.timeoutMs, time });
    };
  }

  #event(text: string): void {
    const { nowMs } = this.#time;
    this.#context.trace?.add(nowMs, text);
    this.#events.push(`${(nowMs / 1_000).toFixed(2)} s ${text}`);
    if (this.#events.length > 2 * eventsMax) this.#events.splice(0, eventsMax);
  }

  #violate(violation: Violation): void {
    const key = `${violation.rule} ${violation.node ?? ""}`;
    if (this.#broken.has(key)) return;
    this.#broken.add(key);
    this.#violations.push({ ...violation, atMs: this.#time.nowMs });
    this.#event(`VIOLATION ${key}: ${violation.detail}`);
    if (this.#story.length > 0) return;
    const truth = this.#judged.flatMap(({ name, cluster }) => [`${name}:`, ...cluster.truth(this.#time.nowMs)]);
    const owners = [...this.#judged, ...this.#cheap.slice(0, 20)].map(
      ({ name }) => `${name}: ${this.#promises.ownersOf(name).join(", ") || "nobody"}`,
    );
    this.#story = [...this.#events.slice(-eventsMax), "truth:", ...truth, `owners: ${owners.join("; ")}`];
  }
}

const noDcs = { hasDcs: false, stateFile: null };
const defaultWatched = {
  watched: { name: "c1", scope: "c1", isDiscovered: false, nodes: [] },
  shape: { surviveMs: 0 },
};

/** A connection that waits in vain while the instance does not reach the nodes. */
function guarded(
  connection: NodeConnection,
  { isCut, timeoutMs, time }: { readonly isCut: () => boolean; readonly timeoutMs: number; readonly time: EdgeTime },
): NodeConnection {
  const late = (): Promise<typeof timedOut> =>
    new Promise((resolve) => {
      time.after("timer", timeoutMs, () => resolve(timedOut));
    });
  return {
    get: (...request) => (isCut() ? late() : connection.get(...request)),
    getStreamed: (...request) => (isCut() ? late() : connection.getStreamed(...request)),
    close: () => connection.close(),
  };
}
