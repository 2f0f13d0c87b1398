import type { Config } from "../../core/config/model/config.ts";

/** A file beside the state file; `null` without one. `pauses`: what is paused. `claims`: what is promised to others. */
export function fileBeside({ stateFile }: Pick<Config, "stateFile">, suffix: "pauses" | "claims"): string | null {
  return stateFile === null ? null : `${stateFile}.${suffix}`;
}
