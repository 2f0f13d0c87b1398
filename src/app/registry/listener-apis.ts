import type { ListenerApi } from "../../core/feature/listener-api.ts";
import { exporterApi } from "../../features/exporter/exporter-api.ts";

/** What features answer on listeners of their dialects, over HTTP, in the main process and in workers. */
export const listenerApis: readonly ListenerApi[] = [exporterApi];
