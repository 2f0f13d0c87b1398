/** Where the documentation explains a reason. */
import type { Reason } from "./reason.ts";

/**
 * @param reason why a node is unfit
 * @returns the section of the page on reasons, relative to the package: `docs/reasons.md#lagging`
 */
export function reasonLink(reason: Reason): string {
  return `docs/reasons.md#${reason}`;
}
