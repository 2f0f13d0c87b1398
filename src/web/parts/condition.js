/** How well nodes and clusters are. Each condition has a colour, a shape and a word: no meaning lies in colour alone. */

/** Worst first. */
export const conditions = [
  { name: "conflict", word: "two claim the lead", tone: "bad" },
  { name: "lost", word: "no primary", tone: "bad" },
  { name: "blind", word: "blind", tone: "bad" },
  { name: "empty", word: "no nodes", tone: "bad" },
  { name: "degraded", word: "degraded", tone: "warn" },
  { name: "warning", word: "warning", tone: "warn" },
  { name: "drained", word: "drained", tone: "idle" },
  { name: "ok", word: "ok", tone: "ok" },
];

const byName = new Map(conditions.map((condition, rank) => [condition.name, { ...condition, rank }]));

/** The condition of a cluster, from its fleet row. */
export function conditionOf(row) {
  return byName.get(nameOf(row));
}

function nameOf({ nodes, blind, primary, problem_count: problems, warnings, drains, rivals }) {
  if (nodes === 0) return "empty";
  if (blind) return "blind";
  if (rivals > 0) return "conflict";
  if (primary === null) return "lost";
  if (problems > 0) return "degraded";
  if (warnings > 0) return "warning";
  return drains > 0 ? "drained" : "ok";
}

/** The tone of a node: of its mark and its card. */
export function toneOf({ reason, warning, drain }) {
  if (reason === "drained" && drain !== null) return "idle";
  if (reason !== null) return "bad";
  return warning === null ? "ok" : "warn";
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
