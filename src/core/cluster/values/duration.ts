const pattern = /^(\d{1,15}(?:\.\d{1,15})?)(ms|s|min|m|h|d)$/;

/** The longest duration: ten years. It keeps sums of durations within exact numbers. */
const longestMs = 10 * 365 * 86_400_000;

/**
 * Parses a duration with its unit: `500ms`, `1.5s`, `2min` or `2m`, `1h`, `1d`. Options, files and queries are read
 * alike. Returns whole milliseconds, rounded; `undefined` without a unit, with a sign, or past ten years.
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
    case "m":
      return 60_000;
    case "h":
      return 3_600_000;
    case "d":
      return 86_400_000;
    default:
      return 1;
  }
}
