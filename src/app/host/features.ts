import type { ClusterConfig, Config } from "../../core/config/model/config.ts";
import type { Brought, Found } from "../../core/health/conditions/condition.ts";
import type { EventKind } from "../../core/events/cluster-event.ts";
import type { ListenerInForce } from "../../core/feature/feature.ts";
import type { Offer } from "../../core/feature/offer.ts";
import type { AnswerOfFeature } from "../../core/http/admin-api/admin-api.ts";
import type { ConnectionHandler } from "../../core/http/listener/listener-set.ts";
import type { BroughtMetric } from "../../core/metrics/brought-metric.ts";
import type { FeatureState, RunningFeature } from "./running-feature.ts";

/** All features of a process. */
export class Features {
  readonly #all: readonly RunningFeature[];

  constructor(all: readonly RunningFeature[]) {
    this.#all = all;
  }

  /** Puts a configuration in force: opens what it uses, and ends what it does not. */
  configure(config: Config): void {
    const used = new Set(this.#all.filter((one) => one.isUsed(config, (offer) => this.#isGiven(offer, config))));
    for (const one of used) for (const giver of this.#all) if (isGivenBy(giver, one)) used.add(giver);
    for (const one of this.#all)
      if (used.has(one) && one.needs.some((need) => !this.#all.some(({ gives }) => gives.includes(need))))
        one.fail("Cannot open: another feature must give what it needs, and none does");
      else one.configure(config, used.has(one));
  }

  /** Whether a feature gives an offer because the configuration itself uses it. */
  #isGiven(offer: Offer<unknown>, config: Config): boolean {
    return this.#all.some((one) => one.gives.includes(offer) && one.isUsed(config, () => false));
  }

  /** Resolves when those that precede probes have put the last configuration in force. Never rejects. */
  async probesMayBegin(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.probesMayBegin()));
  }

  /** The clusters that are probed here from now on, as they are configured. Never throws. */
  probing(clusters: readonly ClusterConfig[]): void {
    for (const one of this.#all) one.probing(clusters);
  }

  /** The state of a cluster may have changed. */
  clusterChanged(cluster: string): void {
    for (const one of this.#all) one.clusterChanged(cluster);
  }

  /**
   * What speaks on a listener whose dialect is none of the core's.
   * @throws Error if no feature speaks it, which the schema of the configuration rules out
   */
  handlerFor(dialect: string, listener: ListenerInForce): ConnectionHandler {
    for (const one of this.#all) {
      const handler = one.handlerFor(dialect, listener);
      if (handler !== null) return handler;
    }
    throw new Error(`Cannot serve a listener: its dialect must be known, got ${dialect}`);
  }

  /** The name of a dialect's protocol in TLS (ALPN); `undefined`: it has none. */
  alpnOf(dialect: string): string | undefined {
    return this.#all.map((one) => one.alpnOf(dialect)).find((alpn) => alpn !== undefined);
  }

  /** This process begins to stop. */
  draining(): void {
    for (const one of this.#all) one.draining();
  }

  /** The listeners that are open, by their keys. */
  listening(keys: ReadonlySet<string>): void {
    for (const one of this.#all) one.listening(keys);
  }

  /** This process is late for so long that it counts as gone, or is not any more (rule 16). */
  withdrawn(): void {
    for (const one of this.#all) one.withdrawn();
  }

  /** What features have found of a cluster. */
  conditions(cluster: string): readonly Found<EventKind>[] {
    const found: Found<EventKind>[] = [];
    for (const one of this.#all) found.push(...one.conditions(cluster));
    return found;
  }

  /** What the situation of a cluster depends on of what features know. */
  brought(cluster: string): Brought {
    return { found: this.conditions(cluster), seen: this.#all.flatMap((one) => one.seen(cluster)) };
  }

  /** What features say of a cluster in `/status`. */
  overview(cluster: string): object {
    return Object.assign({}, ...this.#all.map((one) => one.overview(cluster)));
  }

  /** What features say of this process in `/edges`. @param only nothing of other clusters than this; `null`: all */
  edges(only: string | null): object {
    return Object.assign({}, ...this.#all.map((one) => one.edges(only)));
  }

  /** The state of each, by its name. */
  get states(): ReadonlyMap<string, FeatureState> {
    return new Map(this.#all.map(({ name, state }) => [name, state]));
  }

  /** The names of those that could not be loaded or opened. */
  get failed(): readonly string[] {
    return this.#all.filter(({ state }) => state === "failed").map(({ name }) => name);
  }

  get metrics(): readonly BroughtMetric[] {
    return [...this.#ownMetrics, ...this.#all.flatMap(({ metrics }) => metrics)];
  }

  /** The answers of features on admin listeners, by the first parts of the path. */
  get routes(): ReadonlyMap<string, AnswerOfFeature> {
    return new Map(this.#all.flatMap(({ routes }) => [...routes]));
  }

  /** The same below a cluster, by the whole path. */
  get clusterRoutes(): ReadonlyMap<string, AnswerOfFeature> {
    return new Map(this.#all.flatMap(({ clusterRoutes }) => [...clusterRoutes]));
  }

  /** Resolves when all that the last configuration uses can answer, or has failed. */
  async opened(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.opened()));
  }

  /** This process ends: resolves when nothing is half done any more. */
  async stopping(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stopping()));
  }

  /** Ends all. Resolves when what they had opened has ended, or had the time to. */
  async end(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.end()));
  }

  get #ownMetrics(): readonly BroughtMetric[] {
    const inUse: ReadonlySet<FeatureState> = new Set(["opening", "open", "failed"]);
    return [
      {
        type: "gauge",
        name: "rolecall_feature_up",
        help: "Whether a part of rolecall that the configuration uses could be loaded and opened.",
        read: () =>
          this.#all
            .filter(({ state }) => inUse.has(state))
            .map(({ name, state }) => [{ feature: name }, Number(state !== "failed")] as const),
      },
      {
        type: "counter",
        name: "rolecall_feature_errors_total",
        help: "Internal errors of a part of rolecall; the rest went on.",
        read: () =>
          this.#all
            .filter(({ state, errors }) => inUse.has(state) || errors > 0)
            .map(({ name, errors }) => [{ feature: name }, errors] as const),
      },
    ];
  }
}

function isGivenBy(giver: RunningFeature, needy: RunningFeature): boolean {
  return giver.gives.some((given) => needy.needs.includes(given));
}
