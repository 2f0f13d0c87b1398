import { basename } from "node:path";
import type { ConfigOverview } from "../../http/diagnostics/config-overview.ts";
import { formatLocalTime } from "../../command/output/local-time.ts";

/** Says that the configuration in force is not that of the file. @returns `null` if the last reload was applied */
export function configLine(config: ConfigOverview | null): string | null {
  if (config === null || config.refused === null) return null;
  const { file, loaded_at: loadedAt, refused } = config;
  const count = refused.problems === 1 ? "1 problem" : `${refused.problems} problems`;
  const name = file === null ? "the configuration" : basename(file);
  const loaded = formatLocalTime(Date.parse(loadedAt));
  return `rolecall runs the configuration of ${loaded}; ${name} has ${count}: ${refused.first}`;
}
