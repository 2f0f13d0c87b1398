import type { ClusterConfig, Config } from "../../core/config/model/config.ts";

/** Whether the configuration says that other instances probe a cluster. */
export function isFollowed(_: Config, { follow }: ClusterConfig): boolean {
  return follow.length > 0;
}
