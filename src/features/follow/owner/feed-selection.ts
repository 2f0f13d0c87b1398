import { indexedByName } from "../../../core/cluster/lookup.ts";
import type { ClusterConfig, Config } from "../../../core/config/model/config.ts";
import { type FeedRefusal, refusalsMax, type WantedCluster } from "../feed/feed-messages.ts";
import { firstDifference, outcomeShape } from "../../../core/config/outcome-shape.ts";
import type { FeedAbout } from "./feed-stream.ts";

type FedConfig = Pick<Config, "clusters" | "probe">;

/** The clusters that a follower is fed, and why it is not fed others. */
export interface FeedSelection {
  readonly clusters: ReadonlySet<string>;
  readonly refused: readonly FeedRefusal[];
}

/** What a follower may have, and what it asks for. */
type Asked = Pick<FeedAbout, "wanted" | "mayFollow">;

/**
 * What is kept of the clusters that a follower asks for: the names of those of the configuration, and in which key the
 * two configurations differ. Streams end with a reload, so others need not be known.
 * @returns them, the first of the names that are not configured here, and how many these are
 */
export function wantedIn(
  { clusters, probe }: FedConfig,
  asked: readonly WantedCluster[],
): {
  readonly wanted: FeedAbout["wanted"];
  readonly unknown: readonly string[];
  readonly unknownCount: number;
} {
  const configured = indexedByName(clusters);
  const wanted = new Map<string, string | null>();
  const unknown: string[] = [];
  let unknownCount = 0;
  for (const { name, shape } of asked) {
    const config = configured.get(name);
    if (config !== undefined) wanted.set(config.name, firstDifference(outcomeShape(config, probe), shape));
    else {
      unknownCount += 1;
      if (unknown.length < refusalsMax) unknown.push(name);
    }
  }
  return { wanted, unknown, unknownCount };
}

/**
 * The clusters that a follower is fed.
 * @param unknown names that were asked for and are not kept
 */
export function feedSelectionOf(
  config: FedConfig,
  { wanted, mayFollow }: Asked,
  unknown: readonly string[],
): FeedSelection {
  const configured = indexedByName(config.clusters);
  const clusters = new Set(wanted.keys());
  const refused = unknown.map((name) => feedRefusalOf(name, mayFollow(name) ? "unknown_cluster" : "not_allowed"));
  for (const [name, difference] of wanted) {
    const refusal =
      refusalOfRights(name, configured.get(name), mayFollow) ??
      (difference === null ? null : feedRefusalOf(name, "differs", difference));
    if (refusal === null) continue;
    if (refused.length < refusalsMax) refused.push(refusal);
    clusters.delete(name);
  }
  return { clusters, refused };
}

/** Why a cluster is fed to nobody with these rights; `null` if it may be. */
export function refusalFor(
  { clusters }: Pick<FedConfig, "clusters">,
  cluster: string,
  mayFollow: Asked["mayFollow"],
): FeedRefusal | null {
  return refusalOfRights(
    cluster,
    clusters.find((other) => other.name === cluster),
    mayFollow,
  );
}

function refusalOfRights(
  cluster: string,
  config: ClusterConfig | undefined,
  mayFollow: Asked["mayFollow"],
): FeedRefusal | null {
  if (!mayFollow(cluster)) return feedRefusalOf(cluster, "not_allowed");
  if (config === undefined) return feedRefusalOf(cluster, "unknown_cluster");
  return config.follow.length > 0 ? feedRefusalOf(cluster, "not_probed") : null;
}

/** @param key in which the two configurations differ */
export function feedRefusalOf(cluster: string, reason: FeedRefusal["reason"], key = ""): FeedRefusal {
  const why: Readonly<Record<FeedRefusal["reason"], string>> = {
    not_allowed: "the credential must be one that may follow it",
    unknown_cluster: "it must be configured here",
    not_probed: "it must be probed here, and is followed",
    differs: `${key} must be the same in both configurations`,
    protocol: "the protocol must be the same",
  };
  return { cluster, reason, message: `Cannot feed cluster ${cluster}: ${why[reason]}` };
}
