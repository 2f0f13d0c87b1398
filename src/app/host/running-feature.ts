import type { SetTimer } from "../../core/cluster/timer.ts";
import type { ClusterConfig, Config } from "../../core/config/model/config.ts";
import type { Found, SeenClients } from "../../core/health/conditions/condition.ts";
import type { EventKind } from "../../core/events/cluster-event.ts";
import type { Feature, Host, ListenerInForce, Opened } from "../../core/feature/feature.ts";
import type { Offer } from "../../core/feature/offer.ts";
import { Scope } from "../../core/feature/scope.ts";
import type { AnswerOfFeature, FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import type { ConnectionHandler } from "../../core/http/listener/listener-set.ts";
import type { BroughtMetric } from "../../core/metrics/brought-metric.ts";

/** What the features of a process depend on. */
export interface FeaturesContext extends Host {
  readonly setTimer: SetTimer;
}

/** A feature in a process: loaded on first use, its errors contained, ended when it is used no more. */
export interface RunningFeature {
  readonly name: string;
  readonly state: FeatureState;
  /** How often it has thrown. */
  readonly errors: number;
  readonly needs: readonly Offer<unknown>[];
  readonly gives: readonly Offer<unknown>[];
  /** @param isGiven whether another feature gives an offer; by default none does */
  isUsed(config: Config, isGiven?: (offer: Offer<unknown>) => boolean): boolean;
  /** @param isNeeded whether a feature in use needs what it gives */
  configure(config: Config, isNeeded?: boolean): void;
  /** Ends it, because of a problem. */
  fail(problem: string): void;
  /** Resolves when the last configuration is in force, if probes wait for that. Never rejects. */
  probesMayBegin(): Promise<void>;
  probing(clusters: readonly ClusterConfig[]): void;
  clusterChanged(cluster: string): void;
  /** What speaks on a listener of a dialect, from when the feature is open; `null`: it does not speak this dialect. */
  handlerFor(dialect: string, listener: ListenerInForce): ConnectionHandler | null;
  /** The name of a dialect's protocol in TLS (ALPN); `undefined`: it has none, or is not spoken here. */
  alpnOf(dialect: string): string | undefined;
  listening(keys: ReadonlySet<string>): void;
  draining(): void;
  withdrawn(): void;
  conditions(cluster: string): readonly Found<EventKind>[];
  seen(cluster: string): readonly SeenClients[];
  overview(cluster: string): object;
  edges(only: string | null): object;
  readonly metrics: readonly BroughtMetric[];
  readonly routes: ReadonlyMap<string, AnswerOfFeature>;
  readonly clusterRoutes: ReadonlyMap<string, AnswerOfFeature>;
  /** Resolves when what the last configuration uses is open and can answer, or has failed. */
  opened(): Promise<void>;
  /** Resolves when nothing of it is half done any more. Never rejects. */
  stopping(): Promise<void>;
  end(): Promise<void>;
}

/** `failed`: it could not be loaded or opened; the next configuration tries again. `ended` is final. */
export type FeatureState = Life<unknown>["kind"];

type Life<Running> =
  | { readonly kind: "unused" | "failed" | "ended" }
  | { readonly kind: "opening"; readonly scope: Scope; readonly config: Config }
  | { readonly kind: "open"; readonly scope: Scope; readonly running: Running };

const nothingFound: readonly Found<EventKind>[] = [];

const refuse: ConnectionHandler = ({ socket }) => void socket.destroy();

/** Puts a feature into a process. What type it has inside is known here alone. */
export function featureIn<Running extends Opened>(feature: Feature<Running>, context: FeaturesContext): RunningFeature {
  return new FeatureInProcess(feature, context);
}

class FeatureInProcess<Running extends Opened> implements RunningFeature {
  readonly metrics: readonly BroughtMetric[];
  readonly routes: ReadonlyMap<string, AnswerOfFeature>;
  readonly clusterRoutes: ReadonlyMap<string, AnswerOfFeature>;
  readonly #feature: Feature<Running>;
  readonly #context: FeaturesContext;
  readonly #host: Host;
  #life: Life<Running> = { kind: "unused" };
  /** The last configuration: a call may open the feature, whether this uses it or not. One that comes earlier waits. */
  #config: Config | null = null;
  #onConfig: readonly (() => void)[] = [];
  #opening: Promise<void> = Promise.resolve();
  #taking: Promise<void> = Promise.resolve();
  #ending: Promise<void> = Promise.resolve();
  /** What a feature that opens late has to know. `isCalled`: a call has opened it, so it stays open. */
  readonly #process = { isDraining: false, isCalled: false };
  /** What is probed here, once that is known of the last configuration. */
  #probed: readonly ClusterConfig[] | null = null;
  #errors = 0;

  constructor(feature: Feature<Running>, context: FeaturesContext) {
    const { metrics = [], routes, clusterRoutes } = feature;
    this.#feature = feature;
    this.#context = context;
    this.metrics = metrics.map(({ read, ...metric }) => ({ ...metric, read: () => read(this.#running) }));
    this.routes = this.#answersOf(routes);
    this.clusterRoutes = this.#answersOf(clusterRoutes);
    this.#host = {
      ...context,
      // At the end nothing is better or worse than before: it is only not known any more.
      changed: (cluster) => (this.#life.kind === "ended" ? undefined : context.changed(cluster)),
      contained: (error, about) => this.#count(error, about),
    };
  }

  get name(): string {
    return this.#feature.name;
  }

  get state(): FeatureState {
    return this.#life.kind;
  }

  get errors(): number {
    return this.#errors;
  }

  get needs(): readonly Offer<unknown>[] {
    return this.#feature.needs ?? [];
  }

  get gives(): readonly Offer<unknown>[] {
    return this.#feature.gives ?? [];
  }

  isUsed(config: Config, isGiven: (offer: Offer<unknown>) => boolean = () => false): boolean {
    return this.#feature.isUsed(config, isGiven);
  }

  configure(config: Config, isNeeded: boolean = false): void {
    const life = this.#life;
    if (life.kind === "ended") return;
    if (!isNeeded && !this.#process.isCalled && !this.isUsed(config)) this.#withoutUse(config);
    else if (life.kind === "open") this.#taking = this.#take(life.running, config);
    else if (life.kind === "opening") this.#life = { ...life, config };
    else this.#opening = this.#open(config);
    this.#config = config;
    this.#probed = null;
    this.#callsGoOn();
  }

  fail(problem: string): void {
    if (this.#life.kind === "ended") return;
    this.#count(new Error(problem), {});
    this.#leave("failed");
  }

  async probesMayBegin(): Promise<void> {
    if (this.#feature.precedesProbes !== true) return;
    await this.#opening;
    await Promise.all([this.#taking, this.#ending]);
  }

  async opened(): Promise<void> {
    await this.#opening;
    await this.#running?.ready;
  }

  async stopping(): Promise<void> {
    try {
      await this.#running?.stopping?.();
    } catch (error) {
      this.#count(error, {});
    }
  }

  probing(clusters: readonly ClusterConfig[]): void {
    this.#probed = clusters;
    this.#contain(undefined, (opened) => opened.probing?.(clusters));
  }

  /** Called with each answer of a node: it allocates nothing. */
  clusterChanged(cluster: string): void {
    const life = this.#life;
    if (life.kind !== "open" || life.running.clusterChanged === undefined) return;
    try {
      life.running.clusterChanged(cluster);
    } catch (error) {
      this.#count(error, {});
    }
  }

  handlerFor(dialect: string, listener: ListenerInForce): ConnectionHandler | null {
    const spoken = this.#feature.dialects?.[dialect];
    if (spoken === undefined) return null;
    // Listeners get their handlers before the rest of the configuration is in force.
    const { kind } = this.#life;
    if (kind === "unused" || kind === "failed") this.#opening = this.#open(listener.config);
    const handler = this.#opening.then(() => this.#contain(refuse, (opened) => spoken.serve(opened, listener)));
    return (connection) => void handler.then((converse) => this.#converse(converse, connection));
  }

  listening(keys: ReadonlySet<string>): void {
    this.#contain(undefined, (opened) => opened.listening?.(keys));
  }

  alpnOf(dialect: string): string | undefined {
    return this.#feature.dialects?.[dialect]?.alpn;
  }

  draining(): void {
    this.#process.isDraining = true;
    this.#contain(undefined, (opened) => opened.draining?.());
  }

  withdrawn(): void {
    this.#contain(undefined, (opened) => opened.withdrawn?.());
  }

  conditions(cluster: string): readonly Found<EventKind>[] {
    const { conditions } = this.#feature;
    if (conditions === undefined) return nothingFound;
    return this.#contain(nothingFound, (opened) => conditions(opened, cluster));
  }

  seen(cluster: string): readonly SeenClients[] {
    const { seen } = this.#feature;
    return seen === undefined ? [] : this.#contain<readonly SeenClients[]>([], (opened) => seen(opened, cluster));
  }

  overview(cluster: string): object {
    return this.#contain<object>({}, (opened) => this.#feature.overview?.(opened, cluster) ?? {});
  }

  edges(only: string | null): object {
    try {
      return this.#feature.edges?.(this.#running, only) ?? {};
    } catch (error) {
      this.#count(error, {});
      return {};
    }
  }

  end(): Promise<void> {
    this.#leave("ended");
    this.#callsGoOn();
    return this.#ending;
  }

  get #running(): Running | null {
    return this.#life.kind === "open" ? this.#life.running : null;
  }

  #converse(converse: ConnectionHandler, connection: Parameters<ConnectionHandler>[0]): void {
    try {
      if (this.#life.kind === "open") converse(connection);
      else refuse(connection);
    } catch (error) {
      this.#count(error, {});
      refuse(connection);
    }
  }

  async #open(config: Config): Promise<void> {
    const { setTimer } = this.#context;
    const scope = new Scope({
      setTimer,
      onProblem: (what, problem) => this.#count(new Error(`${what}: ${problem}`), {}),
    });
    this.#life = { kind: "opening", scope, config };
    try {
      const start = await this.#feature.load();
      const life = this.#life;
      // A configuration may have ended this opening, and begun another one.
      if (life.kind !== "opening" || life.scope !== scope) return;
      const running = start(this.#host, scope);
      this.#life = { kind: "open", scope, running };
      this.#taking = this.#failWith(scope, running.configure(life.config));
      if (this.#probed !== null) running.probing?.(this.#probed);
      if (this.#process.isDraining) running.draining?.();
    } catch (error) {
      await this.#failWith(scope, Promise.reject(error));
    }
  }

  /** What cannot take the configuration that it is opened for is failed. */
  async #failWith(scope: Scope, opening: void | Promise<void>): Promise<void> {
    try {
      await opening;
    } catch (error) {
      this.#count(error, {});
      if ("scope" in this.#life && this.#life.scope === scope) this.#leave("failed");
    }
  }

  #answersOf(routes: Feature<Running>["routes"] = {}): ReadonlyMap<string, AnswerOfFeature> {
    const { opensOn = [] } = this.#feature;
    return new Map(
      Object.entries(routes).map(([path, answer]) => [
        path,
        opensOn.includes(path)
          ? (call: FeatureCall) => this.#wake().then(() => answer(this.#running, call))
          : (call: FeatureCall) => answer(this.#running, call),
      ]),
    );
  }

  /** Ends what the configuration does not use, unless there is something to finish: then it is opened for that. */
  #withoutUse(config: Config): void {
    const { kind } = this.#life;
    const { hasLeft } = this.#feature;
    const isBusy = this.#contain(false, (opened) => opened.isBusy?.() ?? false);
    if (isBusy && this.#life.kind === "open") this.#taking = this.#take(this.#life.running, config);
    else if (kind === "open" || kind === "opening") this.#leave("unused");
    else if (hasLeft !== undefined) this.#opening = this.#openIfLeft(config, hasLeft);
    else if (kind === "failed") this.#life = { kind: "unused" };
  }

  async #openIfLeft(config: Config, hasLeft: (config: Config) => Promise<boolean>): Promise<void> {
    const found = await hasLeft(config).catch(() => true);
    const { kind } = this.#life;
    if (kind !== "unused" && kind !== "failed") return;
    if (found) await this.#open(config);
    else this.#life = { kind: "unused" };
  }

  async #take(running: Running, config: Config): Promise<void> {
    try {
      await running.configure(config);
    } catch (error) {
      this.#count(error, {});
    }
  }

  /** Opens it for a call. */
  async #wake(): Promise<void> {
    if (this.#config === null && this.#life.kind !== "ended")
      await new Promise<void>((resolve) => {
        this.#onConfig = [...this.#onConfig, resolve];
      });
    const { kind } = this.#life;
    this.#process.isCalled = true;
    if (this.#config !== null && (kind === "unused" || kind === "failed")) this.#opening = this.#open(this.#config);
    await this.#opening;
  }

  #callsGoOn(): void {
    for (const goOn of this.#onConfig) goOn();
    this.#onConfig = [];
  }

  #leave(kind: "unused" | "ended" | "failed"): void {
    const before = this.#life;
    // First: while it ends, what it has found holds no more.
    this.#life = { kind };
    if (before.kind === "opening" || before.kind === "open") this.#ending = endBoth(this.#ending, before.scope);
  }

  #contain<Value>(otherwise: Value, work: (opened: Running) => Value): Value {
    if (this.#life.kind !== "open") return otherwise;
    try {
      return work(this.#life.running);
    } catch (error) {
      this.#count(error, {});
      return otherwise;
    }
  }

  #count(error: unknown, about: object): void {
    this.#errors += 1;
    this.#context.contained(error, { feature: this.name, ...about });
  }
}

async function endBoth(earlier: Promise<void>, scope: Scope): Promise<void> {
  await Promise.all([earlier, scope.end()]);
}
