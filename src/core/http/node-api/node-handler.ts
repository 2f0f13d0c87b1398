import type { Config, ListenerConfig } from "../../config/model/config.ts";
import { companionNames, lagTimeMsMin } from "../../config/values/check-text.ts";
import type { ListenerScope } from "./target-node.ts";
import type { ListenerHandler, RequestHandler } from "../message/handler.ts";
import { NodeApi, type NodeApiContext } from "./node-api.ts";

/** Returns the scope of a listener: the cluster and node of its configuration, and the names of all clusters. */
export function scopeOf(listener: ListenerConfig, { clusters, hostSuffixes }: Config): ListenerScope {
  return { ...listener, clusters: clusters.map(({ name }) => name), hostSuffixes };
}

/** Returns the handler of one listener with the node API. */
export function nodeHandler(listener: ListenerConfig, config: Config, context: NodeApiContext): ListenerHandler {
  const { ignoreParams, probe, fastPath } = config;
  const api = new NodeApi(
    {
      scope: scopeOf(listener, config),
      rules: {
        ignoreParams,
        ignoresUnknown: listener.node !== null,
        defaults: listener.defaults,
        lagTimeMsMin: lagTimeMsMin(probe.intervalMs),
      },
      companions: companionNames(config.clusters),
      passes: listener.access.management,
      operatorPages: listener.operatorPages,
    },
    context,
  );
  const handler: RequestHandler = (call) => api.handle(call);
  return Object.assign(handler, fastPath === false ? {} : { cached: api.cached(listener.access.limits.idleTimeoutMs) });
}
