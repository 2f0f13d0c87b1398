import { extentOf, type Drain } from "../../cluster/drain.ts";
import type { Reading } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

/** Reads an operator's drain of a node, or `null`, which ends a drain. */
export function recordedDrain(section: Reading, { atMs, beganWallMs }: Surroundings): Drain | null {
  if (section.isNull) return null;
  const value = section.mapping(["for", "reason", "by", "all", "distrust"]);
  const untilMs = atMs + value("for").instant();
  const isoOf = (ms: number): string => new Date(beganWallMs + ms).toISOString();
  return {
    reason: value("reason").text("drained"),
    by: value("by").statement(null),
    extent: extentOf({ all: value("all").flag(false), distrust: value("distrust").flag(false) }),
    untilMs,
    since: isoOf(atMs),
    until: isoOf(untilMs),
  };
}
