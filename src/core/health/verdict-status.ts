import type { Check } from "./check.ts";
import { isSoft } from "./reason.ts";
import type { Unfit } from "./verdict.ts";

/**
 * Returns the status of an unfit verdict: 503, unless the check states another one (docs/reasons.md). A check for open
 * sessions has 200 and 503 alone.
 */
export function statusOf({ reason }: Unfit, check: Check): number {
  if (check.isForSessions) return 503;
  if (reason === "blind") return 500;
  if (reason === "down" || reason === "stale" || reason === "unknown") return check.unknownStatus;
  return isSoft(reason) ? check.missStatus : 503;
}
