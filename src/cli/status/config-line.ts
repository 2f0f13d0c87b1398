import { basename } from "node:path";
import type { ConfigOverview } from "../../core/http/diagnostics/config-overview.ts";
import { formatLocalTime } from "../../core/command/output/local-time.ts";

/**
 * Says that the configuration in force is not that of the file, or that a part which it uses does not run.
 * @returns `null` if the last reload was applied, and all parts run
 */
export function configLine(config: ConfigOverview | null): string | null {
  const lines = [refusedLine(config), failedLine(config), stateLine(config)].filter((line) => line !== null);
  return lines.length === 0 ? null : lines.join(". ");
}

/** A state file that two processes write loses what one of them wrote. */
function stateLine(config: ConfigOverview | null): string | null {
  const { file = null, problem = null } = config?.state ?? {};
  return file === null || problem === null ? null : `${file}: ${problem}`;
}

function refusedLine(config: ConfigOverview | null): string | null {
  if (config === null || config.refused === null) return null;
  const { file, loaded_at: loadedAt, refused } = config;
  const count = refused.problems === 1 ? "1 problem" : `${refused.problems} problems`;
  const name = file === null ? "the configuration" : basename(file);
  const loaded = formatLocalTime(Date.parse(loadedAt));
  return `rolecall runs the configuration of ${loaded}; ${name} has ${count}: ${refused.first}`;
}

function failedLine(config: ConfigOverview | null): string | null {
  const failed = config?.failed_features ?? [];
  return failed.length === 0
    ? null
    : `rolecall runs without ${failed.join(" and ")}, which could not be opened: its log says why, a reload tries again`;
}
