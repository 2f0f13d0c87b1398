import type { Check } from "../health/check.ts";
import type { Verdict } from "../health/verdict.ts";
import { statusOf } from "../health/verdict-status.ts";

/** What a balancer should do with a server: send it new sessions, only keep the open ones, or count it as down. */
export type ServerTarget = "up" | "drain" | "down";

/** A change that a balancer should apply to one server. */
export interface ServerChange {
  readonly backend: string;
  readonly server: string;
  /** `null`: the verdict gives no new one, so the server keeps its state, which HAProxy's checks may have changed. */
  readonly target: ServerTarget | null;
  /** In percent of the weight in the balancer's configuration; `null`: the server keeps its weight. */
  readonly weight: number | null;
  /** Whether the sessions of the server should be closed. */
  readonly cutsSessions: boolean;
  /** When the verdict changed, in ms of rolecall's clock. */
  readonly atMs: number;
}

/**
 * Returns what HAProxy would conclude from the status of a verdict if it sent the check itself. Status 404 drains the
 * server, as with `http-check disable-on-404`.
 */
export function serverTargetOf(verdict: Verdict, check: Check): ServerTarget {
  if (verdict.fit) return "up";
  return statusOf(verdict, check) === 404 ? "drain" : "down";
}
