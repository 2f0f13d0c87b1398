import type { ListenerConfig } from "../../config/model/config.ts";

/** Whether listeners of a dialect speak HTTP; features speak the others. */
export function isHttpDialect(dialect: ListenerConfig["dialect"]): boolean {
  return dialect === "node" || dialect === "admin" || dialect === "exporter";
}
