import type { ClusterPart, Testimony } from "../cluster/snapshot.ts";

/**
 * The newest word on who leads: of all nodes that were asked for the cluster document, by when they were asked (design.md, rules 2 and 4).
 * @param counts whether a node's word may be heard; all are where it is left out
 * @returns `undefined` where no word counts
 */
export function newestTestimony(
  part: ClusterPart,
  counts: (witness: string, testimony: Testimony) => boolean = () => true,
): Testimony | undefined {
  let newest: Testimony | undefined;
  for (const [witness, testimony] of part.testimonies) {
    if (testimony.sentAtMs > (newest?.sentAtMs ?? -Infinity) && counts(witness, testimony)) newest = testimony;
  }
  return newest;
}
