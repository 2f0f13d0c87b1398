import type { Config } from "../../core/config/model/config.ts";

/** Whether a fleet may have given a cluster to another member. */
export function mayBeShared({ fleet }: Config): boolean {
  return fleet !== null;
}
