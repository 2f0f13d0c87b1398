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
  const message = `Cannot forward the call: the address of ${node.name} must be configured or have proved itself, got ${node.api}`;
  return { status: 503, error: "unproved", message };
}
