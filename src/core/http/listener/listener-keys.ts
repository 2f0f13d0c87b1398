import type { ListenerConfig } from "../../config/model/config.ts";
import { isHttpDialect } from "./http-dialects.ts";

/** The keys of listeners, in their order. */
export function keysOf(configs: readonly ListenerConfig[]): readonly string[] {
  const keys = new Map<string, ListenerConfig>();
  for (const config of configs) keys.set(listenerKey(config, keys), config);
  return [...keys.keys()];
}

/**
 * Identifies a listener over reloads by its address, port and protocol: one that starts or stops to use TLS, or
 * that changes from or to a dialect without HTTP, is another listener. Port 0 is another port each time, so listeners on it differ by dialect and order.
 * @param taken the keys of the listeners before it
 */
export function listenerKey(
  { address, port, dialect, access }: ListenerConfig,
  taken: ReadonlyMap<string, unknown>,
): string {
  const protocol = isHttpDialect(dialect) ? "" : `${dialect} `;
  const place = `${address} ${port} ${protocol}${access.tls === null ? "plain" : "tls"} ${access.tls?.client ?? ""}`;
  if (port !== 0) return place;
  let nth = 0;
  while (taken.has(`${place} ${dialect} ${nth}`)) nth += 1;
  return `${place} ${dialect} ${nth}`;
}
