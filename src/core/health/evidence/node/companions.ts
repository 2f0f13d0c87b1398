import type { Companion, CompanionEvidence } from "../../../cluster/companion.ts";
import type { DatabaseAddress, Node } from "../../../cluster/node.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/**
 * Where a node's companion listens: at its configured address, else at the companion's port on the host of the node's
 * database or, while that is not known, of its API or its exporter. `null` if no host is known.
 */
export function companionAddress(
  { name, api, exporter, database }: Pick<Node, "name" | "api" | "exporter" | "database">,
  { port, at }: Companion,
): DatabaseAddress | null {
  const configured = at.get(name);
  if (configured !== undefined) return configured;
  const base = api ?? exporter;
  const host = database?.host ?? (base === null ? null : new URL(base).hostname.replace(/^\[|\]$/g, ""));
  return host === null ? null : { host, port };
}

/**
 * How a companion is judged. `unknown`: no check of it has ended; `down`: it failed `fall` times in a row, or never
 * answered; `stale`: its last answer is too old.
 */
export type CompanionState = "up" | "down" | "stale" | "unknown";

/** The state of a companion at an instant, in ms of rolecall's clock (rule 15). */
export function companionState(
  evidence: CompanionEvidence | undefined,
  { maxAgeMs }: Pick<HealthPolicy, "maxAgeMs">,
  nowMs: number,
): CompanionState {
  if (evidence === undefined) return "unknown";
  if (evidence.isDown || evidence.sentAtMs === -Infinity) return "down";
  return nowMs < evidence.sentAtMs + maxAgeMs ? "up" : "stale";
}

/** Keeps what is known of the companions that are configured. The same object where that is all. */
export function onlyCompanions(
  companions: Observation["companions"],
  configured: readonly string[],
): Observation["companions"] {
  if ([...companions.keys()].every((name) => configured.includes(name))) return companions;
  return new Map([...companions].filter(([name]) => configured.includes(name)));
}
