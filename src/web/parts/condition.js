/** How well nodes and clusters are. Each condition has a colour, a shape and a word: no meaning lies in colour alone. */

/** Worst first, in the order and by the names of rolecall (`situation.condition`). */
export const conditions = [
  { name: "two primaries", word: "two primaries", tone: "bad" },
  { name: "without a primary", word: "no primary", tone: "bad" },
  { name: "blind", word: "blind", tone: "bad" },
  { name: "without nodes", word: "no nodes", tone: "bad" },
  { name: "degraded", word: "degraded", tone: "warn" },
  { name: "warning", word: "warning", tone: "warn" },
  { name: "drained", word: "drained", tone: "idle" },
  { name: "ok", word: "ok", tone: "ok" },
];

const byName = new Map(conditions.map((condition, rank) => [condition.name, { ...condition, rank }]));

/** The condition of a cluster, from its fleet row. */
export function conditionOf(row) {
  return byName.get(row.condition);
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

/** Whether several nodes claim the lead. */
export function rivalsOf({ nodes }) {
  const claims = nodes.filter(
    ({ role, verdicts }) => role === "primary" || ["contested", "superseded"].includes(verdicts.primary),
  );
  return claims.length > 1 ? claims.map(({ node }) => node) : [];
}

const collator = new Intl.Collator("en", { numeric: true });

/** Numbers count as numbers: pg2 before pg10. */
export function compareNames(one, other) {
  return collator.compare(one, other);
}
