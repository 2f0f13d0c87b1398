/** The text of a pool's check. `min` of the pool is the parameter `keep` of the check. */
export function poolCheckText({ check, min }: { readonly check: string; readonly min: number | null }): string {
  return min === null ? check : `${check}${check.includes("?") ? "&" : "?"}keep=${min}`;
}
