import type { Node } from "../../cluster/node.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Refuses to pass a call, and the node password, to an address that only a member list gives: anybody who can add a
 * member to a list could receive them (rule 10).
 */
export function refuseUnproved({ node, proof }: Observation): Refusal | null {
  if (proof === "seed") {
    const message =
      `Cannot forward the call: ${node.name} is reached at ${node.api} alone, which its cluster does not list. ` +
      "Put it under nodes, with this address";
    return { status: 409, error: "unlisted_address", message };
  }
  if (proof !== "none" || node.isFixed) return null;
  return unproved(node, "must be configured or have proved itself");
}

/** Refuses to pass a call to an address that another instance gives, and that has not proved itself here. */
export function refuseHearsay(node: Node): Refusal {
  return unproved(node, "is another instance's word: it must be configured here or prove itself here");
}

function unproved({ name, api }: Node, what: string): Refusal {
  const message = `Cannot forward the call: the address of ${name} ${what}, got ${api}`;
  return { status: 503, error: "unproved", message };
}
