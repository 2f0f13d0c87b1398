import type { DrainChange } from "../../../core/cluster/drain.ts";
import type { ProbeOutcome, StatusOutcome } from "../../../core/cluster/outcome.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import { nodeNamed } from "../../../core/cluster/lookup.ts";
import type { ClusterConfig, ProbeConfig } from "../../../core/config/model/config.ts";
import { reachAfterFailure } from "../../../core/health/evidence/node/fall-and-rise.ts";
import { maxAgeMs } from "../../../core/health/evidence/node/freshness.ts";
import type { HealthPolicy } from "../../../core/health/health-policy.ts";
import { adoptedCluster, outcomesIn, isUnheard, withOwnersMembers } from "./adopted-cluster.ts";
import { type FollowPhase, nextFollowPhase } from "./follow-phase.ts";
import { type DcsAskers, FollowedDcs } from "./followed-dcs.ts";
import { FollowedDrains } from "./followed-drains.ts";
import type { OwnerDisagreement } from "../../../core/feature/shared-evidence.ts";
import { OwnerViews } from "./owner-views.ts";
import { MergedOutcomes } from "./merged-outcomes.ts";
import type { SecondOpinions } from "./second-opinions.ts";

/** What a followed cluster depends on. */
export interface FollowedClusterContext {
  readonly state: () => ClusterState | undefined;
  readonly policy: () => HealthPolicy | undefined;
  readonly record: (outcome: ProbeOutcome) => void;
  /** Puts another state in the place of the present one. */
  readonly adopt: (state: ClusterState) => void;
  readonly onDrain: (change: DrainChange) => void;
  readonly now: () => number;
  readonly opinions: SecondOpinions;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Begins and ends probing of its nodes. */
  readonly probing: { readonly begin: () => void; readonly end: () => void };
  /** Its first evidence has come, from an upstream. */
  readonly onFirst: () => void;
  /** It is followed no more. */
  readonly onStop: () => void;
}

/** The configuration of a followed cluster. */
export interface FollowedConfig {
  readonly cluster: ClusterConfig;
  readonly probe: ProbeConfig;
}

/**
 * How much of what a prober knows is known of a cluster. `unheard`: a state was taken over, and no server had answered;
 * `whole`: a server has answered since, or had before, or the nodes were probed here for long enough.
 */
type Knowledge = "none" | "unheard" | "whole";

/** More outcomes of one node than come within one timeout of a probe. */
const heldMax = 32;
/** Followers whose upstream falls silent begin to probe within this share of `max_age`. */
const jitterShare = 1 / 12;
/** An upstream is silent if nothing was heard of it for this share of `max_age`. */
const silentShare = 1 / 3;

/** One cluster whose evidence comes from upstreams: merges it, doubts it, and replaces it while nobody sends any. */
export class FollowedCluster {
  readonly #context: FollowedClusterContext;
  readonly #merged = new MergedOutcomes();
  readonly #drains = new FollowedDrains();
  readonly #views = new OwnerViews();
  #disagreements: readonly OwnerDisagreement[] = [];
  readonly #dcs = new FollowedDcs();
  /** Node -> its statuses that wait for a second opinion: the failure that would make it down comes first. */
  readonly #held = new Map<string, StatusOutcome[]>();
  /** Node -> when it may be asked again because its evidence grew old, or it is down, in ms of rolecall's clock. */
  readonly #askAgain = new Map<string, { readonly isLost: boolean; readonly atMs: number }>();
  #config: FollowedConfig;
  #phase: FollowPhase;
  /** The nodes and contacts whose outcomes are merged. */
  #index: ClusterState["index"] | null = null;
  #contacts: ClusterState["contacts"] | null = null;
  /** How much was remembered of them. */
  #mergedSize = 0;
  /** When this instance has passed the cluster on, which it had probed. */
  readonly #passedOnAtMs: number;
  #knowledge: Knowledge = "none";

  /** @param isProbed whether its nodes are probed here already: they are until an upstream feeds it */
  constructor(config: FollowedConfig, context: FollowedClusterContext, isProbed: boolean) {
    this.#config = config;
    this.#context = context;
    const nowMs = context.now();
    this.#passedOnAtMs = isProbed ? nowMs : -Infinity;
    this.#phase = isProbed
      ? { kind: "probing", sinceMs: nowMs }
      : { kind: "awaiting", probesAtMs: nowMs + this.silentMs + this.#delayMs() };
  }

  get phase(): FollowPhase["kind"] {
    return this.#phase.kind;
  }

  /** After what time an upstream counts as silent, in ms. */
  get silentMs(): number {
    return this.#config.probe.maxAgeMs * silentShare;
  }

  /** Follows under another configuration from now on. What upstreams have said that it omits counts no more. */
  configure(config: FollowedConfig): void {
    this.#config = config;
    const upstreams = new Set(config.cluster.follow.map(({ url }) => url));
    this.#dcs.keepOnly(upstreams);
    this.#drains.keepOnly(upstreams);
    this.#settleDrains();
  }

  /**
   * Takes the state that an upstream has of the cluster: whole, if nothing is known here; else the answers that are
   * newer, so that what was seen here stays. Without a state, in a form that is not known, the nodes are probed first.
   */
  takeFull(upstream: string, owners: ClusterState | null): void {
    const state = this.#context.state();
    if (state === undefined) return;
    this.#drains.begin(upstream);
    this.#dcs.state(upstream, owners?.dcs?.isUp === true);
    for (const [node, drain] of owners?.drains ?? []) this.#drains.state(upstream, node, drain);
    if (owners !== null && isUnheard(state)) {
      const { cluster: config, probe } = this.#config;
      this.#context.adopt({ ...adoptedCluster(owners, { config, probe }), drains: state.drains });
      for (const outcome of outcomesIn(owners)) this.#merged.take(outcome);
    } else if (owners !== null) {
      const next = withOwnersMembers(state, owners);
      if (next !== state) this.#context.adopt(next);
      for (const outcome of outcomesIn(owners)) this.take(upstream, outcome);
    }
    if (owners !== null && this.#knowledge === "none") this.#knowledge = "unheard";
    this.#settleDrains();
    this.#noteFirst();
  }

  /** Takes an outcome of an upstream. */
  take(upstream: string, outcome: ProbeOutcome): void {
    if (outcome.kind === "drain") {
      this.#drains.state(upstream, outcome.node, outcome.drain);
      this.#settleDrains();
      return;
    }
    if (outcome.kind === "dcs") {
      const isUp = "read" in outcome.result;
      this.#dcs.state(upstream, isUp);
      if (!isUp && this.#dcs.isReadBesides(upstream)) return;
    }
    if (outcome.kind === "status" && this.#config.cluster.follow.length > 1) this.#views.state(upstream, outcome);
    if (outcome.kind === "status" && this.#isHeld(outcome)) return;
    this.#record(outcome);
    this.#noteFirst();
  }

  /** The nodes about which its upstreams disagree. */
  get disagreements(): readonly OwnerDisagreement[] {
    return this.#disagreements;
  }

  /** Looks at what time has changed. @param feeding the upstreams that feed it now */
  tick(feeding: readonly string[]): void {
    const nowMs = this.#context.now();
    const before = this.#phase;
    if (before.kind === "probing" && nowMs - before.sinceMs > this.#learningMs) this.#knowledge = "whole";
    const isFed = feeding.length > 0 && this.#knowledge === "whole";
    this.#phase = nextFollowPhase(before, { isFed, nowMs, delayMs: this.#delayMs() });
    const [isProbed, wasProbed] = [this.#phase.kind === "probing", before.kind === "probing"];
    if (isProbed && !wasProbed) this.#context.probing.begin();
    if (!isProbed && wasProbed) this.#context.probing.end();
    // The new owner of a cluster that was passed on gets a moment to say what its DCS says.
    if (!isProbed || nowMs - this.#passedOnAtMs > this.silentMs) this.#settleDcs({ feeding, isProbed, nowMs });
    if (this.#phase.kind === "following") this.#askAgeing(nowMs);
    this.#compareViews(nowMs);
    const state = this.#context.state();
    if (state === undefined) return;
    const isSame = state.index === this.#index && state.contacts === this.#contacts;
    if (!isSame || this.#merged.size !== this.#mergedSize) this.#forget(state);
  }

  /** Asks a node, or all of them, because something announced a change. @returns whether any is asked */
  hint(node: string | null): boolean {
    const nodes = (this.#context.state()?.nodes ?? []).filter((each) => node === null || each.node.name === node);
    return nodes.map((each) => this.#ask(each.node.name, true)).includes(true);
  }

  stop(): void {
    this.#held.clear();
    this.#context.onStop();
  }

  /** Removes all upstreams of the cluster, and ends the drains that upstreams have stated. */
  leave(): void {
    this.stop();
    this.configure({ ...this.#config, cluster: { ...this.#config.cluster, follow: [] } });
  }

  /** Forgets outcomes about servers that are gone, or never were there. */
  #forget({ index, contacts }: ClusterState): void {
    [this.#index, this.#contacts] = [index, contacts];
    this.#merged.keepOnly(new Set([...index.keys(), ...contacts.keys()]));
    this.#mergedSize = this.#merged.size;
    for (const node of this.#askAgain.keys()) if (!index.has(node)) this.#askAgain.delete(node);
  }

  /** A state in which no server has answered yet is no evidence: who has it may have just begun, or reach no node. */
  #noteFirst(): void {
    if (this.#knowledge !== "unheard") return;
    const state = this.#context.state();
    if (state === undefined || isUnheard(state)) return;
    this.#knowledge = "whole";
    this.#context.onFirst();
  }

  #record(outcome: Exclude<ProbeOutcome, { kind: "drain" }>): void {
    for (const each of this.#merged.take(outcome)) this.#context.record(each);
  }

  /**
   * Whether a status waits: it is a failure that would make the node down, and the node is asked first; or it comes
   * while the node is being asked. An answer ends that.
   */
  #isHeld(outcome: StatusOutcome): boolean {
    const { node, result } = outcome;
    const held = this.#held.get(node);
    if (held !== undefined && "failure" in result) {
      if (held.length < heldMax) held.push(outcome);
      return true;
    }
    // The answer is newer than the failures that wait.
    this.#held.delete(node);
    if (this.#phase.kind !== "following" || !this.#makesDown(outcome)) return false;
    this.#ask(node, true);
    this.#held.set(node, [outcome]);
    return true;
  }

  #makesDown({ node, sentAtMs, result }: StatusOutcome): boolean {
    const [state, policy] = [this.#context.state(), this.#context.policy()];
    if (!("failure" in result) || state === undefined || policy === undefined) return false;
    const known = nodeNamed(state, node);
    if (known === undefined || known.isDown || known.report === null || sentAtMs < known.sentAtMs) return false;
    const isFresh = this.#context.now() - known.sentAtMs < maxAgeMs(state, policy);
    return isFresh && reachAfterFailure(known, { failure: result.failure, sentAtMs }, policy).isDown;
  }

  #ask(node: string, isUrgent: boolean): boolean {
    const { cluster, probe } = this.#config;
    const question = { cluster: cluster.name, node, limitMs: probe.timeoutMs, isUrgent };
    return this.#context.opinions.ask(question, (own) => this.#release(node, own));
  }

  /** One upstream disagrees with nobody. */
  #compareViews(nowMs: number): void {
    const [state, { cluster, probe }] = [this.#context.state(), this.#config];
    if (cluster.follow.length < 2 || state === undefined) {
      this.#disagreements = [];
      return;
    }
    this.#views.keepOnly(new Set(cluster.follow.map(({ url }) => url)), state.index);
    const settleMs = 2 * probe.intervalMs + probe.timeoutMs;
    this.#disagreements = this.#views.decide({ nowMs, maxAgeMs: probe.maxAgeMs, settleMs });
  }

  /** Records what the node itself said, and what waited for that: an answer makes older failures void. */
  #release(node: string, own: StatusOutcome | null): void {
    const held = this.#held.get(node) ?? [];
    this.#held.delete(node);
    if (own !== null && "report" in own.result) this.#record(own);
    for (const outcome of held) this.#record(outcome);
    if (own !== null && "failure" in own.result) this.#record(own);
    if (held.length > 0) this.#askAgain.set(node, { isLost: true, atMs: this.#context.now() + this.#lostPauseMs() });
  }

  /**
   * Asks nodes whose evidence is about to be too old although their owner is heard; and now and then those that are down
   * or were never heard: the owner may not reach them.
   */
  #askAgeing(nowMs: number): void {
    const [state, policy] = [this.#context.state(), this.#context.policy()];
    if (state === undefined || policy === undefined) return;
    const { timeoutMs, intervalMs } = this.#config.probe;
    const maxMs = maxAgeMs(state, policy);
    // An owner that is well sends a newer answer before its last one is two intervals old.
    const ageingMs = Math.max(maxMs - timeoutMs - intervalMs, 2 * intervalMs);
    for (const { node, report, isDown, sentAtMs } of state.nodes) {
      const isLost = report === null || isDown;
      if (!isLost && nowMs - sentAtMs < ageingMs) {
        this.#askAgain.delete(node.name);
        continue;
      }
      const again = this.#askAgain.get(node.name);
      if (again?.isLost === isLost && nowMs < again.atMs) continue;
      if (!this.#ask(node.name, !isLost)) continue;
      this.#askAgain.set(node.name, { isLost, atMs: nowMs + (isLost ? this.#lostPauseMs() : intervalMs) });
    }
  }

  /** Until a node that is down, or was never heard, is asked once more, in ms. */
  #lostPauseMs(): number {
    return this.silentMs * (1 + this.#context.random());
  }

  /** Not merged: what an upstream has read before and tells later must count. */
  #settleDcs(askers: DcsAskers): void {
    const decided = this.#dcs.decide(this.#context.state()?.dcs ?? null, askers);
    if (decided !== null) this.#context.record({ kind: "dcs", cluster: this.#config.cluster.name, ...decided });
  }

  #settleDrains(): void {
    const state = this.#context.state();
    if (state === undefined) return;
    const { name: cluster, follow } = this.#config.cluster;
    const upstreams = follow.map(({ url }) => url);
    for (const { node, drain, before, isChange } of this.#drains.decide(state, upstreams)) {
      this.#context.record({ kind: "drain", cluster, node, drain });
      const change = drain === null ? { kind: "ended" as const, drain: before } : { kind: "begun" as const, drain };
      if (isChange && change.drain !== null)
        this.#context.onDrain({ ...change, drain: change.drain, cluster, node, endedBy: null });
    }
  }

  /** After so long a prober has asked every source of evidence, in ms. */
  get #learningMs(): number {
    const { clusterIntervalMs, metricsIntervalMs, timeoutMs } = this.#config.probe;
    return Math.max(clusterIntervalMs, metricsIntervalMs) + timeoutMs;
  }

  #delayMs(): number {
    return this.#context.random() * this.#config.probe.maxAgeMs * jitterShare;
  }
}
