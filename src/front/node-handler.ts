import type { Config, ListenerConfig } from "../config/config.ts";
import type { Bound } from "./address.ts";
import type { Handler } from "./listener.ts";
import { NodeDialect, type DialectSources } from "./node-dialect.ts";
import type { Request } from "./request.ts";

/** For whom a listener speaks, as its configuration says. */
export function boundOf(listener: ListenerConfig, { clusters, hostSuffixes }: Config): Bound {
  return { ...listener, clusters: clusters.map(({ name }) => name), hostSuffixes };
}

/** The handler of one listener of the node dialect. */
export function nodeHandler(listener: ListenerConfig, config: Config, sources: DialectSources): Handler {
  const { ignoreParams, probe, fastLane } = config;
  const dialect = new NodeDialect(
    {
      bound: boundOf(listener, config),
      rules: { ignoreParams, ignoresUnknown: listener.node !== null, defaults: listener.defaults, lagTimeMsLeast: 2 * probe.intervalMs },
      passes: listener.door.management,
      operatorPages: listener.operatorPages,
    },
    sources,
  );
  return Object.assign((request: Request) => dialect.handle(request), fastLane ? { quick: dialect.quick() } : {});
}
