/** How well nodes and clusters are. Each condition has a colour, a shape and a word: no meaning lies in colour alone. */

/**
 * Worst first, as `clusterConditionWords` has them (src/core/health/conditions/cluster-condition.ts), with which a test compares
 * them.
 */
export const conditions = [
  { name: "two primaries", word: "two primaries", tone: "bad" },
  { name: "without a primary", word: "no primary", tone: "bad" },
  { name: "blind", word: "blind", tone: "bad" },
  { name: "without nodes", word: "no nodes", tone: "bad" },
  { name: "clients failing", word: "clients failing", tone: "bad" },
  { name: "degraded", word: "degraded", tone: "warn" },
  { name: "warning", word: "warning", tone: "warn" },
  { name: "drained", word: "drained", tone: "idle" },
  { name: "ok", word: "ok", tone: "ok" },
];

const byName = new Map(conditions.map((condition, rank) => [condition.name, { ...condition, rank }]));

/** The condition of a cluster, from its fleet row or its situation. */
export function conditionOf(row) {
  return byName.get(row.condition);
}

/** Whether a tone means trouble. */
export function isProblem(tone) {
  return tone === "bad" || tone === "warn";
}

const nodeTones = { ok: "ok", drained: "idle", warning: "warn", unfit: "bad" };

/** The tone of a node: of its mark and its card. */
export function toneOf({ condition }) {
  return nodeTones[condition] ?? "bad";
}

const severityTones = { info: "ok", warning: "warn", error: "bad" };

/** The tone of an event. `rolecall history` colours severities alike. */
export function toneOfEvent({ severity }) {
  return severityTones[severity];
}

/** Whether what a node reported says nothing of the present: it is shown in grey, as "last known". */
export function isStale({ evidence }) {
  return evidence !== "fresh";
}

/** Rules of one report have equal ages but for the time between two requests, in ms. */
const ageSlackMs = 3_000;

/** Whether a rule rests on what a node reported last, which says nothing of the present. */
export function isLastKnown({ age_ms: ageMs, source }, node) {
  if (source === "all nodes") return false;
  return isStale(node) && ageMs !== null && node.age_ms !== null && ageMs >= node.age_ms - ageSlackMs;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Numbers count as numbers: pg2 before pg10. */
export function compareNames(one, other) {
  return collator.compare(one, other);
}
