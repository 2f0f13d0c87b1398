import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../health/freshness.ts";
import { mistakenIdentity } from "../health/identity.ts";
import { standing } from "../health/leader.ts";
import type { Probing } from "./probing.ts";

/** Whom to ask for the cluster's documents. */
export interface Witness {
  readonly name: string;
  readonly api: string;
}

/**
 * Chooses one node to ask: one that answers, rather one that does not claim the lock itself, for its word counts against
 * a false claim (design.md, rule 2). Where no node answers, seeds and nodes are tried in turn. In failsafe nobody is asked:
 * the DCS is known to be down (rule 8).
 * @param turn counts failed askings, so that the next goes elsewhere
 */
export function chooseWitness(probing: Probing, seeds: readonly string[], turn: number): Witness | null {
  const part = probing.part();
  const nowMs = probing.now();
  const maxAge = maxAgeMs(part, probing.settings);
  const answering = part.nodes.filter(
    (node) =>
      node.node.api !== null &&
      !node.isDown &&
      node.failuresInRow === 0 &&
      isFresh(node, maxAge, nowMs) &&
      mistakenIdentity(part, node, probing.settings) === null,
  );
  if (answering.some((node) => node.report?.isFailsafe === true)) return null;
  const claims = new Set(standing(part, probing.settings, nowMs).claims.map(({ node }) => node.name));
  const neutral = answering.filter(({ node }) => !claims.has(node.name));
  const candidates = neutral.length > 0 ? neutral.flatMap(witness) : answering.flatMap(witness);
  const nobodyAnswers = (): Witness[] => [...seeds.flatMap((api) => seedOf(part, api)), ...part.nodes.flatMap(witness)];
  return pick(candidates.length > 0 ? candidates : nobodyAnswers(), turn);
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

function pick(candidates: readonly Witness[], turn: number): Witness | null {
  return candidates[turn % candidates.length] ?? null;
}
