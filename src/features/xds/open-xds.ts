import type { Config, ListenerConfig } from "../../core/config/model/config.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import type { Host, ListenerInForce, Opened } from "../../core/feature/feature.ts";
import { auditTargets, balancers, pushedEnvoyDelays } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { ConnectionHandler } from "../../core/http/listener/listener-set.ts";
import { type ReadAcknowledgements, xdsTarget } from "./audit/xds-target.ts";
import { countedEnvoys } from "./counted-envoys.ts";
import { XdsService, type XdsServiceContext, type XdsSettings } from "./xds-service.ts";

/** The services for Envoys in a process. */
export interface RunningXds extends Opened {
  /** What speaks with the Envoys of a listener under its present configuration. */
  readonly serve: (listener: ListenerInForce) => ConnectionHandler;
}

/** What the services need of their host. */
type XdsHost = Pick<
  Host,
  | "log"
  | "metrics"
  | "observe"
  | "cluster"
  | "policy"
  | "probedAt"
  | "reconnectTo"
  | "isWithdrawn"
  | "offers"
  | "contained"
>;

/** How much longer than `cut_within` an Envoy may take to follow a verdict, in ms. */
const pushMs = 1_000;

/** Serves the Envoys of each listener until the scope ends. Streams continue over reloads. */
export function openXds(host: XdsHost, scope: Scope): RunningXds {
  const served = new Map<string, { readonly service: XdsService; readonly scope: Scope }>();
  const context: XdsServiceContext = {
    log: host.log,
    metrics: host.metrics,
    cluster: host.cluster,
    policy: host.policy,
    probedAt: host.probedAt,
    now: host.observe,
    instance: () => host.offers.process,
    onElsewhere: host.reconnectTo,
    onError: (cluster, error) => host.contained(error, { cluster }),
    onStreamError: (error) => host.contained(error, {}),
  };
  const all = (): readonly XdsService[] => [...served.values()].map(({ service }) => service);
  for (const takeBack of bringOffers(host, all)) scope.hold("what is offered", takeBack);
  return {
    configure: () => {},
    clusterChanged: (cluster) => all().forEach((one) => one.clusterChanged(cluster)),
    serve({ listener, config, key }) {
      const settings = settingsOf(listener, config);
      const known = served.get(key);
      const ofListener = known?.scope ?? scope.child(`the Envoys of ${settings.name}`);
      const service = known?.service ?? new XdsService(settings, context, ofListener);
      if (known === undefined) served.set(key, { service, scope: ofListener });
      else service.configure(settings);
      return ({ socket }) => (host.isWithdrawn() ? void socket.destroy() : service.accept(socket));
    },
    listening(keys) {
      for (const [key, one] of served)
        if (!keys.has(key)) {
          served.delete(key);
          void one.scope.end();
        }
    },
    // All connections are closed, and none is taken until further notice: Envoys connect to another instance meanwhile.
    withdrawn() {
      for (const one of all()) one.disconnect("rolecall does not ask nodes in time");
    },
  };
}

/** Offers what runs to other features. @returns take it back */
function bringOffers({ offers }: Pick<XdsHost, "offers">, all: () => readonly XdsService[]): readonly (() => void)[] {
  const named = (name: string): XdsService | undefined => all().find((one) => one.name === name);
  const lacking: ReadAcknowledgements = (name) => named(name)?.lackingAcknowledgements() ?? [];
  return [
    auditTargets.bring(offers, ({ listen, pools }) =>
      listen.flatMap((listener) => xdsTarget(listener, pools, lacking) ?? []),
    ),
    pushedEnvoyDelays.bring(offers, ({ listen }) =>
      listen.flatMap(({ xds }) => (xds === null ? [] : [xds.cutMs + pushMs])),
    ),
    balancers.bring(offers, {
      statuses: (only) => all().flatMap((one) => one.statuses(only)),
      leadingToPrimary: (cluster) => all().flatMap((one) => (one.leadsToPrimary(cluster) ? [one.name] : [])),
      lead: (name, to, limitMs) => named(name)?.lead(to.cluster, to.node, limitMs),
      uncounted: (cluster) =>
        all().flatMap((one) => {
          const envoys = one.uncounted(cluster);
          return envoys === 0 ? [] : [{ listener: one.name, envoys }];
        }),
    }),
  ];
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
