import type { Observation } from "../../cluster/observation.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { Check } from "../../health/check.ts";
import { isFresh } from "../../health/evidence/freshness.ts";
import { presentLag } from "../../health/judge/lag.ts";
import { isSoft } from "../../health/reason.ts";
import type { ClusterView } from "../../health/evidence/cluster-view.ts";
import { fit, type Unfit, type Verdict } from "../../health/verdict.ts";
import { jsonReply, printable, type Reply } from "../message/reply.ts";

/** The judged node, and the snapshot and view that it was judged in. */
export interface JudgedNode {
  readonly snapshot: Snapshot;
  readonly view: ClusterView;
  /** The requested node, or the one chosen for the cluster; `null` if there is none. */
  readonly observation: Observation | null;
}

/** Returns the reply to a check: the node's own document with the verdict as `rolecall` (design.md, "The node API"). */
export function verdictReply(answered: JudgedNode, verdict: Verdict, check: Check): Reply {
  const name = printable(answered.observation?.node.name ?? "-");
  const body = statusBody(answered, verdict);
  if (verdict.fit) {
    const degraded = verdict.isDegraded ? ["X-Rolecall-Degraded", "true"] : [];
    return jsonReply({ code: 200, phrase: "OK" }, body, ["X-Rolecall-Node", name, ...degraded]);
  }
  const phrase = verdict.figure === null ? verdict.reason : `${verdict.reason} ${verdict.figure}`;
  return jsonReply({ code: statusOf(verdict, check), phrase }, body, [
    "X-Rolecall-Node",
    name,
    "X-Rolecall-Reason",
    verdict.reason,
  ]);
}

/** Returns the reply to `/patroni` and `/ha`: the node's status document. */
export function statusReply(answered: JudgedNode): Reply {
  const { observation, view } = answered;
  const isKnown = observation !== null && freshReport(observation, view) !== null;
  const headers = ["X-Rolecall-Node", printable(observation?.node.name ?? "-")];
  if (isKnown) return jsonReply({ code: 200, phrase: "OK" }, statusBody(answered, fit), headers);
  const verdict: Unfit = {
    fit: false,
    reason: observation?.isDown === true ? "down" : observation?.report ? "stale" : "unknown",
    figure: null,
  };
  return jsonReply({ code: 503, phrase: verdict.reason }, statusBody(answered, verdict), [
    ...headers,
    "X-Rolecall-Reason",
    verdict.reason,
  ]);
}

/** Returns the status of an unfit verdict: 503, unless the check states another one (design.md, Vocabulary). */
export function statusOf({ reason }: Unfit, check: Check): number {
  if (reason === "blind") return 500;
  if (reason === "down" || reason === "stale" || reason === "unknown") return check.unknownStatus;
  return isSoft(reason) ? check.missStatus : 503;
}

function statusBody({ snapshot, view, observation }: JudgedNode, verdict: Verdict): string {
  const report = observation === null ? null : freshReport(observation, view);
  const document = report?.document ?? '{"state":"unknown","role":"unknown"';
  // A primary has no lag.
  const isHolder = observation !== null && view.lock.holder === observation.node.name;
  const present = observation === null ? null : presentLag(view, observation);
  const ours = JSON.stringify({
    node: observation?.node.name ?? null,
    cluster: view.cluster.name,
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    lag_bytes: isHolder ? 0 : (present?.bytes ?? null),
    lag_ms: isHolder ? 0 : (present?.timeMs ?? null),
    observed_at:
      observation === null || observation.report === null ? null : new Date(observation.sentAtWallMs).toISOString(),
    snapshot: view.cluster.sequence,
    instance: snapshot.instance,
    ...(verdict.fit && verdict.isDegraded ? { degraded: true } : {}),
  });
  return `${document},"rolecall":${ours}}`;
}

function freshReport(observation: Observation, view: ClusterView): Observation["report"] {
  return !observation.isDown && isFresh(observation, view.maxAgeMs, view.nowMs) ? observation.report : null;
}
