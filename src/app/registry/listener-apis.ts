import type { DialectName } from "../../core/config/values/listener-dialect.ts";
import type { ListenerApi } from "../../core/feature/listener-api.ts";
import { exporterApi } from "../../features/exporter/exporter-api.ts";

/** What features answer on listeners of their dialects, over HTTP, in the main process and in workers. */
const listenerApis: readonly ListenerApi[] = [exporterApi];

/** The API of a feature that listeners of a dialect have; `undefined`: the core answers on them. */
export function listenerApiOf(dialect: DialectName): ListenerApi | undefined {
  return listenerApis.find((api) => api.dialect === dialect);
}
