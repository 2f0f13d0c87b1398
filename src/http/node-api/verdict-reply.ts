import type { Observation } from "../../cluster/observation.ts";
import { withMember } from "../../cluster/values/json.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { Check } from "../../health/check.ts";
import { freshUntilMs } from "../../health/evidence/freshness.ts";
import { presentLag, type PresentLag } from "../../health/judge/lag.ts";
import { isSoft } from "../../health/reason.ts";
import type { ClusterView } from "../../health/evidence/cluster-view.ts";
import { fit, unfit, type Unfit, type Verdict } from "../../health/verdict.ts";
import { jsonReply, printable, type Reply } from "../message/reply.ts";

/** Whose answer is given, and in which snapshot. */
export interface JudgedNode {
  readonly snapshot: Snapshot;
  readonly view: ClusterView;
  /** The node that was meant, or the one chosen for the cluster; `null` where there is none. */
  readonly observation: Observation | null;
}

/** A reply that is made from a cluster's state. */
export interface TimedReply {
  readonly reply: Reply;
  /**
   * The instant up to which the same request gets the same reply if no outcome is recorded meanwhile, in ms of our clock. Figures that
   * grow with time (an age, a lag in time) may then be a tenth of a second old.
   */
  readonly validUntilMs: number;
}

/** How old a figure that grows with time may be when it is shown, in ms. */
const figureAgeMsMax = 100;

/** The answer to a check: the status, and the node's own document with the object `rolecall` (design.md, "The node API"). */
export function verdictReply(answered: JudgedNode, verdict: Verdict, check: Check): TimedReply {
  const { text, validUntilMs } = statusBody(answered, verdict);
  const isPhraseTimed = !verdict.fit && verdict.isFigureTimed;
  const phraseUntilMs = isPhraseTimed ? answered.view.nowMs + figureAgeMsMax : Infinity;
  return {
    reply: replyWith(text, { answered, verdict, check }),
    validUntilMs: Math.min(verdict.validUntilMs, validUntilMs, phraseUntilMs),
  };
}

interface Judged {
  readonly answered: JudgedNode;
  readonly verdict: Verdict;
  readonly check: Check;
}

function replyWith(body: string, { answered, verdict, check }: Judged): Reply {
  const name = printable(answered.observation?.node.name ?? "-");
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

/** The node's status document as it is: what `/patroni` and `/ha` answer. */
export function statusReply(answered: JudgedNode): TimedReply {
  const { observation, view } = answered;
  const isKnown = observation !== null && view.nowMs < believedUntilMs(observation, view);
  const headers = ["X-Rolecall-Node", printable(observation?.node.name ?? "-")];
  if (isKnown) {
    const { text, validUntilMs } = statusBody(answered, fit);
    return { reply: jsonReply({ code: 200, phrase: "OK" }, text, headers), validUntilMs };
  }
  const reason = observation?.isDown === true ? "down" : observation?.report ? "stale" : "unknown";
  const { text, validUntilMs } = statusBody(answered, unfit(reason));
  const reply = jsonReply({ code: 503, phrase: reason }, text, [...headers, "X-Rolecall-Reason", reason]);
  return { reply, validUntilMs };
}

/** The status of a no: 503, unless the check asks for another (design.md, Words). */
export function statusOf({ reason }: Unfit, check: Check): number {
  if (reason === "blind") return 500;
  if (reason === "down" || reason === "stale" || reason === "unknown") return check.unknownStatus;
  return isSoft(reason) ? check.missStatus : 503;
}

/** The body, and the instant up to which it stays the same, but for figures that grow. */
function statusBody(
  { snapshot, view, observation }: JudgedNode,
  verdict: Verdict,
): { readonly text: string; readonly validUntilMs: number } {
  const believedMs = observation === null ? -Infinity : believedUntilMs(observation, view);
  const report = view.nowMs < believedMs ? (observation?.report ?? null) : null;
  const document = report?.document ?? '{"state":"unknown","role":"unknown"}';
  // A primary does not lag.
  const isHolder = observation !== null && view.lock.holder === observation.node.name;
  const lag = observation === null || isHolder ? null : presentLag(view, observation);
  const ours = JSON.stringify({
    node: observation?.node.name ?? null,
    cluster: view.cluster.name,
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    lag_bytes: isHolder ? 0 : (lag?.bytes ?? null),
    lag_ms: isHolder ? 0 : (lag?.timeMs ?? null),
    observed_at:
      observation === null || observation.report === null ? null : new Date(observation.sentAtWallMs).toISOString(),
    snapshot: view.cluster.sequence,
    instance: snapshot.instance,
    ...(verdict.fit && verdict.isDegraded ? { degraded: true } : {}),
  });
  const holderMs = observation?.hasLock === true ? view.lock.validUntilMs : Infinity;
  const documentMs = report === null ? Infinity : believedMs;
  const text = withMember(document, "rolecall", ours);
  return { text, validUntilMs: Math.min(holderMs, documentMs, lagUntilMs(view, lag)) };
}

function lagUntilMs({ nowMs }: ClusterView, lag: PresentLag | null): number {
  if (lag === null) return Infinity;
  return lag.growsSinceMs === null ? lag.validUntilMs : Math.min(lag.validUntilMs, nowMs + figureAgeMsMax);
}

/** The instant up to which the node's report is shown, in ms of our clock. */
function believedUntilMs(observation: Observation, view: ClusterView): number {
  return observation.isDown || observation.report === null ? -Infinity : freshUntilMs(observation, view.maxAgeMs);
}
