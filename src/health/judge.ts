import type { Observation } from "../cluster/observation.ts";
import type { Check } from "./check.ts";
import { withDrain } from "./drain.ts";
import { isFresh } from "./freshness.ts";
import { judgeExporterNode } from "./judge-exporter.ts";
import { isElsewhere, mistakenIdentity } from "./identity.ts";
import { judgeLiveness } from "./liveness.ts";
import { judgeLock, judgePrimary, judgeStandbyLeader } from "./lock.ts";
import { judgeAsync, judgeQuorum, judgeReadiness, judgeReplica, judgeSync, judgeTags } from "./replica.ts";
import type { Sight, Witness } from "./sight.ts";
import { survivesOn } from "./survival.ts";
import { degraded, fit, unfit, type Verdict } from "./verdict.ts";

/**
 * Answers a check of one node. Pure: the same arguments always give the same verdict.
 * What every route needs comes first (evidence that is there, fresh, and of the right node), then the route's own rule
 * (reference/node-api.md, "Health checks: 200 when").
 */
export function judge(sight: Sight, observation: Observation, check: Check): Verdict {
  if (check.route === "liveness") return judgeLiveness(sight, observation);
  const { report } = observation;
  const isSilent = observation.isDown || sight.isBlind || !isFresh(observation, sight.maxAgeMs, sight.nowMs);
  if (isSilent && survivesOn(sight, observation, check.route)) return degraded;
  if (sight.isBlind) return unfit("blind");
  if (observation.isDown) return unfit("down", observation.failure?.kind ?? null);
  if (report === null) return unfit("unknown");
  if (!isFresh(observation, sight.maxAgeMs, sight.nowMs))
    return unfit("stale", `${Math.round((sight.nowMs - observation.sentAtMs) / 1000)}s`);
  const mistaken = mistakenIdentity(sight.part, observation, sight.settings);
  if (mistaken !== null) return unfit(mistaken, mistaken === "misaddressed" ? report.name : report.scope);
  if (check.database !== null && isElsewhere(check.database, observation.node.database)) return unfit("moved");
  const witness = { observation, report };
  const verdict = observation.node.api === null ? judgeExporterNode(sight, witness, check) : judgeRoute(sight, witness, check);
  if (sight.part.drains.size === 0) return verdict;
  return withDrain(verdict, sight, { node: observation.node.name, claims: observation.hasLock, check });
}

function judgeRoute(sight: Sight, witness: Witness, check: Check): Verdict {
  switch (check.route) {
    case "primary":
      return judgePrimary(sight, witness);
    case "standby-leader":
      return judgeStandbyLeader(sight, witness);
    case "leader":
      return judgeLock(sight, witness);
    case "replica":
      return judgeTags(judgeReplica(sight, witness, check), witness, check);
    case "read-only":
      return orLeader(sight, witness, { check, otherwise: judgeReplica });
    case "sync":
      return judgeTags(judgeSync(sight, witness, check), witness, check);
    case "read-only-sync":
      return orLeader(sight, witness, { check, otherwise: judgeSync });
    case "quorum":
      return judgeTags(judgeQuorum(sight, witness, check), witness, check);
    case "read-only-quorum":
      return orLeader(sight, witness, { check, otherwise: judgeQuorum });
    case "async":
      return judgeTags(judgeAsync(sight, witness, check), witness, check);
    case "health":
      return judgeTags(witness.report.state === "running" ? fit : unfit("not_running", witness.report.state), witness, check);
    case "liveness":
      return judgeLiveness(sight, witness.observation);
    case "readiness":
      return judgeReadiness(sight, witness, check);
  }
}

interface Alternative {
  readonly check: Check;
  readonly otherwise: (sight: Sight, witness: Witness, check: Check) => Verdict;
}

/** A `read-only` route: the primary or the standby leader, else what the plain route says. */
function orLeader(sight: Sight, witness: Witness, { check, otherwise }: Alternative): Verdict {
  const isLeader = judgePrimary(sight, witness).fit || judgeStandbyLeader(sight, witness).fit;
  return judgeTags(isLeader ? fit : otherwise(sight, witness, check), witness, check);
}
