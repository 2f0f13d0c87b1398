import { hostname } from "node:os";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { Config } from "../config/model/config.ts";
import { version } from "../config/version.ts";
import type { EventLog } from "../events/event-log.ts";
import type { FleetSummary, FleetSurroundings } from "../fleet/ownership/fleet-document.ts";
import type { FleetMembership } from "../fleet/ownership/fleet-membership.ts";
import type { LimitedLines } from "../log/limited-lines.ts";
import type { Logger } from "../log/logger.ts";
import type { FollowedUsage } from "../metrics/sources.ts";
import type { Probers } from "../probe/probers.ts";
import type { Clock } from "../state/clock.ts";
import type { Drains } from "../state/drains.ts";
import type { Store } from "../state/store.ts";
import type { AddressProofs } from "./address-proofs.ts";
import { FollowedClusters } from "./followed-clusters.ts";
import { followLines } from "./logs/follow-log.ts";
import type { Machine } from "./machine/machine.ts";
import type { JoinedFleet } from "./shared-clusters.ts";
import { OutcomeFeeds } from "./outcome-feeds.ts";

/** What feeding and following have in common. */
interface FleetParts {
  readonly log: Logger;
  readonly machine: Machine;
  readonly store: Store;
  readonly clock: Clock;
  readonly eventLog: EventLog;
  readonly config: () => Config;
  /** This instance's part in its fleet; `null`: it is in none. */
  readonly joined: () => JoinedFleet | null;
  readonly drains: Drains;
}

/** What following acts on. */
interface FollowedParts {
  readonly record: (outcome: ProbeOutcome) => void;
  /** Records of which clusters another instance has sent evidence. */
  readonly proofs: Pick<AddressProofs, "hear">;
  readonly probers: Pick<Probers, "begin" | "end" | "ask" | "isActive">;
  readonly errorLines: LimitedLines;
  /** The first evidence of a cluster has come from an upstream. */
  readonly onFirst: (cluster: string) => void;
}

/** What shares outcomes with other instances. */
export interface Fleet {
  /** Takes those of clusters that are followed. */
  readonly followed: FollowedClusters;
  /** Sends those of clusters that are probed here. */
  readonly feeds: OutcomeFeeds;
  readonly usage: FollowedUsage;
  /** This instance as a member of a fleet; `null`: it is in none. */
  readonly membership: FleetMembership | null;
  /** The fleet as JSON in pieces; `null` without one. @param only a cluster: others are left out; `null`: all */
  pieces(only: string | null): Iterable<string> | null;
  /** What is known of the fleet, the upstreams and the followers, for people. */
  describe(): FleetOverview;
}

interface FleetOverview {
  /** Without the clusters. */
  readonly fleet: FleetSummary | null;
  readonly upstreams: readonly object[];
  readonly followers: readonly object[];
}

/** Builds what shares outcomes with other instances. */
export function buildFleet(parts: FleetParts, acts: FollowedParts): Fleet {
  const [followed, feeds] = [buildFollowed(parts, acts), buildFeeds(parts)];
  const { joined, clock } = parts;
  return {
    followed,
    feeds,
    get membership() {
      return joined()?.membership ?? null;
    },
    pieces: (only) => {
      const fleet = joined();
      return fleet === null ? null : fleet.membership.pieces(surroundingsOf(fleet, followed, clock.now()), only);
    },
    get usage() {
      return {
        upstreams: followed.upstreams.map(({ url, state, receivedBytes }) => ({
          url,
          isUp: state === "live",
          receivedBytes,
        })),
        clusters: followed.phases.map(([cluster, phase]) => [cluster, phase === "following"] as const),
        followers: feeds.followers.length,
        unknownClusters: feeds.unknownClusters,
        fleet: fleetUsage(joined(), followed),
      };
    },
    describe: () => ({
      fleet: summaryOf(joined(), followed, clock.now()),
      upstreams: followed.upstreams.map(({ silentMs, receivedBytes, ...upstream }) => ({
        ...upstream,
        silent_ms: silentMs,
        received_bytes: receivedBytes,
      })),
      followers: feeds.followers,
    }),
  };
}

function fleetUsage(fleet: JoinedFleet | null, followed: FollowedClusters): FollowedUsage["fleet"] {
  if (fleet === null) return null;
  const disagreements = [...followed.disagreements.values()].reduce((sum, nodes) => sum + nodes.length, 0);
  const { phase, view, owned, changes, unshared } = fleet.membership;
  const isJoined = phase.kind === "joined" && phase.problem === null;
  return { isJoined, members: view.members.size, owned, changes, unshared, disagreements };
}

function summaryOf(fleet: JoinedFleet | null, followed: FollowedClusters, nowMs: number): FleetSummary | null {
  return fleet === null ? null : fleet.membership.summary(surroundingsOf(fleet, followed, nowMs), null);
}

/** What this instance has of the other members: their streams, and what it probes because they are silent. */
function surroundingsOf(
  { config: { name } }: JoinedFleet,
  followed: FollowedClusters,
  nowMs: number,
): FleetSurroundings {
  const probed = new Set(followed.phases.flatMap(([cluster, phase]) => (phase === "probing" ? [cluster] : [])));
  const streams = followed.upstreams.map(({ url, state, problem, silentMs, refused: [refusal] }) => {
    const stream = { live: state === "live", problem: problem ?? refusal?.message ?? null, silent_ms: silentMs };
    return [url, stream] as const;
  });
  const { disagreements } = followed;
  return {
    name,
    streams: new Map(streams),
    isProbed: (cluster) => probed.has(cluster),
    disagreementsOf: (cluster) => disagreements.get(cluster) ?? [],
    nowMs,
  };
}

function buildFollowed(
  { log, machine, store, clock, eventLog }: FleetParts,
  { record, proofs, probers, onFirst, errorLines }: FollowedParts,
): FollowedClusters {
  const { setTimer, random, openFeed = null } = machine;
  return new FollowedClusters({
    open: openFeed,
    self: { version: version(), name: hostname() },
    state: (name) => store.clusterNamed(name),
    policy: (name) => store.policyOf(name),
    record: (outcome) => {
      proofs.hear(outcome.cluster);
      record(outcome);
    },
    adopt: (state) => {
      proofs.hear(state.name);
      store.adopt(state);
    },
    onDrain: (change) => eventLog.recordDrain(change),
    now: () => clock.now(),
    reading: () => clock.observeReading(),
    wall: () => clock.wall(),
    setTimer,
    random,
    probing: {
      begin: (cluster) => probers.begin(cluster),
      end: (cluster) => probers.end(cluster),
      isActive: (cluster) => probers.isActive(cluster),
      ask: (cluster, node) => probers.ask(cluster, node),
    },
    onFirst,
    onState: followLines(log),
    onError: (err, about) =>
      errorLines.write({ level: "error", text: "a cluster cannot be followed; the rest goes on" }, () => ({
        err,
        ...about,
      })),
    onLoadError: (err) => log.error({ err }, "following cannot be loaded; clusters are probed here"),
  });
}

function buildFeeds({ machine, store, clock, config, drains }: FleetParts): OutcomeFeeds {
  return new OutcomeFeeds({
    config,
    instance: store.current.instance,
    cluster: (name) => store.clusterNamed(name),
    reading: () => clock.observeReading(),
    setTimer: machine.setTimer,
    newId: machine.newInstanceId,
    version: version(),
    onOutcome: (listener) => store.onOutcome((outcome) => listener(outcome)),
    drains,
  });
}
