import { oneNodeRoutes, type Route } from "../../health/route.ts";

/** The text of a pool's check. `min` and `zones` of the pool are the parameters `keep` and `zone` of the check. */
export function poolCheckText({
  check,
  min,
  zones,
}: {
  readonly check: string;
  readonly min: number | null;
  readonly zones: readonly string[];
}): string {
  const added = [...(min === null ? [] : [`keep=${min}`]), ...(zones.length === 0 ? [] : [`zone=${zones.join(",")}`])];
  return added.reduce((text, parameter) => `${text}${text.includes("?") ? "&" : "?"}${parameter}`, check);
}

/**
 * The text of the check that HAProxy sends for a pool. In a pool for reads, a soft no drains a server (`miss=404`), so
 * that a lagging replica keeps its sessions, unless the check says otherwise.
 */
export function balancedCheckText(checkText: string, route: Route): string {
  if (oneNodeRoutes.has(route) || /[?&]miss=/.test(checkText)) return checkText;
  return `${checkText}${checkText.includes("?") ? "&" : "?"}miss=404`;
}
