/** One text for all states that no rule can tell apart. */
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";

/** Longer than every duration of the explored policy, in ms: of older instants only the order matters. */
const horizonMs = 4_000;

/** Fields that no verdict depends on. */
const ignored: ReadonlySet<string> = new Set([
  "sequence",
  "revision",
  "sentAtWallMs",
  "documents",
  "index",
  "name",
  "node",
  "scope",
  "isMembershipKnown",
  // Only limits of lag depend on these.
  "lastStatement",
  "statedOn",
  "document",
]);
/** Fields that hold instants, or collections of instants. */
const instants: ReadonlySet<string> = new Set([
  "sentAtMs",
  "claimedSinceMs",
  "deniedSinceMs",
  "lastHeldAtMs",
  "failedAtMs",
  "countedAtMs",
  "listedAtMs",
  "answeredAtMs",
  "repeatedAtMs",
  "newestReportAtMs",
  "atMs",
  "viewSentAtMs",
  "failedViews",
  "heldUntilMs",
  "pastSinceMs",
  "sinceMs",
  "replayedSinceMs",
  "readAtMs",
  "heldSinceMs",
]);

/**
 * Returns a text that two states share only if every rule judges them alike, now and after the same further events.
 * Instants are ages. The order of ages beyond every duration of the policy is kept, because rules compare instants.
 * @param nowMs the instant at which the state is judged, in ms of rolecall's clock
 */
export function canonical(cluster: ClusterState, nowMs: number): string {
  const found = new Set<number>();
  collect(cluster, false, found);
  const old = [...found].filter((age) => nowMs - age > horizonMs).toSorted((one, other) => other - one);
  const ages = new Map(old.map((instant, rank) => [instant, `old${rank}`]));
  const ageOf = (instant: number): string => ages.get(instant) ?? String(nowMs - instant);
  return write(cluster, false, ageOf);
}

function collect(value: unknown, isInstant: boolean, found: Set<number>): void {
  if (typeof value === "number") {
    if (isInstant && Number.isFinite(value)) found.add(value);
  } else if (value instanceof Map) for (const item of value.values()) collect(item, isInstant, found);
  else if (Array.isArray(value)) for (const item of value) collect(item, isInstant, found);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      if (!ignored.has(key) && key !== "report") collect(item, instants.has(key), found);
}

const reportIds = new WeakMap<object, string>();
let reportsSeen = 0;

/** Reports are constants of the alphabet. */
function reportId(report: object): string {
  const id = reportIds.get(report) ?? `r${(reportsSeen += 1)}`;
  reportIds.set(report, id);
  return id;
}

function write(value: unknown, isInstant: boolean, ageOf: (instant: number) => string): string {
  if (typeof value === "number") return isInstant && Number.isFinite(value) ? ageOf(value) : String(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, isInstant, ageOf)).join()}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${String(key)}=${write(item, isInstant, ageOf)}`);
    return `{${entries.toSorted().join()}}`;
  }
  let text = "";
  for (const [key, item] of Object.entries(value))
    if (key === "report" && typeof item === "object" && item !== null) text += reportId(item);
    else if (key === "answersInRow")
      text += Number(item) > 0 ? "+" : "-"; // `rise` is 1
    else if (!ignored.has(key)) text += `${write(item, instants.has(key), ageOf)};`;
  return `(${text})`;
}
