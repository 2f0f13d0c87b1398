import type { ClaimLoss } from "../../cluster/leadership.ts";
import { foreignScopeText } from "../../health/evidence/node/foreign-scope.ts";
import { nodeOfMember } from "../../cluster/lookup.ts";
import type { Observation, StrayPrimary } from "../../cluster/observation.ts";
import type { EventDraft, EventKind } from "../cluster-event.ts";
import {
  type AttachmentMark,
  type ClusterFacts,
  type NodeFacts,
  attachmentFigures,
  isAnswering,
} from "./cluster-facts.ts";
import { companionConditions, doCompanionsAnswer } from "./companion-conditions.ts";
import { type Condition, beginning } from "./condition.ts";
import { dcsConditions } from "./dcs-conditions.ts";
import { dcsReach } from "../../health/documents/dcs-reach.ts";
import { isWedgedUnknown, wedgedPrimary, wedgedText } from "../../health/documents/wedged.ts";
import { countText, listText, lostClaimText } from "../../health/documents/wording.ts";
import { judgeMember } from "../../health/rules/pool.ts";
import type { Reason } from "../../health/reason.ts";

/**
 * How long a conflict must be absent before it counts as ended, in ms. One that is found again sooner is the same one.
 * After a restart, too, each cluster has to be seen before the end is known.
 */
const conflictQuietMs = 10_000;

/**
 * How long two clusters of one database system must have a primary before it is reported, in ms: while a standby
 * cluster takes over from its source, the old primary may be shown for some seconds.
 */
const systemHoldMs = 10_000;

/** How long the address of a member must be disputed before that is an event, in ms. */
const addressHoldMs = 10_000;

/** The conditions that come and go. */
const conflicts: ReadonlySet<EventKind> = new Set(["claims_conflict", "system_conflict", "address_disputed"]);

/** How long a condition of a kind must be absent before its end is reported, in ms. */
export function quietMsOf(kind: EventKind): number {
  return conflicts.has(kind) ? conflictQuietMs : 0;
}

/** Returns the present conditions of a cluster. Unless its visibility is `clear`, only `blind` is possible. */
export function conditionsOf(facts: ClusterFacts): readonly Condition[] {
  if (facts.visibility !== "clear") return facts.isBlind ? [blind(facts)] : [];
  return [
    ...nodeConditions(facts),
    ...(facts.claims.isConflict ? [claimsConflict(facts)] : []),
    ...systemConflict(facts),
    ...replicaCondition(facts),
    ...emptyPools(facts),
    ...(facts.isPaused ? [paused(facts)] : []),
    ...(facts.isFailsafe ? [failsafe(facts)] : []),
    ...wedged(facts),
    ...dcsConditions(facts),
    ...addressConditions(facts),
    ...unlistedAddresses(facts),
    ...facts.ofFeatures,
    ...companionConditions(facts),
  ];
}

function blind({ cluster, nodes, view }: ClusterFacts): Condition {
  const [failed] = nodes.flatMap(({ node, observation: { failure } }) =>
    failure === null ? [] : [`${node}: ${failure.detail}`],
  );
  return {
    level: "",
    begins: beginning({
      kind: "blind",
      severity: "error",
      cluster,
      message:
        nodes.length === 0
          ? `rolecall knows no node of ${cluster}: no address in discover has answered with its members`
          : `rolecall gets no answer from any of the ${countText(nodes.length, "node")} of ${cluster}`,
      cause: failed ?? foreignScopeText(view.cluster),
      figures: { nodes: nodes.length },
    }),
  };
}

function claimsConflict({ cluster, claims, view }: ClusterFacts): Condition {
  const { nodes, holder } = claims;
  const [first = ""] = nodes;
  const lost = view.cluster.leadership.lostClaims.get(first);
  const counting = holder === null ? "none of them counts as the primary" : `${holder} counts as the primary`;
  return {
    level: "",
    begins: beginning({
      kind: "claims_conflict",
      severity: "error",
      cluster,
      message:
        nodes.length === 1
          ? `${first} claims the leader lock of ${cluster}, but ${denialText(lost)}`
          : `${listText(nodes)} claim the leader lock of ${cluster} at the same time: ${counting}`,
      cause: lost === undefined ? null : lostClaimText(first, lost),
      figures: { claims: nodes.length, ...(holder === null ? {} : { primary: holder }) },
    }),
  };
}

/** Two clusters of one database system that both have a primary: their data differ from some position on. */
function systemConflict({ cluster, primary, twins }: ClusterFacts): readonly Condition[] {
  if (primary === null || twins.length === 0) return [];
  const others = twins.map((twin) => `${twin.primary} of ${twin.cluster}`);
  const condition: Condition = {
    level: twins.map((twin) => twin.cluster).join(" "),
    begins: beginning({
      kind: "system_conflict",
      severity: "error",
      cluster,
      message: `${primary.node} of ${cluster} and ${listText(others)} are primaries of one database system`,
      figures: { primary: primary.node, system: primary.system ?? "", clusters: twins.length + 1 },
    }),
    holdMs: systemHoldMs,
  };
  return [condition];
}

/** What contradicts the only claim, for the end of a sentence. */
function denialText(lost: ClaimLoss | undefined): string {
  return lost?.withdrawal === undefined
    ? "the cluster does not confirm it"
    : `the DCS names ${lost.withdrawal.namedInstead ?? "nobody"}`;
}

function paused({ cluster }: ClusterFacts): Condition {
  return {
    level: "",
    begins: beginning({
      kind: "paused",
      severity: "warning",
      cluster,
      message: `${cluster} is paused: its cluster manager does not fail over`,
    }),
  };
}

function failsafe({ cluster }: ClusterFacts): Condition {
  return {
    level: "",
    begins: beginning({
      kind: "failsafe",
      severity: "warning",
      cluster,
      message: `${cluster} runs in failsafe mode: its primary goes on without the DCS because every member agreed`,
      cause: "the primary cannot reach the DCS",
    }),
  };
}

/** Returns the members whose address is disputed (rule 10). A member that moves may answer at both for a moment. */
function addressConditions({ cluster, view }: ClusterFacts): readonly Condition[] {
  return [...view.cluster.addressDisputes].map(([member, addresses]) => ({
    level: addresses.join(),
    holdMs: addressHoldMs,
    begins: beginning({
      kind: "address_disputed",
      severity: "warning",
      cluster,
      node: nodeOfMember(view.cluster, member)?.node.name ?? member,
      message:
        addresses.length > 1
          ? `two hosts use the name ${member} of ${cluster}: ${listText(addresses)}`
          : `${listText(addresses)} answers as ${member} of ${cluster}, but other nodes list ${member} elsewhere`,
      figures: { addresses: addresses.length },
    }),
  }));
}

/** Members that are reached at a configured address alone (rule 10). */
function unlistedAddresses({ cluster, nodes }: ClusterFacts): readonly Condition[] {
  return nodes
    .filter(({ observation }) => observation.proof === "seed")
    .map(({ node, observation }) => ({
      level: observation.node.api ?? "",
      begins: beginning({
        kind: "address_unlisted",
        severity: "warning",
        cluster,
        node,
        message: `${node} of ${cluster} answers at ${observation.node.api} alone, which no list has`,
        figures: {},
      }),
    }));
}

/** The primary only looks alive. */
function wedged({ cluster, view, nowMs }: ClusterFacts): readonly Condition[] {
  const found = wedgedPrimary(view);
  if (found === null) return [];
  const { node, sinceMs, signs, beside } = found;
  const condition: Condition = {
    level: "",
    sinceMs,
    begins: beginning({
      kind: "wedged",
      severity: "error",
      cluster,
      node,
      message: `${node} of ${cluster} ${wedgedText(found)}`,
      cause: signs.join("; "),
      figures: { signs: signs.length, beside: beside.length, for_ms: Math.round(nowMs - sinceMs) },
    }),
  };
  return [condition];
}

/**
 * Whether a condition that is no longer found is certainly over. It may not be, if the evidence to find it is missing.
 * `blind` can end as soon as the visibility is `emerging`, every other condition only once it is `clear`.
 */
export function isEndKnown({ kind, node }: Pick<EventDraft, "kind" | "node">, facts: ClusterFacts): boolean {
  if (kind === "blind") return facts.visibility !== "hidden";
  if (facts.visibility !== "clear") return false;
  if (kind === "address_disputed" || kind === "address_unlisted" || kind === "routes_differ") return true;
  if (kind === "companion_down") return doCompanionsAnswer(facts.nodes, node);
  if (kind === "wedged") return !isWedgedUnknown(facts.view, node);
  if (kind === "dcs_unreachable") return ["reached", "unstated"].includes(dcsReach(facts.view).kind);
  // Only an answer of the node shows the end: a node that does not answer counts as down only after several failures.
  // For a node that is no longer known, the condition is over; `every` holds then, since it finds no such node.
  if (node !== null) return facts.nodes.every((known) => known.node !== node || isAnswering(known.observation));
  // Only the reports of nodes show the end of a pause or of failsafe mode.
  if (kind === "paused" || kind === "failsafe") return facts.nodes.some(({ observation }) => isAnswering(observation));
  const { primary, nodes } = facts;
  // Without a primary it is unknown which nodes are replicas. A replica that was not judged yet may be unfit.
  if (kind === "degraded")
    return primary !== null && nodes.every((known) => known.node === primary.node || known.replica !== null);
  return true;
}

/** Returns what is wrong with the nodes of a cluster: those that are down, and replicas that do not follow. */
function nodeConditions(facts: ClusterFacts): readonly Condition[] {
  const conditions: Condition[] = [];
  for (const node of facts.nodes) {
    if (node.isDown) conditions.push(down(facts, node));
    if (node.observation.stray?.isConfirmed === true)
      conditions.push(strayPrimary(facts, node, node.observation.stray));
    if (node.mark !== null) conditions.push(attachment(facts, node, node.mark));
  }
  return conditions;
}

/** Its end is a report that denies it: while nobody leads for a moment, and while it is silent, it goes on. */
function strayPrimary({ cluster }: ClusterFacts, { node }: NodeFacts, { beside, sinceMs }: StrayPrimary): Condition {
  return {
    level: "",
    sinceMs,
    begins: beginning({
      kind: "stray_primary",
      severity: "error",
      cluster,
      node,
      message: `${node} of ${cluster} is a running primary without the leader lock, which ${beside} holds: writes to ${node} will be lost`,
      cause: `its status says primary and running, and ${beside} leads`,
      figures: { primary: beside },
    }),
  };
}

function down({ cluster }: ClusterFacts, { node, observation }: NodeFacts): Condition {
  const { failuresInRow, failure } = observation;
  const cause = failure?.detail ?? null;
  const failed = `${countText(failuresInRow, "probe")} in a row failed`;
  return {
    level: "",
    begins: beginning({
      kind: "node_down",
      severity: "warning",
      cluster,
      node,
      message: `${node} of ${cluster} is down: ${cause === null ? failed : `${cause} (${failed})`}`,
      cause,
      figures: { failures: failuresInRow },
    }),
    ...sinceAnswer(observation),
  };
}

/** A node that is down has been so since its last answer, as in the situation. */
function sinceAnswer({ sentAtMs }: Observation): Pick<Condition, "sinceMs"> {
  return Number.isFinite(sentAtMs) ? { sinceMs: sentAtMs } : {};
}

const markTexts: { readonly [mark in AttachmentMark]: string } = {
  diverged: "it has WAL that the primary does not have, and must be rewound or copied anew",
  detached: "it does not receive WAL from the primary",
  stalled: "it does not advance",
};

function attachment(facts: ClusterFacts, { node, observation }: NodeFacts, mark: AttachmentMark): Condition {
  const { cluster } = facts;
  const { warning, lagBytes } = attachmentFigures(facts, observation);
  const cause = mark === "diverged" ? null : warning;
  const timeline = observation.report?.timeline ?? null;
  return {
    level: mark,
    begins: beginning({
      kind: mark,
      severity: mark === "diverged" ? "error" : "warning",
      cluster,
      node,
      message: `${node} of ${cluster} is ${mark}: ${cause ?? markTexts[mark]}`,
      cause,
      figures: {
        ...(lagBytes === null ? {} : { lag_bytes: lagBytes }),
        ...(timeline === null ? {} : { timeline }),
      },
    }),
  };
}

/** How long a replica has to be unfit before the cluster counts as degraded, in ms: longer than a switchover. */
const degradedHoldMs = 10_000;

/** Reasons of a healthy replica: an operator or a setting keeps it out of the pool. */
const intended: ReadonlySet<Reason> = new Set(["drained", "noloadbalance", "tag", "held_back"]);

/**
 * Returns whether a cluster is degraded: one of its standbys is not fit for a plain `/replica`, or is refused in every
 * check with a limit for lag that balancers ask, though nobody took it out. While there is no primary this is not decided: which nodes are standbys is known afterwards.
 */
function replicaCondition(facts: ClusterFacts): readonly Condition[] {
  const { cluster, nodes, primary } = facts;
  if (primary === null) return [];
  const standbys = nodes.filter(({ node, replica }) => node !== primary.node && !isIntended(replica));
  const unfit = standbys.filter(({ replica }) => replica !== "fit" && replica !== null);
  if (unfit.length === 0) return [];
  const fit = standbys.length - unfit.length;
  const count = `${fit === 0 ? "no fit replica" : countText(fit, "fit replica")} of ${standbys.length}`;
  const cause = listText(unfit.map(({ node, replica }) => `${node} is ${replica}`));
  const downSinceMs = Math.min(
    ...unfit.map(({ isDown, observation }) => (isDown ? (sinceAnswer(observation).sinceMs ?? Infinity) : Infinity)),
  );
  return [
    {
      level: `${fit}/${standbys.length}`,
      begins: beginning({
        kind: "degraded",
        severity: fit === 0 ? "error" : "warning",
        cluster,
        message: `${cluster} has ${count}: ${cause}`,
        cause,
        figures: { fit_replicas: fit, replicas: standbys.length },
      }),
      holdMs: degradedHoldMs,
      ...(downSinceMs === Infinity ? {} : { sinceMs: downSinceMs }),
    },
  ];
}

/** How long a check must refuse every node before it is reported, in ms: longer than a probe interval. */
const emptyHoldMs = 2_000;

/**
 * Returns whether a check that balancers ask refuses every node that it could pass. The nodes are judged as balancers
 * ask: a lag limit may leave a pool empty while every replica is fit for a plain `/replica`.
 */
function emptyPools({ cluster, view, asked, nodes }: ClusterFacts): readonly Condition[] {
  const empty = asked.filter(
    ({ check }) => !nodes.some(({ observation }) => judgeMember(view, observation, check).fit),
  );
  if (empty.length === 0 || nodes.length < 2) return [];
  const texts = empty.map(({ text, pool }) => pool ?? text);
  const [first] = empty;
  const why = nodes.flatMap(({ node, observation }) => {
    const verdict = first === undefined ? null : judgeMember(view, observation, first.check);
    if (verdict === null || verdict.fit || verdict.reason === "wrong_role") return [];
    return [`${node} is ${verdict.reason}${verdict.figure === null ? "" : ` (${verdict.figure})`}`];
  });
  const cause = why.length === 0 ? null : listText(why);
  return [
    {
      level: texts.join(" "),
      holdMs: emptyHoldMs,
      begins: beginning({
        kind: "pool_empty",
        severity: "error",
        cluster,
        message: `no node of ${cluster} passes ${listText(texts)}, which balancers ask${cause === null ? "" : `: ${cause}`}`,
        cause,
        figures: { checks: empty.length },
      }),
    },
  ];
}

function isIntended(replica: "fit" | Reason | null): boolean {
  return replica !== null && replica !== "fit" && intended.has(replica);
}
