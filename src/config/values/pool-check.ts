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
