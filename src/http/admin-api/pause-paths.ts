import type { Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** A path of `/pauses`, `/pauses/{run}`, `/pauses/{run}/heartbeat`, `/claims` or `/claims/{run}`. */
export interface PausePath {
  readonly kind: "pauses" | "claims";
  /** `null` for `/pauses` or `/claims` itself. */
  readonly run: string | null;
  readonly isHeartbeat: boolean;
}

/**
 * Reads the target of a call of another rolecall about its runs, whatever its method is. Authorization and routing both use this function, so
 * that no spelling of another path passes with a pause token.
 * @returns `null` for any other target
 */
export function readPausePath({ target }: Pick<Request, "target">): PausePath | null {
  const parsed = parseRequestTarget(target);
  if ("problem" in parsed || parsed.cluster !== null || parsed.node !== null) return null;
  const match = /^(pauses|claims)(?:\/([\w.:-]{1,128})(\/heartbeat)?)?$/.exec(parsed.path);
  if (match === null) return null;
  const [, kind, run = null, heartbeat] = match;
  if (kind === "claims") return heartbeat === undefined ? { kind, run, isHeartbeat: false } : null;
  return { kind: "pauses", run, isHeartbeat: heartbeat !== undefined };
}
