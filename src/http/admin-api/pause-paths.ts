import type { Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** A path of `/pauses`, `/pauses/{run}` or `/pauses/{run}/heartbeat`. */
export interface PausePath {
  /** `null` for `/pauses` itself. */
  readonly run: string | null;
  readonly isHeartbeat: boolean;
}

/**
 * Reads the target of a call about pauses, whatever its method is. Authorization and routing both use this function, so
 * that no spelling of another path passes with a pause token.
 * @returns `null` for any other target
 */
export function readPausePath({ target }: Pick<Request, "target">): PausePath | null {
  const parsed = parseRequestTarget(target);
  if ("problem" in parsed || parsed.cluster !== null || parsed.node !== null) return null;
  const match = /^pauses(?:\/([\w.:-]{1,128})(\/heartbeat)?)?$/.exec(parsed.path);
  return match === null ? null : { run: match[1] ?? null, isHeartbeat: match[2] !== undefined };
}
