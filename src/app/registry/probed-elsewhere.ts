import type { ClusterConfig, Config } from "../../core/config/model/config.ts";
import { mayBeShared } from "../../features/fleet/may-be-shared.ts";
import { isFollowed } from "../../features/follow/is-followed.ts";

/** Whether other instances may probe a cluster, as far as the configuration says: workers open no features. */
export const mayBeProbedElsewhere: readonly ((config: Config, cluster: ClusterConfig) => boolean)[] = [
  mayBeShared,
  isFollowed,
];
