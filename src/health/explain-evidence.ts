import type { RuleLine } from "./explain.ts";
import { line, seconds, skipped, type Subject } from "./explain-line.ts";
import { isFresh, lockBoundMs } from "./freshness.ts";
import { isElsewhere, mistakenIdentity } from "./identity.ts";
import { isRefusing } from "./liveness.ts";
import { withholdsPassword } from "./node-password.ts";
import { survivesOn } from "./survival.ts";

/** Rules 1, 8 and 9: is there evidence, and may it be believed. */
export function evidenceRules(subject: Subject): readonly RuleLine[] {
  const { sight, observation, check } = subject;
  const { part, settings, nowMs, maxAgeMs } = sight;
  if (check.route === "liveness") return [livenessRule(subject)];
  const newestMs = nowMs - part.newestAtMs;
  const blind = line(subject, {
    rule: "not blind",
    value: Number.isFinite(newestMs) ? `newest report of any node is ${seconds(newestMs)} old` : "no node has ever answered",
    limit: part.nodes.length > 1 ? `some node within ${seconds(maxAgeMs)}` : "does not apply to a single node",
    refusal: sight.isBlind ? "blind" : null,
    source: "all nodes",
  });
  const { failuresInRow, failure } = observation;
  const reachable = line(subject, {
    rule: "reachable",
    value: failure === null ? "last probe was answered" : `${failuresInRow} failed in a row: ${failure.kind} (${failure.detail})`,
    limit: `down after ${settings.fall} in a row, back after ${settings.rise}`,
    refusal: observation.isDown ? "down" : null,
  });
  if (observation.report === null) {
    const unseen = line(subject, { rule: "freshness", value: "it has never answered", refusal: "unknown" });
    return [blind, reachable, unseen];
  }
  const bound = `max_age ${seconds(settings.maxAgeMs)}, ttl - loop_wait - retry_timeout ${seconds(lockBoundMs(part))}`;
  const fresh = line(subject, {
    rule: "freshness",
    value: `report is ${seconds(nowMs - observation.sentAtMs)} old`,
    limit: `${seconds(maxAgeMs)} (${bound})`,
    refusal: isFresh(observation, maxAgeMs, nowMs) ? null : "stale",
  });
  return [blind, reachable, fresh, ...survivalRules(subject)];
}

/** The one exception to rule 1, where it is made: what was refused above is a yes by the exporter's word. */
function survivalRules(subject: Subject): readonly RuleLine[] {
  const { sight, observation, check } = subject;
  const { lastHeldAtMs, exporter } = observation;
  if (lastHeldAtMs === null || !survivesOn(sight, observation, check.route)) return [];
  const { streaming } = exporter?.page ?? { streaming: null };
  return [
    line(subject, {
      rule: "survival",
      value: `its exporter shows a primary at work with ${streaming ?? 0} standbys streaming; it held the lock ${seconds(sight.nowMs - lastHeldAtMs)} ago`,
      limit: `${seconds(Math.min(sight.settings.guards.surviveMs, lockBoundMs(sight.part)))} (guard survive)`,
      source: `exporter of ${observation.node.name}`,
    }),
  ];
}

/** Rule 7: is it the node, and the database, that is meant. */
export function identityRules(subject: Subject): readonly RuleLine[] {
  const { sight, observation, check } = subject;
  const { report, node } = observation;
  if (report === null || check.route === "liveness") return [];
  const { part } = sight;
  const system = part.position?.system ?? null;
  const identity = sight.settings.guards.sameSystem
    ? line(subject, {
        rule: "identity",
        value: `scope ${report.scope}, name ${report.name ?? "not stated"}, system ${report.system}`,
        limit: `scope ${part.scope}, name ${node.member}, system ${system ?? "not known yet"}`,
        refusal: mistakenIdentity(part, observation, sight.settings),
      })
    : skipped("identity", "guard same_system is off");
  const password = withholdsPassword(node, sight.settings)
    ? [skipped("node password", `withheld: ${node.api} is not https and comes from a member list, not from the configuration`)]
    : [];
  if (check.database === null) return [identity, ...password];
  const known = node.database === null ? "not known" : `${node.database.host}:${node.database.port}`;
  const address = line(subject, {
    rule: "database address",
    value: `the check says ${check.database.host}:${check.database.port}`,
    limit: known,
    refusal: isElsewhere(check.database, node.database) ? "moved" : null,
    source: "the check",
  });
  return [identity, ...password, address];
}

function livenessRule(subject: Subject): RuleLine {
  const { sight, observation } = subject;
  const { liveness } = observation;
  const isRecent = liveness !== null && sight.nowMs - liveness.sentAtMs < sight.settings.livenessMaxAgeMs;
  const refuses = isRefusing(sight, observation);
  const isDead = isRecent && !liveness.isAlive;
  const said = liveness === null ? "never heard" : `${liveness.isAlive ? "200" : "503"}, ${seconds(sight.nowMs - liveness.sentAtMs)} ago`;
  const refusal = refuses || isDead ? "down" : observation.report === null && liveness === null ? "unknown" : null;
  return {
    ...line(subject, {
      rule: "heartbeat",
      value: refuses ? "connections are refused" : said,
      limit: "only a fresh 503 or refused connections say no",
      refusal,
    }),
    ageMs: liveness === null ? null : Math.round(sight.nowMs - liveness.sentAtMs),
    source: `GET /liveness of ${observation.node.name}`,
  };
}
