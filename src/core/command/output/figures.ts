import { formatByteSize } from "../../cluster/values/byte-size.ts";

/** Formats a duration in ms for people: `0.4 s`, `12 s`, `3 min`, `5 h`, `9 d`. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 2 * 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** Formats a lag in bytes, or `-` if it is unknown. */
export function formatLag(bytes: number | null): string {
  return bytes === null ? "-" : formatByteSize(bytes);
}

/** Formats a duration in ms, or `-` if it is unknown. */
export function formatKnownDuration(ms: number | null): string {
  return ms === null ? "-" : formatDuration(ms);
}

const bars = "▁▂▃▄▅▆▇█";

/** Renders values as a line of bars. The highest value has full height; `null` is a gap. */
export function sparkline(values: readonly (number | null)[]): string {
  const highest = Math.max(1, ...values.filter((value) => value !== null));
  return values
    .map((value) =>
      value === null
        ? " "
        : (bars[Math.min(bars.length - 1, Math.floor((value / highest) * (bars.length - 1) + 0.5))] ?? " "),
    )
    .join("");
}
