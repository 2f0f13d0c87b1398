/**
 * Explores refused claims (rule 2) of three nodes: pg1 leads, pg2 claims the lock beside it or after it, and pg3 is the
 * third node. Every sequence of events is judged by a model of its own: pg2 gets no yes while pg3 speaks against it,
 * and none is withheld from it in a real failover. With a watched DCS, no mark outlasts a read that names pg2.
 */
import { createHash } from "node:crypto";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { unreadDcs } from "../../src/core/cluster/dcs.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { failedOutcome, leaderViewOutcome, viewFailureOutcome } from "../../test/core/health/arbitraries.ts";
import { canonical } from "./canonical.ts";
import { exploredPolicy } from "./policy.ts";
import type { Subject } from "./promises.ts";
import {
  claimant,
  dcsNames,
  type Event,
  leader,
  type Model,
  nodes,
  refusedEvents,
  status,
  third,
  watchedEvents,
} from "./refused-events.ts";
import { unprobedCluster } from "./unprobed-cluster.ts";

const primary = plainCheck("primary");
/** The settings of the explored cluster, in ms: few events reach every bound. */
const config = {
  ttlMs: 5_000,
  loopWaitMs: 1_000,
  retryTimeoutMs: 1_000,
  lagMaxOnFailover: 1_048_576,
  isStandbyCluster: false,
  isSynchronous: false,
  isSynchronousStrict: false,
};
const clusterIntervalMs = (exploredPolicy.viewMaxAgeMs - exploredPolicy.timeoutMs) / 3;

interface State {
  readonly cluster: ClusterState;
  readonly nowMs: number;
  readonly model: Model;
  readonly events: readonly string[];
}

/** What an exploration found. */
export interface RefusedExploration {
  /** New states of each depth. */
  readonly states: readonly number[];
  /** How many states had a marked claim that pg3 speaks against. */
  readonly marked: number;
  readonly violation: { readonly problem: string; readonly events: readonly string[] } | null;
}

/** Explores breadth first, from a cluster that pg1 leads. @param isWatched whether its DCS is watched */
export function exploreRefused(subject: Subject, depth: number, isWatched = false): RefusedExploration {
  const events = isWatched ? watchedEvents : refusedEvents;
  let frontier: readonly State[] = [start(subject, isWatched)];
  const seen = new Set(frontier.map(keyOf));
  const states: number[] = [];
  let marked = 0;
  for (let level = 1; level <= depth; level += 1) {
    const next: State[] = [];
    for (const state of frontier)
      for (const event of events) {
        const after = advance(subject, state, event);
        const key = keyOf(after);
        if (seen.has(key)) continue;
        seen.add(key);
        if (isAgainst(after)) marked += 1;
        const problem = wrongYes(subject, after) ?? needlessNo(subject, after);
        if (problem !== null) return { states, marked, violation: { problem, events: after.events } };
        next.push(after);
      }
    states.push(next.length);
    frontier = next;
  }
  return { states, marked, violation: null };
}

function start(subject: Subject, isWatched: boolean): State {
  const nowMs = 100_000;
  const sentMs = nowMs - 10;
  const outcomes = [status(leader, true), status(claimant, false), status(third, false)].map((of) => of(sentMs));
  const views = nodes.map((node) => leaderViewOutcome(node, leader, sentMs));
  const reads = isWatched ? [dcsNames(leader)(sentMs)] : [];
  const cluster = [...outcomes, ...views, ...reads].reduce<ClusterState>(
    (state, outcome) => subject.observe(state, outcome, { policy: subject.policy, nowMs }),
    { ...unprobedCluster(nodes), config, dcs: isWatched ? unreadDcs : null },
  );
  const view = { names: leader, sentMs } as const;
  const dcs = isWatched ? leader : null;
  const model = { claimedMs: null, view, isMarked: false, deniedMs: null, heardMs: sentMs, dcs } as const;
  return { cluster, nowMs, model, events: [] };
}

function advance({ observe, policy }: Subject, state: State, { name, advanceMs, outcome, after }: Event): State {
  // Two requests never go out at one instant.
  const nowMs = state.nowMs + advanceMs + 20;
  const sentMs = nowMs - 10;
  const cluster = outcome === null ? state.cluster : observe(state.cluster, outcome(sentMs), { policy, nowMs });
  const { decision } = cluster.leadership;
  const stands = decision.kind === "held" && decision.holder === leader;
  return { cluster, nowMs, model: after(state.model, { sentMs, stands }), events: [...state.events, name] };
}

function keyOf({ cluster, nowMs, model }: State): string {
  const ages = JSON.stringify(model, (_, value: unknown) => (typeof value === "number" ? nowMs - value : value));
  return createHash("sha1")
    .update(`${canonical(cluster, nowMs)} ${ages}`)
    .digest("base64");
}

/** Whether pg3's newest view surely counts against the marked claim of pg2. */
function isAgainst({ nowMs, model }: State): boolean {
  const { view, isMarked, deniedMs, heardMs } = model;
  if (!isMarked || view === null || nowMs - view.sentMs >= exploredPolicy.viewMaxAgeMs) return false;
  if (view.names === null) return true;
  if (deniedMs !== null) return nowMs < Math.max(deniedMs, view.sentMs) + clusterIntervalMs && deniedMs > view.sentMs;
  return nowMs < heardMs + config.ttlMs + config.loopWaitMs;
}

function wrongYes({ judge, policy }: Subject, state: State): string | null {
  const { cluster, nowMs } = state;
  const observation = cluster.nodes.find(({ node }) => node.name === claimant);
  if (observation === undefined || !isAgainst(state)) return null;
  const isFit = judge(viewAt(cluster, policy, nowMs), observation, primary).fit;
  return isFit ? `${claimant} gets a yes, although it was refused and ${third} speaks against it` : null;
}

/** The ways in which pg1 can be gone and pg2 lead, and after how many intervals pg2 must have its yes. */
const failovers: readonly (readonly [
  name: string,
  rounds: number,
  events: readonly ((sentMs: number) => ProbeOutcome)[],
])[] = [
  [
    `${third} names it`,
    3,
    [
      status(third, false),
      (sentMs) => leaderViewOutcome(claimant, claimant, sentMs),
      (sentMs) => leaderViewOutcome(third, claimant, sentMs),
    ],
  ],
  // No view counts after three cluster intervals and a timeout.
  [
    "no node gives a view",
    Math.ceil(exploredPolicy.viewMaxAgeMs / exploredPolicy.intervalMs) + 1,
    [
      status(third, false),
      (sentMs) => viewFailureOutcome(claimant, sentMs),
      (sentMs) => viewFailureOutcome(third, sentMs),
    ],
  ],
  // Neither is pg1 heard nor does pg3 receive: the lock that its view shows cannot have lasted.
  [
    `${third} goes on naming ${leader}`,
    Math.ceil((config.ttlMs + config.loopWaitMs) / exploredPolicy.intervalMs) + 2,
    [
      status(third, false),
      (sentMs) => leaderViewOutcome(claimant, claimant, sentMs),
      (sentMs) => leaderViewOutcome(third, leader, sentMs),
    ],
  ],
];

/** With a watch that is trusted, the leader key has to name pg2, and counts more than an old view of pg3 then. */
const watchedFailover: (typeof failovers)[number] = [
  `the DCS names it, ${third} goes on naming ${leader}`,
  2,
  [
    status(third, false),
    dcsNames(claimant),
    (sentMs) => leaderViewOutcome(claimant, claimant, sentMs),
    (sentMs) => leaderViewOutcome(third, leader, sentMs),
  ],
];

function needlessNo(subject: Subject, state: State): string | null {
  const { judge, observe, policy } = subject;
  const isTrusted = state.cluster.dcs !== null && state.cluster.dcs.distrust === null;
  for (const [name, rounds, events] of isTrusted ? [watchedFailover] : failovers) {
    let { cluster, nowMs } = state;
    let isFit = false;
    for (let round = 1; round <= rounds && !isFit; round += 1) {
      nowMs += policy.intervalMs - 100;
      for (const outcome of [(sentMs: number) => failedOutcome(leader, sentMs), status(claimant, true), ...events]) {
        nowMs += 20;
        cluster = observe(cluster, outcome(nowMs - 10), { policy, nowMs });
      }
      const observation = cluster.nodes.find(({ node }) => node.name === claimant);
      isFit = observation !== undefined && judge(viewAt(cluster, policy, nowMs), observation, primary).fit;
    }
    if (!isFit) return `${claimant} leads and ${name}: it has no yes after ${rounds} intervals`;
  }
  return null;
}
