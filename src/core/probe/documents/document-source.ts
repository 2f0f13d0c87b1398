import type { Observation } from "../../cluster/observation.ts";
import { isDistrusted } from "../../health/evidence/node/active-drain.ts";
import { isFresh, maxAgeMs } from "../../health/evidence/node/freshness.ts";
import { identityMismatch } from "../../health/evidence/node/identity.ts";
import { lockStatusAt } from "../../health/evidence/leadership/lock-status.ts";
import type { ProbeContext } from "../client/probe-context.ts";

/** A node to request the cluster's documents from. */
export interface DocumentSource {
  /** The node's name or, for a server that is no proved node, its address. */
  readonly name: string;
  /** The base address of its API. */
  readonly api: string;
}

/** The most nodes in one round. Those that claim the lock are always among them, the others take turns. */
const roundMax = 32;

/**
 * Chooses the one node to request documents from while the leader is not disputed: the answering nodes, including the
 * leader, take turns. If none answers, all are tried in turn whose address has proved itself. Distrusted nodes have no
 * turn: their documents are ignored.
 * @param turn counts the requests, so that the next goes to another node
 * @returns `null` if there is no node, or while the only claimant reports failsafe: the DCS is known to be down
 */
export function chooseDocumentSource(context: ProbeContext, turn: number): DocumentSource | null {
  if (isFailsafe(context)) return null;
  const answering = answeringNodes(context).flatMap(sourceOf);
  const candidates = answering.length > 0 ? answering : provedNodes(context).flatMap(sourceOf);
  return candidates[turn % candidates.length] ?? null;
}

/**
 * Chooses the nodes of one round: all that answer, and every node that claims the lock even if it does not answer,
 * because a dispute about a claim cannot be decided without the view of the claimant.
 * @param turn counts the rounds: if there are too many nodes, each round uses a different subset
 */
export function chooseRoundSources(context: ProbeContext, turn: number): readonly DocumentSource[] {
  if (isFailsafe(context)) return [];
  const claims = currentClaims(context);
  const others = answeringNodes(context).filter((node) => !claims.includes(node));
  const otherMax = Math.max(0, roundMax - claims.length);
  const first = others.length > otherMax ? (turn * otherMax) % others.length : 0;
  return [
    ...claims.slice(0, roundMax),
    ...[...others.slice(first), ...others.slice(0, first)].slice(0, otherMax),
  ].flatMap(sourceOf);
}

/** Whether the only node that claims the lock reports failsafe mode. The flag of a replica is no evidence. */
function isFailsafe(context: ProbeContext): boolean {
  const [claim, ...others] = currentClaims(context);
  return claim?.report?.isFailsafe === true && others.length === 0;
}

function currentClaims({ state, policy, now }: ProbeContext): readonly Observation[] {
  return lockStatusAt(state(), policy(), now()).claims;
}

function answeringNodes(context: ProbeContext): readonly Observation[] {
  const { state, now } = context;
  const policy = context.policy();
  const cluster = state();
  const maxAge = maxAgeMs(cluster, policy);
  return provedNodes(context).filter(
    (node) =>
      node.node.api !== null &&
      !node.isDown &&
      node.failuresInRow === 0 &&
      isFresh(node, maxAge, now()) &&
      identityMismatch(cluster, node, policy) === null,
  );
}

/** The nodes whose address has proved itself, without those that an operator distrusts. */
function provedNodes({ state, now }: ProbeContext): readonly Observation[] {
  const cluster = state();
  return cluster.nodes.filter(({ node, proof }) => proof !== "none" && !isDistrusted(cluster, node.name, now()));
}

/** Returns an empty list for a node without an API. */
function sourceOf({ node }: Observation): DocumentSource[] {
  return node.api === null ? [] : [{ name: node.name, api: node.api }];
}
