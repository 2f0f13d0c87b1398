import type { SetTimer } from "../../cluster/timer.ts";
import type { Config } from "../../config/model/config.ts";
import type { Found } from "../../health/conditions/condition.ts";
import type { EventKind } from "../../events/cluster-event.ts";
import type { Feature, Host, ListenerInForce, Opened } from "../../feature/feature.ts";
import { Scope } from "../../feature/scope.ts";
import type { AnswerOfFeature } from "../../http/admin-api/admin-api.ts";
import type { ConnectionHandler } from "../../http/listener/listener-set.ts";
import type { BroughtMetric } from "../../metrics/brought-metric.ts";

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
  configure(config: Config): void;
  clusterChanged(cluster: string): void;
  /** What speaks on a listener of a dialect, from when the feature is open; `null`: it does not speak this dialect. */
  handlerFor(dialect: string, listener: ListenerInForce): ConnectionHandler | null;
  /** The name of a dialect's protocol in TLS (ALPN); `undefined`: it has none, or is not spoken here. */
  alpnOf(dialect: string): string | undefined;
  listening(keys: ReadonlySet<string>): void;
  draining(): void;
  withdrawn(isWithdrawn: boolean): void;
  conditions(cluster: string): readonly Found<EventKind>[];
  overview(cluster: string): object;
  readonly metrics: readonly BroughtMetric[];
  readonly routes: ReadonlyMap<string, AnswerOfFeature>;
  end(): Promise<void>;
}

/** `failed`: it could not be loaded or opened; the next configuration tries again. `ended` is final. */
export type FeatureState = Life<unknown>["kind"];

type Life<Running> =
  | { readonly kind: "unused" | "failed" | "ended" }
  | { readonly kind: "opening"; readonly scope: Scope; readonly config: Config }
  | { readonly kind: "open"; readonly scope: Scope; readonly running: Running };

const refuse: ConnectionHandler = ({ socket }) => void socket.destroy();

/** Puts a feature into a process. What type it has inside is known here alone. */
export function featureIn<Running extends Opened>(feature: Feature<Running>, context: FeaturesContext): RunningFeature {
  return new FeatureInProcess(feature, context);
}

class FeatureInProcess<Running extends Opened> implements RunningFeature {
  readonly metrics: readonly BroughtMetric[];
  readonly routes: ReadonlyMap<string, AnswerOfFeature>;
  readonly #feature: Feature<Running>;
  readonly #context: FeaturesContext;
  readonly #host: Host;
  #life: Life<Running> = { kind: "unused" };
  #opening: Promise<void> = Promise.resolve();
  #ending: Promise<void> = Promise.resolve();
  #isWithdrawn = false;
  #errors = 0;

  constructor(feature: Feature<Running>, context: FeaturesContext) {
    const { metrics = [], routes = {} } = feature;
    this.#feature = feature;
    this.#context = context;
    this.metrics = metrics.map(({ read, ...metric }) => ({ ...metric, read: () => read(this.#running) }));
    this.routes = new Map(
      Object.entries(routes).map(([path, answer]) => [path, (call) => answer(this.#running, call)]),
    );
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

  configure(config: Config): void {
    const life = this.#life;
    if (life.kind === "ended") return;
    if (!this.#feature.isUsed(config)) this.#leave("unused");
    else if (life.kind === "open") this.#contain(undefined, (opened) => opened.configure(config));
    else if (life.kind === "opening") this.#life = { ...life, config };
    else this.#opening = this.#open(config);
  }

  clusterChanged(cluster: string): void {
    this.#contain(undefined, (opened) => opened.clusterChanged?.(cluster));
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
    this.#contain(undefined, (opened) => opened.draining?.());
  }

  withdrawn(isWithdrawn: boolean): void {
    this.#isWithdrawn = isWithdrawn;
    this.#contain(undefined, (opened) => opened.withdrawn?.(isWithdrawn));
  }

  conditions(cluster: string): readonly Found<EventKind>[] {
    return this.#contain<readonly Found<EventKind>[]>(
      [],
      (opened) => this.#feature.conditions?.(opened, cluster) ?? [],
    );
  }

  overview(cluster: string): object {
    return this.#contain<object>({}, (opened) => this.#feature.overview?.(opened, cluster) ?? {});
  }

  end(): Promise<void> {
    this.#leave("ended");
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
      running.configure(life.config);
      if (this.#isWithdrawn) running.withdrawn?.(true);
    } catch (error) {
      this.#count(error, {});
      this.#leave("failed");
    }
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
