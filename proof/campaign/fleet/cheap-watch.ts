import { countHeld, type Violation } from "../oracle/scene.ts";
import type { Question } from "../rolecall/asker.ts";
import { questionOf } from "../rolecall/asker.ts";
import { VirtualAsker } from "../sim/virtual-asker.ts";
import type { VirtualTime } from "../sim/virtual-time.ts";
import type { CheapCluster } from "./cheap-cluster.ts";
import type { EdgeLinks } from "./edge-links.ts";
import type { VirtualEdge } from "./virtual-edge.ts";

/** What the watch over cheap clusters depends on. */
export interface CheapWatchParts {
  readonly time: VirtualTime;
  readonly edges: readonly VirtualEdge[];
  readonly links: EdgeLinks;
  readonly clusters: readonly CheapCluster[];
  readonly observers: number;
  readonly intervalMs: number;
  readonly ownersOf: (cluster: string) => readonly string[];
  readonly armed: Map<string, number>;
  readonly onViolation: (violation: Violation) => void;
}

/** After how long a way to the evidence must have led to a yes, in ms: a third of `max_age`, a delay, and a probe. */
const wayMs = 3_500;
/** For how long nodes that were out of reach are asked rarely, in ms: the longest rest. */
const rareMs = 5_500;
/** How many times an interval a node may be asked at rest. */
const share = { least: 1, most: 1.1 } as const;

/** A drain of a node. */
interface OrderedNodeDrain {
  readonly cluster: string;
  readonly node: string;
  /** When it was accepted; `Infinity`: it was not, and may hold all the same. */
  sinceMs: number;
  readonly untilMs: number;
  /** Whether an instance may have missed it. */
  isVoid: boolean;
}

/** Judges what instances say of clusters to which nothing happens: it needs no excuse of the cluster's. */
export class CheapWatch {
  readonly #parts: CheapWatchParts;
  readonly #askers = new Map<VirtualEdge, VirtualAsker>();
  /** Since when an instance reaches the nodes itself, or an owner that does, in virtual ms. */
  readonly #directMs = new Map<VirtualEdge, number>();
  readonly #viaMs = new Map<string, number>();
  /** When an instance did not reach the nodes last, in virtual ms. */
  readonly #cutMs = new Map<VirtualEdge, number>();
  readonly #drains: OrderedNodeDrain[] = [];
  #before: readonly number[] | null = null;
  #beforeMs = 0;
  #disturbedMs = 0;
  #turn = 0;

  constructor(parts: CheapWatchParts) {
    this.#parts = parts;
    for (const edge of parts.edges) this.#askers.set(edge, new VirtualAsker(() => edge.subject, parts.time));
  }

  get asked(): number {
    return [...this.#askers.values()].reduce((sum, { asked }) => sum + asked, 0);
  }

  /** An operator drains a node at an instance. */
  async drain(edge: VirtualEdge, pick: number, forMs: number): Promise<void> {
    const { time } = this.#parts;
    const clusters = this.#parts.clusters.filter(({ name }) => edge.serves(name));
    const cluster = clusters[pick % clusters.length];
    if (cluster === undefined || edge.isDown || edge.isFrozen) return;
    const node = "pg2";
    const request = { reason: "maintenance", by: "ann", extent: "all" as const, forMs };
    const beganMs = time.nowMs;
    const isVoid = beganMs - this.#disturbedMs < wayMs || this.#isApart(edge);
    // It takes the place of the drain that the node has.
    for (const before of this.#drains) if (before.cluster === cluster.name) before.isVoid = true;
    const drain = { cluster: cluster.name, node, sinceMs: Infinity, untilMs: beganMs + forMs, isVoid };
    this.#drains.push(drain);
    const done = await edge.subject.monitor.drains.begin(cluster.name, node, request);
    if (done.kind === "durable" || done.kind === "volatile") drain.sinceMs = time.nowMs;
  }

  /** Something happens to the fleet. @param hides whether an instance may miss what the others learn */
  happened(hides: boolean): void {
    const { nowMs } = this.#parts.time;
    if (hides) this.#disturbedMs = nowMs;
    for (const drain of this.#drains) if (hides || !(nowMs - drain.sinceMs > wayMs)) drain.isVoid = true;
  }

  /** An owner without a state file is back before its lease has ended, so that no other one takes its clusters. */
  hasForgotten({ name }: VirtualEdge): void {
    for (const drain of this.#drains) if (this.#parts.ownersOf(drain.cluster).includes(name)) drain.isVoid = true;
  }

  /** Looks who reaches what. To be called with every step of the model. */
  tick(): void {
    const { edges, clusters } = this.#parts;
    for (const edge of edges)
      if (this.#parts.links.isCut(edge.name, "nodes")) this.#cutMs.set(edge, this.#parts.time.nowMs);
    for (const edge of edges) {
      keep(this.#directMs, edge, this.#isSound(edge), this.#parts.time.nowMs);
      for (const { name } of clusters.filter((each) => edge.serves(each.name)))
        keep(this.#viaMs, `${edge.name} ${name}`, this.#isFed(edge, name), this.#parts.time.nowMs);
    }
  }

  /** Asks each instance about each cluster, or about every n-th of many. */
  ask(everyNth: number): void {
    const { edges, clusters } = this.#parts;
    this.#turn += 1;
    for (const [at, edge] of edges.entries()) {
      if (edge.isDown || edge.isFrozen) continue;
      for (let of = (this.#turn + at) % everyNth; of < clusters.length; of += everyNth) {
        const cluster = clusters[of];
        if (cluster !== undefined && edge.serves(cluster.name)) this.#askAbout(edge, cluster.name);
      }
    }
  }

  /** Begins to count what nodes are asked. */
  beginCount(): void {
    this.#before = this.#counts();
    for (const { askedBy } of this.#parts.clusters) askedBy.clear();
    this.#beforeMs = this.#parts.time.nowMs;
  }

  /** Ends it, and judges it. @returns how often a node was asked an interval, of all nodes */
  endCount(): number | null {
    const { time, intervalMs, observers, edges, armed, onViolation } = this.#parts;
    const before = this.#before;
    if (before === null) return null;
    const intervals = (time.nowMs - this.#beforeMs) / intervalMs;
    const serving = edges.filter((edge) => edge.serves(this.#parts.clusters[0]?.name ?? ""));
    const places = Math.min(observers, serving.length);
    const who = this.#parts.clusters
      .map(({ name, askedBy }) => `${name}: ${[...askedBy].map(([edge, count]) => `${edge} ${count}`).join(", ")}`)
      .slice(0, 50)
      .join("; ");
    const each = this.#counts().map((count, at) => (count - (before[at] ?? 0)) / places);
    const mean = each.reduce((sum, count) => sum + count, 0) / each.length / intervals;
    for (const count of each) {
      countHeld(armed, "probes");
      // One more or less at the ends of the count.
      if (count < share.least * intervals - 1 || count > share.most * intervals + 1)
        onViolation({
          rule: "probes",
          node: null,
          detail: `a node was asked ${count} times in ${intervals} intervals (${who})`,
        });
    }
    const slack = 1 / intervals;
    if (mean < share.least - slack || mean > share.most)
      onViolation({ rule: "probes", node: null, detail: `nodes were asked ${mean.toFixed(3)} times an interval` });
    return mean;
  }

  #counts(): readonly number[] {
    return this.#parts.clusters.flatMap(({ asked }) => [...asked]);
  }

  #askAbout(edge: VirtualEdge, cluster: string): void {
    const { time, armed, onViolation } = this.#parts;
    const { nowMs } = time;
    const ask = (node: string, check: string): ReturnType<VirtualAsker["askNow"]> | undefined =>
      this.#askers.get(edge)?.askNow(questionOf(cluster, node, check) satisfies Question);
    const broken = (rule: string, node: string, text: string): void =>
      onViolation({ rule, node: `${cluster} ${node}`, detail: `${edge.name}: ${text}` });
    if (ask("pg2", "/primary")?.status === 200) broken("wrong-yes", "pg2", "a replica is fit for /primary");
    const primary = ask("pg1", "/primary");
    const replica = ask("pg2", "/replica");
    const drains = this.#drains.filter((drain) => drain.cluster === cluster);
    const isOpen = drains.every(({ untilMs }) => nowMs > untilMs + wayMs);
    const drained = drains.filter(({ untilMs, sinceMs, isVoid }) => {
      return !isVoid && nowMs > sinceMs + wayMs && nowMs < untilMs - wayMs;
    });
    const isInSight = nowMs - (this.#directMs.get(edge) ?? nowMs) > wayMs;
    const isFed = nowMs - (this.#viaMs.get(`${edge.name} ${cluster}`) ?? nowMs) > wayMs;
    if (isInSight || isFed) {
      countHeld(armed, isInSight ? "yes-kept" : "yes-kept-fed");
      if (primary?.status !== 200) broken("yes-kept", "pg1", primary?.phrase ?? "no answer");
      if (isOpen && replica?.status !== 200) broken("yes-kept", "pg2", replica?.phrase ?? "no answer");
    }
    if (drained.length === 0 || !isInSight || nowMs - edge.startedMs < 2 * wayMs) return;
    countHeld(armed, "drain-stays");
    if (replica?.status === 200) broken("drain-stays", "pg2", "it is fit although it is drained");
  }

  /** Whether an instance does not hear another one at once. */
  #isApart(edge: VirtualEdge): boolean {
    const { edges, links } = this.#parts;
    return edges.some((other) => other !== edge && links.waitMs(edge.name, other.name) > 0);
  }

  /** Whether an instance answers, and reaches the nodes. */
  #isSound(edge: VirtualEdge): boolean {
    return !edge.isDown && !edge.isFrozen && this.#parts.time.nowMs - (this.#cutMs.get(edge) ?? -Infinity) > rareMs;
  }

  #isFed(edge: VirtualEdge, cluster: string): boolean {
    const { edges, links } = this.#parts;
    if (edge.isDown || edge.isFrozen || !edge.isFed(cluster)) return false;
    return edge.followed(cluster).some((name) => {
      const owner = edges.find((other) => other.name === name);
      return owner !== undefined && this.#isSound(owner) && links.waitMs(edge.name, name) === 0;
    });
  }
}

function keep<K>(sinceMs: Map<K, number>, key: K, holds: boolean, nowMs: number): void {
  if (!holds) sinceMs.delete(key);
  else if (!sinceMs.has(key)) sinceMs.set(key, nowMs);
}
