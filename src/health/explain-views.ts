import type { Decision, LostClaim } from "../cluster/snapshot.ts";
import type { RuleLine } from "./explain.ts";
import { seconds, type Subject } from "./explain-line.ts";
import type { Sight } from "./sight.ts";
import { countingViews } from "./testimony.ts";

const decisions: Readonly<Record<Exclude<Decision, "sole" | "views">, string>> = {
  own_view: "tied claims, of which only this node is named by its own view",
  stood_last: "tied claims, of which this node is the last accepted leader",
  timeline: "tied claims, of which this node is on the highest timeline",
  receivers: "the node that the standbys receive from",
};

/** Who holds the lock and what decided it: `held by pg2, whom the views of pg1, pg3 name`. */
export function decisionOf({ standing, part }: Sight): string {
  const lost = [...part.lost].filter(([node]) => standing.claims.some((claim) => claim.node.name === node)).map(lossOf);
  return [`held by ${standing.holder ?? "nobody"}${reasonOf({ standing, part })}`, ...lost].join("; ");
}

function reasonOf({ standing, part }: Pick<Sight, "standing" | "part">): string {
  const { leadership } = part;
  if (standing.isContested) return ": the claims are tied";
  if (standing.holder === null || leadership.kind !== "held") return "";
  switch (leadership.by) {
    case "sole":
      return standing.claims.length > 1 ? ": the only claim that no view overrules" : "";
    case "views":
      return `: named by most views (of ${leadership.witnesses.join(", ")})`;
    case "own_view":
    case "stood_last":
    case "timeline":
    case "receivers":
      return `: ${decisions[leadership.by]}`;
  }
}

function lossOf([node, { witnesses }]: readonly [string, LostClaim]): string {
  return witnesses.length === 1 && witnesses[0] === node
    ? `the claim of ${node} is overruled by its own view`
    : `the claim of ${node} is overruled by the views of ${witnesses.join(" and ")}`;
}

/** The views of who leads, as they count at this instant. They refuse nothing by themselves: the lock's rule says what came of them. */
export function viewsRule({ sight }: Subject): RuleLine {
  const { part, settings, nowMs } = sight;
  const views = countingViews(part, settings, nowMs);
  const told = views.map(
    ({ witness, names, requestedAtMs }) => `${witness} names ${names ?? "nobody"} (${seconds(nowMs - requestedAtMs)} ago)`,
  );
  const failed = [...part.failedViews.keys()].map((node) => `no view from ${node}`);
  const newestMs = Math.max(...views.map(({ requestedAtMs }) => requestedAtMs));
  return {
    rule: "views of who leads",
    outcome: "pass",
    value: [...told, ...failed].join(", ") || "none",
    limit: `younger than ${seconds(settings.viewMaxAgeMs)}`,
    ageMs: views.length === 0 ? null : Math.round(nowMs - newestMs),
    source: "GET /cluster of each",
    reason: null,
  };
}
