import type { Host, Opened } from "../../core/feature/feature.ts";
import { nodeProbes } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { companionProbes } from "./node-companions.ts";

/** Checks companions with the other probes of their nodes, until the scope ends. */
export function openCompanions({ offers }: Pick<Host, "offers">, scope: Pick<Scope, "hold">): Opened {
  scope.hold("what is offered", nodeProbes.bring(offers, companionProbes()));
  return { configure: () => {} };
}
