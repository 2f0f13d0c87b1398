const pattern = /^(\d{1,15}(?:\.\d{1,15})?)(ms|s|min|h|d)$/;

/** The longest span anyone may write: ten years. It keeps sums of durations far from the edge of exact numbers. */
const longestMs = 10 * 365 * 86_400_000;

/**
 * Reads a span of time with its unit: `500ms`, `1.5s`, `2min`, `1h`, `1d` (design.md, "The node dialect": ms, s, min, h).
 * Returns whole milliseconds, rounded; `undefined` when there is no unit, a sign, or more than ten years.
 */
export function parseDuration(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, amount = "", unit = ""] = match;
  const ms = Math.round(Number(amount) * millisecondsIn(unit));
  return ms <= longestMs ? ms : undefined;
}

function millisecondsIn(unit: string): number {
  switch (unit) {
    case "s":
      return 1000;
    case "min":
      return 60_000;
    case "h":
      return 3_600_000;
    case "d":
      return 86_400_000;
    default:
      return 1;
  }
}
