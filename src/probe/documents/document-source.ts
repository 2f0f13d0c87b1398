import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../../health/evidence/freshness.ts";
import { identityMismatch } from "../../health/evidence/identity.ts";
import { lockStatusAt } from "../../health/evidence/lock-status.ts";
import type { ProbeContext } from "../client/probe-context.ts";

/** Whom to ask for the cluster's documents. */
export interface DocumentSource {
  readonly name: string;
  readonly api: string;
}

/** More nodes are not asked in one round; those that claim the lock always are, the others in turn. */
const roundMax = 32;

/**
 * Chooses the one node to ask in quiet times: those that answer take turns, the leader among them. Where none does, seeds and nodes are
 * tried in turn. While the only claimant says failsafe nobody is asked: the DCS is known to be down.
 * @param turn counts the requests, so that the next goes elsewhere
 */
export function chooseDocumentSource(
  context: ProbeContext,
  seeds: readonly string[],
  turn: number,
): DocumentSource | null {
  if (isFailsafe(context)) return null;
  const cluster = context.state();
  const answering = answeringNodes(context).flatMap(witness);
  const nobodyAnswers = (): DocumentSource[] => [
    ...seeds.flatMap((api) => seedOf(cluster, api)),
    ...cluster.nodes.flatMap(witness),
  ];
  const candidates = answering.length > 0 ? answering : nobodyAnswers();
  return candidates[turn % candidates.length] ?? null;
}

/**
 * Chooses whom a round asks: all nodes that answer, and the claimants in any case, for an accusation waits for them.
 * @param turn counts the rounds: where there are too many nodes, others are asked each time
 */
export function roundWitnesses(context: ProbeContext, turn: number): readonly DocumentSource[] {
  if (isFailsafe(context)) return [];
  const claims = claimsNow(context);
  const others = answeringNodes(context).filter((node) => !claims.includes(node));
  const places = Math.max(0, roundMax - claims.length);
  const first = others.length > places ? (turn * places) % others.length : 0;
  return [
    ...claims.slice(0, roundMax),
    ...[...others.slice(first), ...others.slice(0, first)].slice(0, places),
  ].flatMap(witness);
}

/** Whether the only node that claims the lock says that it goes on without the DCS. Such a flag on a replica says nothing. */
function isFailsafe(context: ProbeContext): boolean {
  const [claim, ...others] = claimsNow(context);
  return claim?.report?.isFailsafe === true && others.length === 0;
}

function claimsNow({ state: cluster, policy, now }: ProbeContext): readonly Observation[] {
  return lockStatusAt(cluster(), policy, now()).claims;
}

function answeringNodes({ state: current, policy, now }: ProbeContext): readonly Observation[] {
  const cluster = current();
  const maxAge = maxAgeMs(cluster, policy);
  return cluster.nodes.filter(
    (node) =>
      node.node.api !== null &&
      !node.isDown &&
      node.failuresInRow === 0 &&
      isFresh(node, maxAge, now()) &&
      identityMismatch(cluster, node, policy) === null,
  );
}

/** A seed that is a known node goes by its name: its word on its own claim is not another's (rule 2). */
function seedOf({ nodes }: ClusterState, api: string): DocumentSource[] {
  const known = nodes.find(({ node }) => node.api === api);
  return known === undefined ? [{ name: api, api }] : witness(known);
}

/** A node without an API cannot be asked. */
function witness({ node }: Observation): DocumentSource[] {
  return node.api === null ? [] : [{ name: node.name, api: node.api }];
}
