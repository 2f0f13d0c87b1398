import { isDiverged } from "../../cluster/attachment.ts";
import { lastLeaderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { isNoFailover } from "../../cluster/values/tags.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard, lockTtlMs, loopWaitMs } from "../evidence/node/freshness.ts";
import { presentLag } from "../evidence/position/present-lag.ts";
import { claimsOf } from "./claim-facts.ts";
import { dcsTrouble } from "./dcs-trouble.ts";
import { lossCause } from "./loss-cause.ts";
import type { Details, SituationInputs } from "./situation-details.ts";

/** A cluster without a primary: why, since when, when the lock expires, and who may take it. */
export function noPrimary(view: ClusterView, inputs: SituationInputs): Details {
  const found = lossDetails(view, inputs);
  const trouble = dcsTrouble(view);
  if (trouble === null) return found;
  if (trouble.silence === null)
    return { ...found, next: `if the nodes reach the DCS, ${found.next}`, action: lookAtDcs };
  const candidates = candidatesOf(view);
  return {
    ...found,
    next: `no node can take the lock until the DCS answers${candidates.length === 0 ? "" : `; candidates: ${candidates.join(", ")}`}`,
    action: lookAtDcs,
  };
}

const lookAtDcs = "Look at the DCS and at the network to it, then at the log of Patroni";

function lossDetails(view: ClusterView, { wallMs }: SituationInputs): Details {
  const { cluster } = view;
  const claims = claimsOf(view);
  const last = nodeNamed(cluster, claims.holder ?? lastLeaderOf(cluster.leadership));
  const lastSeenMs = cluster.lastStatement?.sentAtMs ?? cluster.leadership.lastLoss?.atMs ?? null;
  const name = last?.node.name ?? null;
  return {
    wrong: "no primary",
    cause: lossCause(view, claims, name),
    sinceMs: lastSeenMs,
    ...(claims.nodes.length === 0 ? expectation(view, last, wallMs) : waiting(claims.holder, last)),
  };
}

/** A node has the lock and cannot take writes, or nobody confirms the claims. */
function waiting(holder: string | null, last: Observation | undefined): Pick<Details, "next" | "action"> {
  if (last?.report?.state === "stopping")
    return {
      next: "it gives the lock away, or starts again as the primary",
      action: "Wait some seconds, then look at its PostgreSQL and its log",
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

/** Nobody has the lock: when it expires, and who may take it. */
function expectation(
  view: ClusterView,
  last: Observation | undefined,
  wallMs: number,
): Pick<Details, "next" | "action"> {
  const { nowMs } = view;
  const candidates = candidatesOf(view);
  const named = candidates.length === 0 ? "no node may take over" : `candidates: ${candidates.join(", ")}`;
  const ttlMs = lockTtlMs(view.cluster);
  const heldMs = last?.lastHeldAtMs ?? null;
  const expiresMs = heldMs === null ? null : heldMs + ttlMs;
  const isPaused = view.cluster.nodes.some((node) => isHeard(view, node) && node.report?.isPaused === true);
  if (isPaused)
    return { next: `the cluster is paused, so nobody is promoted; ${named}`, action: "Resume it, or promote a node" };
  if (expiresMs === null || last?.failuresInRow === 0)
    return { next: `the nodes elect a leader; ${named}`, action: "Wait some seconds, then look at the log of Patroni" };
  const clock = new Date(wallMs + (expiresMs - nowMs)).toISOString().slice(11, 19);
  const ttl = `ttl ${ttlMs / 1000} s`;
  // A new leader takes the key in its next loop, and rolecall sees it with the next probe.
  return nowMs < expiresMs + loopWaitMs(view.cluster)
    ? {
        next: `the lock expires at about ${clock} UTC (${ttl}); ${named}`,
        action: candidates.length === 0 ? "Bring a node back: nobody can take over" : `Wait until ${clock} UTC`,
      }
    : {
        next: `the lock should have expired at ${clock} UTC (${ttl}); ${named}`,
        action: "Look at the DCS and at the log of Patroni on the candidates",
      };
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
