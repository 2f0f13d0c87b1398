import { nodeNamed } from "../../../core/cluster/lookup.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { isHeard } from "../../../core/health/evidence/node/freshness.ts";
import { nodeMarks } from "../../../core/health/evidence/node/plans.ts";
import { checkCall } from "../../../core/health/calls/check-call.ts";
import { countText, listText } from "../../../core/health/wording.ts";
import type { RestartRequest } from "../machine/plan.ts";
import { medianOf } from "./forecast.ts";
import { leaderLine } from "./leader-lines.ts";
import { errorLine, okLine, type PreflightLine, warningLine } from "./preflight-line.ts";

/** How many of the last restarts count. */
const seenMax = 10;

/** What stands against the restart of the database of a node, and what is known of it. */
export function restartLines(view: ClusterView, node: string, restart: RestartRequest): readonly PreflightLine[] {
  return [
    ...(restart.isLeader ? [leaderLine(view, node)] : []),
    nodeLine(view, node, restart),
    ...dcsLines(view, restart),
    ...callLines(view, node),
  ];
}

function nodeLine(
  view: ClusterView,
  node: string,
  { isLeader, startedAt, onlyIfPending }: RestartRequest,
): PreflightLine {
  const observation = nodeNamed(view.cluster, node);
  const hint = "Wait until it runs: rolecall status shows what it says.";
  if (observation === undefined || observation.report === null || !isHeard(view, observation) || observation.isDown)
    return errorLine(node, "must answer, got no fresh report", hint);
  const { report } = observation;
  if (report.state !== "running") return errorLine(node, `must run, got the state ${report.state}`, hint);
  if (startedAt === "" || report.startedAt === null)
    return errorLine(
      node,
      "must state when its PostgreSQL has started (postmaster_start_time), got none: nobody could see that it is restarted",
      "Restart it without --seamless.",
    );
  const { pending_restart: isPending, pending_restart_reason: reasons } = nodeMarks(report);
  if (onlyIfPending && !isPending)
    return errorLine(node, "must wait for a restart, got no parameter that does", "Leave out --pending.");
  const why = isPending ? `; ${reasons.length === 0 ? "parameters wait" : listText(reasons)} for a restart` : "";
  return okLine(node, `the ${isLeader ? "leader" : "replica"} runs since ${report.startedAt}${why}`);
}

/** A leader that cannot reach the DCS comes back as a replica. */
function dcsLines({ cluster }: ClusterView, { isLeader }: RestartRequest): readonly PreflightLine[] {
  if (!isLeader) return [];
  const failsafe = cluster.nodes.find(({ report }) => report?.isFailsafe === true);
  if (failsafe !== undefined)
    return [
      errorLine(
        cluster.name,
        `must reach its DCS, got failsafe mode of ${failsafe.node.name}: after a restart nobody leads`,
        "Wait until the DCS is back.",
      ),
    ];
  if (cluster.dcs?.isUp !== false) return [];
  const text = `its DCS cannot be watched (${cluster.dcs.failure?.detail ?? "not read yet"}): it may be down`;
  return [
    warningLine(cluster.name, text, "Look at the DCS first: while it is down, a leader that restarts leads no more."),
  ];
}

/** Why the gateway would refuse the call by the evidence. */
function callLines(view: ClusterView, node: string): readonly PreflightLine[] {
  const target = nodeNamed(view.cluster, node);
  if (target === undefined) return [];
  const call = { name: "restart", method: "POST", cluster: view.cluster.name, node, isDryRun: true } as const;
  const refusal = checkCall({ call, body: Buffer.alloc(0), view, target, wallMs: 0 });
  return refusal === null ? [] : [errorLine(node, refusal.message, "Read the message.")];
}

/** How long clients will wait: as long as in the last restarts of this node, in ms; `null` without one. */
export function restartForecast(heldMs: readonly number[]): number | null {
  return medianOf(heldMs.slice(-seenMax));
}

/** @param deadlineMs how long clients may be held at most, in ms */
export function restartForecastLine(heldMs: readonly number[], deadlineMs: number): PreflightLine {
  const subject = "forecast";
  const waitMs = restartForecast(heldMs);
  if (waitMs === null)
    return okLine(
      subject,
      `clients will wait as long as PostgreSQL takes to stop, with its checkpoint, and to start, ${deadlineMs / 1_000} s at most: no restart was seen here`,
    );
  const seen = countText(Math.min(heldMs.length, seenMax), "restart");
  const text = `clients will wait about ${(waitMs / 1_000).toFixed(1)} s (median of the last ${seen} here)`;
  if (waitMs < deadlineMs) return okLine(subject, text);
  return warningLine(
    subject,
    `${text}: at the deadline of ${deadlineMs / 1_000} s they go on without the database`,
    "Allow a longer deadline.",
  );
}
