import { isDiverged } from "../../cluster/attachment.ts";
import type { Drain } from "../../cluster/drain.ts";
import { lastLeaderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import { tlsAction } from "../../cluster/values/tls-trouble.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { isNoFailover } from "../../cluster/values/tags.ts";
import { plainCheck } from "../check.ts";
import { type ClaimFacts, claimsOf } from "../evidence/leadership/claim-facts.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { activeDrainOf } from "../evidence/node/active-drain.ts";
import { isHeard, lockTtlMs, loopWaitMs } from "../evidence/node/freshness.ts";
import { presentLag } from "../evidence/position/present-lag.ts";
import { acceptedPrimary } from "../rules/accepted-primary.ts";
import { judge } from "../rules/judge.ts";
import { listText, lostClaimText, spanText } from "../wording.ts";
import { drainAdvice } from "./drains.ts";
import type { Advice, Condition, SituationInputs, Told } from "./condition.ts";
import { dcsTrouble } from "./dcs.ts";
import { lossEnds } from "./event-kinds.ts";

/**
 * No node is fit as the primary, or as the leader of a standby cluster. Its events have phases of their own
 * (events/detection/primary-events.ts).
 */
export const withoutPrimary = {
  id: "primary_lost",
  title: "no primary",
  harm: "leaderless",
  events: {
    begins: "primary_lost",
    ends: lossEnds.primary_lost,
    severities: ["info", "error"],
    holds: null,
    endText: null,
  },
  status: {
    condition: "without a primary",
    tell: (view, inputs) =>
      isLed(view) || view.isBlind || view.cluster.nodes.length === 0 ? null : noPrimary(view, inputs),
  },
  rule: "RC050",
  remedies: { not_writable: "its PostgreSQL must run as a primary that accepts writes" },
  alerts: ["RolecallNoPrimary"],
} as const satisfies Condition;

const leaderChecks = [plainCheck("primary"), plainCheck("standby-leader")];

function isLed(view: ClusterView): boolean {
  return view.cluster.nodes.some((node) => leaderChecks.some((check) => judge(view, node, check).fit));
}

/** A cluster without a primary: why, since when, when the lock expires, and who may take it. */
function noPrimary(view: ClusterView, inputs: SituationInputs): Told {
  const found = lossDetails(view, inputs);
  if (found.isIntended) return found;
  const trouble = dcsTrouble(view);
  const unreadable = unreadableAction(view);
  if (trouble === null) return unreadable === null ? found : { ...found, next: unreadableNext, action: unreadable };
  if (trouble.silence === null)
    return { ...found, next: `if the nodes reach the DCS, ${found.next}`, action: lookAtDcs };
  const candidates = candidatesOf(view);
  return {
    ...found,
    next: `no node can take the lock until the DCS answers${candidates.length === 0 ? "" : `; candidates: ${candidates.join(", ")}`}`,
    action: lookAtDcs,
  };
}

/** What to do where the last primary answers, and its certificate or that of rolecall is not accepted. */
function unreadableAction(view: ClusterView): string | null {
  const { cluster } = view;
  const last = nodeNamed(cluster, claimsOf(view).holder ?? lastLeaderOf(cluster.leadership));
  const [only] = cluster.nodes.length === 1 ? cluster.nodes : [];
  const silent = last ?? only;
  if (silent === undefined || silent.failuresInRow === 0) return null;
  return tlsAction(silent.failure, silent.node.name, silent.report !== null);
}

/** Only rolecall is kept from it: nothing says that its Patroni has stopped. */
const unreadableNext =
  "the primary may keep the lock and take writes of clients that no check moves; it gets a yes as soon as rolecall can read it";

const lookAtDcs = "Look at the DCS and at the network to it, then at the log of Patroni";

/** How old a commit may be that shows that a database takes writes, in ms. */
const committedMaxMs = 15_000;

/** That a node which rolecall cannot ask takes writes of clients: a try has just committed there. `null`: none has. */
function committedText(node: string, { brought }: SituationInputs): string | null {
  const commits = (brought?.seen ?? []).flatMap(({ committed }) => (committed?.node === node ? [committed.agoMs] : []));
  const agoMs = Math.min(Infinity, ...commits);
  return agoMs <= committedMaxMs
    ? `its PostgreSQL takes writes of clients: one was committed ${spanText(agoMs)} ago`
    : null;
}

function lossDetails(view: ClusterView, inputs: SituationInputs): Told & { readonly isIntended: boolean } {
  const { wallMs } = inputs;
  const { cluster } = view;
  const claims = claimsOf(view);
  const last = nodeNamed(cluster, claims.holder ?? lastLeaderOf(cluster.leadership));
  const lastSeenMs = cluster.lastStatement?.sentAtMs ?? cluster.leadership.lastLoss?.atMs ?? null;
  const name = last?.node.name ?? null;
  const drain = drainOfHolder(view, claims);
  if (drain !== null && name !== null)
    return {
      wrong: "no primary",
      cause: lossCause(view, claims, name),
      sinceMs: null,
      ...drainAdvice(name, drain.until),
      isIntended: true,
    };
  const cause = lossCause(view, claims, name);
  const writes = last === undefined || last.failuresInRow === 0 ? null : committedText(last.node.name, inputs);
  const advice = claims.nodes.length === 0 ? expectation(view, last, wallMs) : waiting(view, claims.holder, last);
  return {
    isIntended: false,
    wrong: "no primary",
    cause: writes === null ? cause : `${cause}, but ${writes}`,
    sinceMs: lastSeenMs,
    ...(writes === null
      ? advice
      : {
          ...advice,
          action: savedAction(
            last?.node.name ?? "",
            claims.nodes.length > 0 || isPaused(view) ? null : lockExpiry(view, last, wallMs),
          ),
        }),
  };
}

/** A node has the lock and cannot take writes, or nobody confirms the claims. */
function waiting(view: ClusterView, holder: string | null, last: Observation | undefined): Advice {
  if (last?.report?.state === "stopping")
    return {
      next: "it gives the lock away, or starts again as the primary",
      action: "Wait some seconds, then look at its PostgreSQL and its log",
    };
  const promotedMs = promotionMs(view, holder === null ? undefined : last);
  if (promotedMs !== null)
    return {
      next:
        `${holder} has had the lock for ${spanText(promotedMs)} and is being promoted, which is a part of every ` +
        "switchover and failover; it gets a yes as soon as it is writable",
      action: `Wait some seconds, then look at PostgreSQL and its log on ${holder}`,
    };
  return holder === null
    ? {
        next: "rolecall says yes to none of them until the cluster confirms one",
        action: "Compare `patronictl list` with the leader key in the DCS",
      }
    : {
        next: `${holder} gets a yes as soon as it is writable; its cluster manager may give the lock away before`,
        action: `Look at PostgreSQL and its log on ${holder}`,
      };
}

/**
 * For how long a holder has had the lock that it took from another node a moment ago, and whose PostgreSQL runs or starts,
 * in ms; `null`: that is not so. Patroni promotes in the loop in which it takes the lock, and looks at PostgreSQL again in
 * the next one, so a holder that is not writable for longer than a loop deserves a look.
 */
function promotionMs({ cluster, nowMs }: ClusterView, holder: Observation | undefined): number | null {
  if (holder === undefined || holder.claimedSinceMs === null || holder.failuresInRow > 0 || hasStopped(holder))
    return null;
  const loss = cluster.leadership.lastLoss;
  const heldMs = nowMs - holder.claimedSinceMs;
  return loss !== null && loss.node !== holder.node.name && heldMs < loopWaitMs(cluster) ? heldMs : null;
}

/** When the lock of the last primary expires. */
interface LockExpiry {
  /** The time of day, in UTC. */
  readonly clock: string;
  /** Whether a new leader should have taken it by now. */
  readonly isOverdue: boolean;
}

/** @returns `null`: it is not known when the last primary held the lock */
function lockExpiry(
  { cluster, nowMs }: ClusterView,
  last: Pick<Observation, "lastHeldAtMs"> | undefined,
  wallMs: number,
): LockExpiry | null {
  const heldMs = last?.lastHeldAtMs ?? null;
  if (heldMs === null) return null;
  const expiresMs = heldMs + lockTtlMs(cluster);
  return {
    clock: new Date(wallMs + (expiresMs - nowMs)).toISOString().slice(11, 19),
    // A new leader takes the key in its next loop, and rolecall sees it with the next probe.
    isOverdue: nowMs >= expiresMs + loopWaitMs(cluster),
  };
}

/** Nobody has the lock: when it expires, and who may take it. */
function expectation(view: ClusterView, last: Observation | undefined, wallMs: number): Advice {
  const candidates = candidatesOf(view);
  const named = candidates.length === 0 ? "no node may take over" : `candidates: ${candidates.join(", ")}`;
  const expiry = lockExpiry(view, last, wallMs);
  const paused = isPaused(view);
  if (paused && last?.failuresInRow === 0 && hasStopped(last))
    return {
      next: `the cluster is paused, so its PostgreSQL is not started and nobody is promoted; ${named}`,
      action:
        `Find out why the cluster is paused. Then start PostgreSQL on ${last.node.name}, or resume the cluster: then it is ` +
        "started, or another node takes over, which may lack the last commits",
    };
  if (paused)
    return {
      next: `the cluster is paused, so nobody is promoted; ${named}`,
      // A primary whose Patroni alone is silent goes on taking writes, which another one would contradict.
      action:
        last === undefined || last.failuresInRow === 0
          ? "Resume it, or promote a node"
          : `Make sure that PostgreSQL has stopped on ${last.node.name}, then resume the cluster or promote a node`,
    };
  if (expiry === null || last?.failuresInRow === 0)
    return { next: `the nodes elect a leader; ${named}`, action: "Wait some seconds, then look at the log of Patroni" };
  const { clock, isOverdue } = expiry;
  const ttl = `ttl ${lockTtlMs(view.cluster) / 1000} s`;
  return !isOverdue
    ? {
        next: `the lock expires at about ${clock} UTC (${ttl}); ${named}`,
        action: candidates.length === 0 ? "Bring a node back: nobody can take over" : waitAction(last, clock),
      }
    : {
        next: `the lock should have expired at ${clock} UTC (${ttl}); ${named}`,
        action: "Look at the DCS and at the log of Patroni on the candidates",
      };
}

function isPaused(view: ClusterView): boolean {
  return view.cluster.nodes.some((node) => isHeard(view, node) && node.report?.isPaused === true);
}

/** Whether the PostgreSQL of a node does not run, by its own statement. */
function hasStopped({ report }: Observation): boolean {
  return report !== null && (report.state === "stopped" || report.state === "crashed");
}

/**
 * What to do until the lock expires. A machine that refuses connections of its API is up: its Patroni has ended, and its
 * PostgreSQL may go on taking the writes of clients that no check moves.
 */
function waitAction(last: Observation | undefined, clock: string): string {
  if (last?.failure?.kind !== "refused") return `Wait until ${clock} UTC`;
  return (
    `Look whether PostgreSQL still runs on ${last.node.name}: if so, start its Patroni before ${clock} UTC, as what it ` +
    "writes is lost once another node leads. Else wait until then"
  );
}

/** What to do where clients still write to a primary whose Patroni is silent. */
function savedAction(node: string, expiry: LockExpiry | null): string {
  const until = expiry === null || expiry.isOverdue ? "" : ` before ${expiry.clock} UTC`;
  return (
    `Start Patroni on ${node}${until}, or stop its PostgreSQL: what clients write ` +
    "there is lost once another node leads"
  );
}

/** How many candidates are named. */
const candidatesMax = 3;

/** The nodes that may be promoted, the least lagging first, with their lag. */
function candidatesOf(view: ClusterView): readonly string[] {
  return view.cluster.nodes
    .filter((node) => {
      const { report, attachment } = node;
      if (!isHeard(view, node) || report === null || report.role !== "replica" || isNoFailover(report.tags))
        return false;
      return !attachment.isDetached && !isDiverged(attachment);
    })
    .map((observation) => ({ name: observation.node.name, bytes: presentLag(view, observation).bytes }))
    .toSorted((one, other) => (one.bytes ?? Infinity) - (other.bytes ?? Infinity))
    .slice(0, candidatesMax)
    .map(({ name, bytes }) => `${name} (${bytes === null ? "lag unknown" : formatByteSize(bytes)})`);
}

/**
 * Why a cluster has no primary, as far as rolecall knows. A DCS that does not answer is the first cause.
 * @param previous the last primary
 */
export function lossCause(
  view: ClusterView,
  claims: Pick<ClaimFacts, "nodes" | "holder">,
  previous: string | null,
): string {
  const drain = drainOfHolder(view, claims);
  if (drain !== null) return `${claims.holder} is drained from all routes: ${drain.reason}`;
  const trouble = dcsTrouble(view);
  const cause = causeOfNodes(view, claims, previous);
  return trouble === null ? cause : `${trouble.cause}; ${cause}`;
}

function causeOfNodes(
  view: Pick<ClusterView, "cluster" | "maxAgeMs" | "nowMs">,
  claims: Pick<ClaimFacts, "nodes" | "holder">,
  previous: string | null,
): string {
  const known = nodeNamed(view.cluster, claims.holder ?? previous);
  if (claims.holder === null && claims.nodes.length > 1) return `${listText(claims.nodes)} claim the leader lock`;
  if (known === undefined || known.report === null) return "no node holds the leader lock";
  const name = known.node.name;
  const failure = known.failure?.detail ?? null;
  if (known.isDown) return `${name} is down${failure === null ? "" : ` (${failure})`}`;
  if (known.failuresInRow > 0) return `${name} does not answer${failure === null ? "" : `: ${failure}`}`;
  if (view.nowMs - known.sentAtMs >= view.maxAgeMs)
    return `${name} has not been probed for ${spanText(view.nowMs - known.sentAtMs)}`;
  const { role, state } = known.report;
  if (state === "stopping" && (claims.holder === name || known.hasLock))
    return `${name} is being stopped: a switchover, a restart, or its cluster manager gives up the lock`;
  if (claims.holder === name) return `${name} holds the leader lock, but is not writable (role ${role}, ${state})`;
  const loss = view.cluster.leadership.lostClaims.get(name);
  if (known.hasLock && loss?.withdrawal !== undefined) return lostClaimText(name, loss);
  if (known.hasLock) return `the cluster does not confirm the claim of ${name} on the leader lock`;
  if (hasStopped(known)) return `PostgreSQL does not run on ${name} (${state}), which no longer holds the leader lock`;
  return `${name} no longer holds the leader lock (role ${role}, ${state})`;
}

/** The drain that keeps clients from the holder of the lock, which takes writes; `null` if there is none. */
function drainOfHolder(view: ClusterView, { holder }: Pick<ClaimFacts, "holder">): Drain | null {
  if (holder === null || acceptedPrimary(view)?.node.name !== holder) return null;
  return activeDrainOf(view.cluster, holder, view.nowMs);
}
