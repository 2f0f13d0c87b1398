import type { ClusterConfig, Config } from "../../../src/core/config/model/config.ts";
import type { Violation } from "../oracle/scene.ts";
import { Stalls } from "../rolecall/stalls.ts";
import { begin, type Undo } from "../run/faults.ts";
import { nameOf } from "../run/fault-name.ts";
import { heal } from "../run/heal.ts";
import { configurationFor } from "../sim/configuration.ts";
import { endMsOf, type NumberedFault, type Plan } from "../sim/plan.ts";
import { RunLog } from "../sim/run-log.ts";
import { VirtualCluster } from "../sim/virtual-cluster.ts";
import { VirtualNetwork } from "../sim/virtual-network.ts";
import type { VirtualTime } from "../sim/virtual-time.ts";
import type { Served } from "../wire/served.ts";
import type { EdgeLinks } from "./edge-links.ts";
import { EdgeJudge } from "./edge-judge.ts";
import type { EdgeTime } from "./edge-time.ts";
import type { VirtualEdge } from "./virtual-edge.ts";

/** What a fully modelled cluster of a fleet is made of. */
export interface JudgedClusterParts {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly links: EdgeLinks;
  readonly armed: Map<string, number>;
  readonly injected: Map<string, number>;
  readonly onViolation: (violation: Violation) => void;
  readonly log: (text: string) => void;
}

/** A fully modelled cluster with faults, of which the oracle judges every answer of every instance. */
export class JudgedCluster {
  readonly cluster: VirtualCluster;
  readonly config: Config;
  readonly judges: EdgeJudge[] = [];
  readonly #parts: JudgedClusterParts;
  readonly #faults: readonly NumberedFault[];
  readonly #networks = new Set<VirtualNetwork>();
  readonly #undo = new Map<NumberedFault, Undo>();
  readonly #ended = new Set<NumberedFault>();
  readonly faultsEndMs: number;

  constructor(parts: JudgedClusterParts) {
    const { plan, time, armed } = parts;
    this.#parts = parts;
    const stalls = new Stalls(() => time.nowMs);
    this.cluster = new VirtualCluster(plan, { time, stalls, armed, trace: null });
    const { profile, hasDcs } = plan;
    this.config = configurationFor(this.cluster, profile, { hasDcs, stateFile: null });
    this.#faults = plan.episodes[0] ?? [];
    this.faultsEndMs = Math.min(endMsOf(this.#faults), profile.faultsMs * 1.3);
    this.cluster.members.onRead = (leader, sentMs) => {
      for (const judge of this.judges) judge.dcsRead(leader, sentMs);
    };
  }

  get name(): string {
    return this.cluster.name;
  }

  /** Whether one of its nodes is at an address. */
  has(origin: string): boolean {
    return this.cluster.network.context.addresses.get(origin) !== undefined;
  }

  get clusterConfig(): ClusterConfig {
    const [config] = this.config.clusters;
    if (config === undefined) throw new Error("Cannot configure: there must be a cluster");
    return config;
  }

  /** The network between a process of an instance and the nodes. */
  networkFor(edge: string, time: EdgeTime): VirtualNetwork {
    const { addresses, chance } = this.cluster.network.context;
    const network = new VirtualNetwork({
      time,
      chance,
      trace: null,
      addresses: {
        get: (origin) => {
          const address = addresses.get(origin);
          if (address === undefined) return undefined;
          return { seat: address.seat, evidence: { note: (served: Served) => this.#note(edge, served) } };
        },
      },
    });
    this.#networks.add(network);
    return network;
  }

  /** Has an instance asked about the cluster. */
  judge(edge: VirtualEdge, at: number): EdgeJudge {
    const { plan, time, onViolation, log } = this.#parts;
    const runLog = new RunLog(this.cluster, time, null);
    const judge = new EdgeJudge({
      edge,
      cluster: this.cluster,
      time,
      chance: plan.chance.fork(100 + at),
      isCompared: this.name === "c1",
      isDisturbed: () => this.#isDisturbed(edge),
      onViolation: (violation) =>
        onViolation({ ...violation, detail: `${edge.name} ${this.name}: ${violation.detail}` }),
      onAnswer: (answer) => runLog.answer(answer),
    });
    runLog.onEvent = (text) => log(`${edge.name} ${this.name} ${text}`);
    this.judges.push(judge);
    return judge;
  }

  /** Moves everything to an instant. @param atMs since the first fault may begin; `null`: there are no faults now */
  tick(nowMs: number, atMs: number | null): void {
    for (const one of atMs === null ? [] : this.#faults) {
      const { fault } = one;
      if ((atMs ?? 0) >= fault.atMs && !this.#undo.has(one)) this.#begin(one, nowMs);
      if ((atMs ?? 0) >= fault.atMs + fault.forMs) this.#end(one);
    }
    this.cluster.tick(nowMs);
    for (const network of this.#networks) network.tick();
    for (const judge of this.judges) judge.tick();
  }

  /** All faults end. @param rightFromMs from when on all instances must recover */
  heal(rightFromMs: number): void {
    for (const one of this.#undo.keys()) this.#end(one);
    heal(this.cluster);
    const faults = this.#faults.map(({ fault }) => fault);
    for (const judge of this.judges) judge.healed(faults, rightFromMs);
  }

  #begin(one: NumberedFault, nowMs: number): void {
    const { injected, log } = this.#parts;
    injected.set(one.fault.kind, (injected.get(one.fault.kind) ?? 0) + 1);
    log(`begins: ${this.name} #${one.number} ${nameOf(one.fault)}`);
    this.#undo.set(one, begin(this.cluster, one.fault, nowMs));
  }

  #end(one: NumberedFault): void {
    const undo = this.#undo.get(one);
    if (undo === undefined || this.#ended.has(one)) return;
    this.#ended.add(one);
    undo();
    this.#parts.log(`ends: ${this.name} #${one.number}`);
  }

  #note(by: string, served: Served): void {
    for (const { edge, evidence } of this.judges)
      evidence.noteOf(served, edge.name === by || edge.followed(this.name).includes(by));
  }

  /** Whether something keeps an instance from what it is to know, or has two know different things. */
  #isDisturbed(edge: VirtualEdge): boolean {
    const { links, edges } = { links: this.#parts.links, edges: this.judges.map((judge) => judge.edge) };
    if (edge.isDown || edge.isFrozen || links.isCut(edge.name, "nodes")) return true;
    const assignment = edge.assignmentOf(this.name);
    if (assignment.kind === "probed") return !assignment.isOwned;
    return edge.followed(this.name).some((name) => {
      const owner = edges.find((other) => other.name === name);
      if (owner === undefined || owner.isDown || owner.isFrozen || links.isCut(name, "nodes")) return true;
      if (edge.isReconnecting || owner.isReconnecting) return true;
      return links.waitMs(edge.name, name) > 0 || !edge.isFed(this.name);
    });
  }
}
