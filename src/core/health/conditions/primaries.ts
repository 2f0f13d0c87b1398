/** More than one primary: of one cluster, or of one database system. */
import type { ClaimLoss } from "../../cluster/leadership.ts";
import { claimsOf } from "../evidence/leadership/claim-facts.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { strayOf } from "../evidence/leadership/stray-primary.ts";
import { listText, lostClaimText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case, type SituationInputs, type Told } from "./condition.ts";
import { foundEnds } from "./event-kinds.ts";

/**
 * How long a conflict must be absent before it counts as ended, in ms. One that is found again sooner is the same one.
 * After a restart, too, each cluster has to be seen before the end is known.
 */
const conflictQuietMs = 10_000;

/** Several nodes claim the leader lock, or nothing confirms the only claim. */
export const claimsConflict = {
  id: "claims_conflict",
  title: "several nodes claim the leader lock",
  harm: "split",
  events: {
    begins: "claims_conflict",
    ends: foundEnds.claims_conflict,
    severities: ["error"],
    reason: "contested",
    holds: conflictFound,
    endText: (cluster: string) => `the claims on the leader lock of ${cluster} no longer conflict`,
    quietMs: conflictQuietMs,
  },
  status: { condition: "two primaries", tell: tellClaims },
  rule: "RC054",
  remedies: {
    contested: "only one node may claim the leader lock: find out which one holds it, and stop the other",
    superseded: "it must hold the leader lock: another node holds it now",
  },
  alerts: ["RolecallClaimsConflict", "RolecallSeveralClaims"],
} as const satisfies Condition;

function conflictFound({ cluster, claims, view }: ClusterFacts): readonly Case[] {
  if (!claims.isConflict) return [];
  const { nodes, holder } = claims;
  const [first = ""] = nodes;
  const lost = view.cluster.leadership.lostClaims.get(first);
  const counting = holder === null ? "none of them counts as the primary" : `${holder} counts as the primary`;
  return [
    oneCase({
      severity: "error",
      message:
        nodes.length === 1
          ? `${first} claims the leader lock of ${cluster}, but ${denialText(lost)}`
          : `${listText(nodes)} claim the leader lock of ${cluster} at the same time: ${counting}`,
      cause: lost === undefined ? null : lostClaimText(first, lost),
      figures: { claims: nodes.length, ...(holder === null ? {} : { primary: holder }) },
    }),
  ];
}

/** What contradicts the only claim, for the end of a sentence. */
function denialText(lost: ClaimLoss | undefined): string {
  return lost?.withdrawal === undefined
    ? "the cluster does not confirm it"
    : `the DCS names ${lost.withdrawal.namedInstead ?? "nobody"}`;
}

/** A sole claim in conflict is lost: its node leads nobody, so the cluster is without a primary. */
function tellClaims(view: ClusterView): Told | null {
  const { nodes, holder, isConflict } = claimsOf(view);
  if (!isConflict || nodes.length < 2) return null;
  const newestMs = Math.max(...view.lock.claims.map(({ claimedSinceMs }) => claimedSinceMs ?? -Infinity));
  return {
    wrong: nodes.length === 2 ? "two primaries" : `${nodes.length} primaries`,
    cause: `${listText(nodes)} hold the leader lock by their own word`,
    sinceMs: newestMs,
    ...(holder === null
      ? {
          next: "rolecall says yes to none of them until the cluster confirms one",
          action: `Find out which of ${listText(nodes)} holds the lock in the DCS, and stop the others`,
        }
      : {
          next: `rolecall says yes to ${holder} alone; it cannot fence the others`,
          action: `Find the one that holds the lock in the DCS, and stop the others: ${listText(nodes.filter((node) => node !== holder))}`,
        }),
  };
}

/** A running primary without the leader lock, beside the one that leads. */
export const strayPrimary = {
  id: "stray_primary",
  title: "a primary runs without the leader lock",
  harm: "split",
  events: {
    begins: "stray_primary",
    ends: foundEnds.stray_primary,
    severities: ["error"],
    reason: "stray_primary",
    // Its end is a report that denies it: while nobody leads for a moment, and while it is silent, it goes on.
    holds: straysFound,
    endText: (cluster: string, node: string | null) => `${node} of ${cluster} is no primary beside the leader any more`,
  },
  status: { condition: "two primaries", tell: tellStrays },
  rule: "RC054",
  remedies: {
    stray_primary:
      "its PostgreSQL must not run as a primary beside the leader: stop it, then rewind it or copy it anew",
  },
  alerts: ["RolecallStrayPrimary"],
} as const satisfies Condition;

function straysFound({ cluster, nodes }: ClusterFacts): readonly Case[] {
  return nodes.flatMap(({ node, observation: { stray } }) => {
    if (stray?.isConfirmed !== true) return [];
    const { beside, sinceMs } = stray;
    return [
      oneCase({
        severity: "error",
        node,
        message: `${node} of ${cluster} is a running primary without the leader lock, which ${beside} holds: writes to ${node} will be lost`,
        cause: `its status says primary and running, and ${beside} leads`,
        figures: { primary: beside },
        sinceMs,
      }),
    ];
  });
}

function tellStrays(view: ClusterView): Told | null {
  const { holder } = view.lock;
  const found = view.cluster.nodes.flatMap((observation) => {
    const stray = strayOf(view, observation);
    return stray?.isConfirmed === true ? [{ name: observation.node.name, sinceMs: stray.sinceMs }] : [];
  });
  if (found.length === 0) return null;
  const names = found.map(({ name }) => name);
  const [is, their] = names.length === 1 ? ["is a running primary", "its"] : ["are running primaries", "their"];
  return {
    wrong: names.length === 1 ? "two primaries" : `${names.length + 1} primaries`,
    cause: `${holder} holds the leader lock, and ${listText(names)} ${is} without it: writes there will be lost`,
    sinceMs: Math.min(...found.map(({ sinceMs }) => sinceMs)),
    next: `rolecall says yes to ${holder} alone; it cannot fence the others`,
    action: `Stop PostgreSQL on ${listText(names)}, save what clients wrote there, and let ${their} cluster manager rewind or copy it anew`,
  };
}

/**
 * Two clusters of one database system that both have a primary: their data differ from some position on. While a standby
 * cluster takes over from its source, the old primary may be shown for some seconds.
 */
export const systemConflict = {
  id: "system_conflict",
  title: "several clusters of one database system have a primary",
  harm: "split",
  events: {
    begins: "system_conflict",
    ends: foundEnds.system_conflict,
    severities: ["error"],
    holds: twinsFound,
    endText: (cluster: string) =>
      `${cluster} is no longer one of several clusters of its database system with a primary`,
    holdMs: 10_000,
    quietMs: conflictQuietMs,
  },
  status: { condition: "warning", tell: tellTwins },
  alerts: ["RolecallSystemConflict"],
} as const satisfies Condition;

function twinsFound({ cluster, primary, twins }: ClusterFacts): readonly Case[] {
  if (primary === null || twins.length === 0) return [];
  const others = twins.map((twin) => `${twin.primary} of ${twin.cluster}`);
  return [
    oneCase({
      severity: "error",
      message: `${primary.node} of ${cluster} and ${listText(others)} are primaries of one database system`,
      figures: { primary: primary.node, system: primary.system ?? "", clusters: twins.length + 1 },
      level: twins.map((twin) => twin.cluster).join(" "),
    }),
  ];
}

function tellTwins({ cluster }: ClusterView, { nodes, twins = [] }: SituationInputs): Told | null {
  const primary = nodes.find(({ verdicts }) => verdicts["primary"] === "fit");
  if (primary === undefined || twins.length === 0) return null;
  const others = twins.map((twin) => `${twin.primary} of ${twin.cluster}`);
  return {
    wrong: `${twins.length + 1} clusters of one database system have a primary`,
    cause: `${primary.node} of ${cluster.name} and ${listText(others)} take writes, and their data differ from then on`,
    sinceMs: null,
    next: "rolecall says yes to each of them: they are primaries of clusters of their own",
    action: `Find out which of the clusters is right, stop the primary of the other, and let it follow again`,
  };
}
