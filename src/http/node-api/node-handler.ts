import type { Config, ListenerConfig } from "../../config/model/config.ts";
import type { ListenerScope } from "./target-node.ts";
import type { ListenerHandler } from "../message/handler.ts";
import { NodeApi, type NodeApiContext } from "./node-api.ts";
import type { Request } from "../message/request.ts";

/** For whom a listener speaks, as its configuration says. */
export function scopeOf(listener: ListenerConfig, { clusters, hostSuffixes }: Config): ListenerScope {
  return { ...listener, clusters: clusters.map(({ name }) => name), hostSuffixes };
}

/** The handler of one listener of the node dialect. */
export function nodeHandler(listener: ListenerConfig, config: Config, sources: NodeApiContext): ListenerHandler {
  const { ignoreParams, probe, fastPath } = config;
  const dialect = new NodeApi(
    {
      scope: scopeOf(listener, config),
      rules: {
        ignoreParams,
        ignoresUnknown: listener.node !== null,
        defaults: listener.defaults,
        lagTimeMsLeast: 2 * probe.intervalMs,
      },
      passes: listener.access.management,
      operatorPages: listener.operatorPages,
    },
    sources,
  );
  return Object.assign(
    (request: Request) => dialect.handle(request),
    fastPath === false ? {} : { cached: dialect.cached(listener.access.limits.idleTimeoutMs) },
  );
}
