import { oneNodeRoutes, type Route } from "../../health/route.ts";

/** The text of a pool's check. `min`, `zones` and `with` of the pool are the
 * parameters `keep`, `zone` and `with` of the check. */
export function poolCheckText({
  check,
  min,
  zones,
  with: companions,
}: {
  readonly check: string;
  readonly min: number | null;
  readonly zones: readonly string[];
  readonly with: readonly string[];
}): string {
  const added = [
    ...(min === null ? [] : [`keep=${min}`]),
    ...(zones.length === 0 ? [] : [`zone=${zones.join(",")}`]),
    ...(companions.length === 0 ? [] : [`with=${companions.join(",")}`]),
  ];
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
