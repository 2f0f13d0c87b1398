import type { LagLimit } from "../../core/cluster/lag-limit.ts";
import { version } from "../../core/config/version.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import { pasts } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { PageFiles } from "../../core/http/pages/page-files.ts";
import { readPageFile } from "../../core/program/program-files.ts";
import type { LagStores } from "./lag-api.ts";
import { LiveStreams } from "./live-streams.ts";
import { RecentLag } from "./recent-lag.ts";

/** The live page of this process: its files, its streams, and what it reads beside them. */
export interface RunningPage extends Opened {
  readonly files: PageFiles;
  readonly streams: LiveStreams;
  /** Where the lag of clusters is found. */
  readonly lag: () => LagStores;
  /** The limits that the lag of a cluster's nodes is compared with. */
  readonly limits: (cluster: string) => Promise<readonly LagLimit[]>;
  /** The names of all clusters. */
  readonly clusters: () => readonly string[];
}

/** What the live page needs of its host. */
type PageHost = Pick<
  Host,
  "cluster" | "policy" | "observe" | "wall" | "snapshot" | "events" | "asked" | "brought" | "loadedConfig" | "offers"
>;

/** Serves the live page until the scope ends: streams of what changes, and the lag of the last minutes. */
export function openPage(host: PageHost, scope: Pick<Scope, "hold" | "setTimer">): RunningPage {
  const { cluster, policy, wall, snapshot, events, asked } = host;
  const lag = new RecentLag({ policy, now: host.observe, wall });
  const streams = new LiveStreams({
    snapshot,
    policy,
    now: host.observe,
    wall,
    events: events.recent,
    openEvents: events.openCount,
    brought: host.brought,
    asked: asked.checks,
    askedNodes: asked.nodes,
    version: version(),
    config: host.loadedConfig,
    setTimer: scope.setTimer,
  });
  /** Cluster -> its revision when it was last looked at. */
  const revisions = new Map<string, number>();
  scope.hold("the streams", () => streams.end());
  scope.hold(
    "the subscription to events",
    events.subscribe((event) => streams.eventPublished(event.cluster)),
  );
  return {
    files: new PageFiles(readPageFile),
    streams,
    lag: () => ({ recent: (name) => lag.of(name), past: pasts.in(host.offers)[0] ?? null }),
    limits: asked.limits,
    clusters: () => snapshot().clusters.map(({ name }) => name),
    /** Forgets what is no longer monitored, and lets all clients connect again. */
    configure({ clusters }) {
      const names = new Set(clusters.map(({ name }) => name));
      lag.retain(names);
      for (const name of revisions.keys()) if (!names.has(name)) revisions.delete(name);
      streams.reconnect();
    },
    clusterChanged(name) {
      const state = cluster(name);
      if (state === undefined) return;
      streams.clusterChanged(name, revisions.get(name) === state.revision ? "age" : "change");
      revisions.set(name, state.revision);
      lag.sample(state);
    },
    draining: () => streams.end(),
  };
}
