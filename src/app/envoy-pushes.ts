import type { Socket } from "node:net";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import { formatHostPort } from "../config/values/address.ts";
import type { XdsHandler } from "../http/listener/listener-set.ts";
import type { BalancerStatus } from "../push/balancer.ts";
import { countedEnvoys } from "../push/xds/counted-envoys.ts";
import type { XdsService, XdsServiceContext, XdsSettings } from "../push/xds/xds-service.ts";

/** What the pushes to Envoys depend on. */
export interface EnvoyPushesContext extends Omit<XdsServiceContext, "lookUp"> {
  /** Called once if what such a listener needs cannot be loaded. */
  readonly onLoadError: (error: unknown) => void;
}

/** One listener with the dialect xds, and the configuration that it belongs to. */
interface XdsListener {
  readonly listener: ListenerConfig;
  readonly config: Pick<Config, "pools" | "probe">;
  /** Identifies the listener over reloads. */
  readonly key: string;
}

/** The service of one listener: it is loaded once such a listener is configured. */
interface ServedListener {
  settings: XdsSettings;
  service: XdsService | null;
  readonly loaded: Promise<XdsService | null>;
}

/** The services of all listeners with the dialect xds. Streams continue over reloads. */
export class EnvoyPushes {
  readonly #context: EnvoyPushesContext;
  readonly #served = new Map<string, ServedListener>();
  #isWithdrawn = false;

  constructor(context: EnvoyPushesContext) {
    this.#context = context;
  }

  /** What speaks with the Envoys of a listener under its present configuration. */
  handlerFor({ listener, config, key }: XdsListener): XdsHandler {
    const settings = settingsOf(listener, config);
    const served = this.#served.get(key) ?? this.#load(key, settings);
    served.settings = settings;
    served.service?.configure(settings);
    return ({ socket }) => (this.#isWithdrawn ? socket.destroy() : void accept(served, socket));
  }

  /** Ends the services of listeners that are no longer open. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const [key, served] of this.#served)
      if (!keys.has(key)) {
        this.#served.delete(key);
        void served.loaded.then((service) => service?.stop());
      }
  }

  /** Closes all connections, and takes none until further notice: Envoys connect to another instance meanwhile. */
  withdraw(isWithdrawn: boolean): void {
    this.#isWithdrawn = isWithdrawn;
    if (isWithdrawn) for (const service of this.#services()) service.disconnect("rolecall does not ask nodes in time");
  }

  /** Judges the pools of a cluster whose state may have changed. */
  clusterChanged(cluster: string): void {
    for (const service of this.#services()) service.clusterChanged(cluster);
  }

  /** What is known of each Envoy now. @param only the pools of this cluster; `null`: all */
  statuses(only: string | null): readonly BalancerStatus[] {
    return this.#services().flatMap((service) => service.statuses(only));
  }

  /** The names of the listeners whose Envoys lead clients to the primary of a cluster. */
  leadingToPrimary(cluster: string): readonly string[] {
    return this.#services()
      .filter((service) => service.leadsToPrimary(cluster))
      .map(({ name }) => name);
  }

  /** How many Envoys of each listener lead to the primary of a cluster and do not count, as {@link countedEnvoys}. */
  uncounted(cluster: string): readonly { readonly listener: string; readonly envoys: number }[] {
    return this.#services().flatMap((service) => {
      const envoys = service.uncounted(cluster);
      return envoys === 0 ? [] : [{ listener: service.name, envoys }];
    });
  }

  /**
   * Waits until the Envoys of a listener lead the clients of a cluster's primary to a node.
   * @returns `undefined` if there is no listener of this name; else as {@link XdsService.lead}
   */
  lead(
    name: string,
    to: { readonly cluster: string; readonly node: string },
    limitMs: number,
  ): Promise<string | null> | undefined {
    return this.#services()
      .find((service) => service.name === name)
      ?.lead(to.cluster, to.node, limitMs);
  }

  /** What the Envoys of a listener have not taken, as {@link XdsService.lackingAcknowledgements}. */
  lackingAcknowledgements(name: string): ReturnType<XdsService["lackingAcknowledgements"]> {
    return (
      this.#services()
        .find((service) => service.name === name)
        ?.lackingAcknowledgements() ?? []
    );
  }

  /** Ends all services. Envoys keep their last assignment, and connect elsewhere. */
  stop(): void {
    this.keepOnly(new Set());
  }

  #services(): readonly XdsService[] {
    return [...this.#served.values()].flatMap(({ service }) => service ?? []);
  }

  #load(key: string, settings: XdsSettings): ServedListener {
    const module = import("../push/xds/xds-service.ts");
    const served: ServedListener = {
      settings,
      service: null,
      loaded: module.then(
        ({ XdsService: Service }) => {
          served.service = new Service(served.settings, this.#context);
          return served.service;
        },
        (error: unknown) => {
          this.#context.onLoadError(error);
          return null;
        },
      ),
    };
    this.#served.set(key, served);
    return served;
  }
}

async function accept({ loaded }: ServedListener, socket: Socket): Promise<void> {
  const service = await loaded;
  if (service === null) socket.destroy();
  else service.accept(socket);
}

function settingsOf(listener: ListenerConfig, { pools, probe }: Pick<Config, "pools" | "probe">): XdsSettings {
  const { address, port, cluster, xds } = listener;
  if (xds === null) throw new Error("Cannot serve Envoys: the dialect of the listener must be xds");
  const served = pools.filter((pool) => cluster === null || pool.cluster === cluster);
  return {
    name: `xds ${formatHostPort({ host: address, port })}`,
    pools: served,
    roundMs: probe.intervalMs + probe.timeoutMs,
    counted: countedEnvoys(listener),
    ...xds,
  };
}
