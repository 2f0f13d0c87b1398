import type { Check } from "../health/check.ts";
import type { Verdict } from "../health/verdict.ts";
import { statusOf } from "../health/verdict-status.ts";

/** What a balancer should do with a server: send it new sessions, only keep the open ones, or count it as down. */
export type ServerTarget = "up" | "drain" | "down";

/** A change that a balancer should apply to one server. */
export interface ServerChange {
  readonly backend: string;
  readonly server: string;
  /** `null`: as it is. HAProxy's checks may have changed it since the last verdict. */
  readonly target: ServerTarget | null;
  /** In percent of the weight in the balancer's configuration; `null`: as it is. */
  readonly weight: number | null;
  /** Whether the sessions of the server should be closed. */
  readonly cutsSessions: boolean;
  /** When the verdict changed, in ms of rolecall's clock. */
  readonly atMs: number;
}

/**
 * Returns what a verdict means for a server: what HAProxy's own check would conclude from its status. `null`: nothing,
 * because there is no evidence about the node: checks decide then.
 */
export function serverTargetOf(verdict: Verdict, check: Check): ServerTarget | null {
  if (verdict.fit) return "up";
  if (verdict.reason === "blind" || verdict.reason === "unknown") return null;
  return statusOf(verdict, check) === 404 ? "drain" : "down";
}
