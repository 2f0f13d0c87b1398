import type { Host, Opened } from "../../feature/feature.ts";
import { nodeProbes } from "../../feature/offers.ts";
import type { Scope } from "../../feature/scope.ts";
import { companionProbes } from "./node-companions.ts";

/** Checks companions with the other probes of their nodes, until the scope ends. */
export function openCompanions({ offers }: Pick<Host, "offers">, scope: Pick<Scope, "hold">): Opened {
  scope.hold("what is offered", nodeProbes.bring(offers, companionProbes()));
  return { configure: () => {} };
}
