import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../health/freshness.ts";
import { mistakenIdentity } from "../health/identity.ts";
import { standingAt } from "../health/leader.ts";
import type { Probing } from "./probing.ts";

/** Whom to ask for the cluster's documents. */
export interface Witness {
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
export function chooseWitness(probing: Probing, seeds: readonly string[], turn: number): Witness | null {
  if (isFailsafe(probing)) return null;
  const part = probing.part();
  const answering = answeringNodes(probing).flatMap(witness);
  const nobodyAnswers = (): Witness[] => [...seeds.flatMap((api) => seedOf(part, api)), ...part.nodes.flatMap(witness)];
  const candidates = answering.length > 0 ? answering : nobodyAnswers();
  return candidates[turn % candidates.length] ?? null;
}

/**
 * Chooses whom a round asks: all nodes that answer, and the claimants in any case, for an accusation waits for them.
 * @param turn counts the rounds: where there are too many nodes, others are asked each time
 */
export function roundWitnesses(probing: Probing, turn: number): readonly Witness[] {
  if (isFailsafe(probing)) return [];
  const claims = claimsNow(probing);
  const others = answeringNodes(probing).filter((node) => !claims.includes(node));
  const places = Math.max(0, roundMax - claims.length);
  const first = others.length > places ? (turn * places) % others.length : 0;
  return [...claims.slice(0, roundMax), ...[...others.slice(first), ...others.slice(0, first)].slice(0, places)].flatMap(witness);
}

/** Whether the only node that claims the lock says that it goes on without the DCS. Such a flag on a replica says nothing. */
function isFailsafe(probing: Probing): boolean {
  const [claim, ...others] = claimsNow(probing);
  return claim?.report?.isFailsafe === true && others.length === 0;
}

function claimsNow({ part, settings, now }: Probing): readonly Observation[] {
  return standingAt(part(), settings, now()).claims;
}

function answeringNodes({ part: current, settings, now }: Probing): readonly Observation[] {
  const part = current();
  const maxAge = maxAgeMs(part, settings);
  return part.nodes.filter(
    (node) =>
      node.node.api !== null &&
      !node.isDown &&
      node.failuresInRow === 0 &&
      isFresh(node, maxAge, now()) &&
      mistakenIdentity(part, node, settings) === null,
  );
}

/** A seed that is a known node goes by its name: its word on its own claim is not another's (rule 2). */
function seedOf({ nodes }: ClusterPart, api: string): Witness[] {
  const known = nodes.find(({ node }) => node.api === api);
  return known === undefined ? [{ name: api, api }] : witness(known);
}

/** A node without an API cannot be asked. */
function witness({ node }: Observation): Witness[] {
  return node.api === null ? [] : [{ name: node.name, api: node.api }];
}
