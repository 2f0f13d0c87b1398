import type { Observation } from "../../cluster/observation.ts";
import { type Report, shownDocument } from "../../cluster/documents/report.ts";
import { withMember } from "../../cluster/values/json.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { Check } from "../../health/check.ts";
import type { Route } from "../../health/route.ts";
import { freshUntilMs } from "../../health/evidence/node/freshness.ts";
import { shownLag, type PresentLag } from "../../health/evidence/position/present-lag.ts";
import { statusOf } from "../../health/verdict-status.ts";
import type { ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import { fit, statedOf, unfit, type Verdict } from "../../health/verdict.ts";
import { documentReply, emptyReply, printable, type Reply } from "../message/reply.ts";

/** The judged node, and the snapshot and view that it was judged in. */
export interface JudgedNode {
  readonly snapshot: Snapshot;
  readonly view: ClusterView;
  /** The requested node, or the one chosen for the cluster; `null` if there is none. */
  readonly observation: Observation | null;
  /** Whether the listener answers as the node: then the node's text is passed on, even where it is no strict JSON. */
  readonly isBound: boolean;
}

/** A reply made from a cluster's state, and how long it holds. */
export interface TimedReply {
  readonly reply: Reply;
  /**
   * The instant up to which the same request gets the same reply if no outcome is recorded meanwhile, in ms of the
   * rolecall's clock. Figures that grow with time (an age, a time lag) may then be a tenth of a second old.
   */
  readonly validUntilMs: number;
}

/** The greatest age of a displayed figure that grows with time, in ms. */
const figureAgeMsMax = 100;

/** The routes that nodes answer with a bare status line, even to GET (Patroni 3.0.2 to 4.1.5, api.py). */
const bareRoutes: ReadonlySet<Route> = new Set<Route>(["liveness", "readiness"]);

/**
 * Returns the reply to a check: the node's own document with the verdict as `rolecall` (docs/checks.md). A listener
 * that is bound to the node answers without a body where the node does.
 */
export function verdictReply(answered: JudgedNode, verdict: Verdict, check: Check): TimedReply {
  const isBare = answered.isBound && bareRoutes.has(check.route);
  const { text, validUntilMs } = isBare ? bareBody : statusBody(answered, verdict);
  const isPhraseTimed = statedOf(verdict)?.isFigureTimed === true;
  const phraseUntilMs = isPhraseTimed ? answered.view.nowMs + figureAgeMsMax : Infinity;
  return {
    reply: replyWith(text, { answered, verdict, check }),
    validUntilMs: Math.min(verdict.validUntilMs, validUntilMs, phraseUntilMs),
  };
}

/** `text`: `null` for none. */
const bareBody = { text: null, validUntilMs: Infinity };

interface Judged {
  readonly answered: JudgedNode;
  readonly verdict: Verdict;
  readonly check: Check;
}

function replyWith(body: string | null, { answered, verdict, check }: Judged): Reply {
  const name = printable(answered.observation?.node.name ?? "-");
  const code = verdict.fit ? 200 : statusOf(verdict, check);
  const degraded = verdict.fit && verdict.isDegraded ? ["X-Rolecall-Degraded", "true"] : [];
  const stated = statedOf(verdict);
  const write = (phrase: string, headers: readonly string[]): Reply =>
    body === null ? emptyReply({ code, phrase }, headers) : documentReply({ code, phrase }, body, headers);
  if (stated === null) return write("OK", ["X-Rolecall-Node", name, ...degraded]);
  const { reason, figure } = stated;
  const headers = ["X-Rolecall-Node", name, "X-Rolecall-Reason", reason, ...degraded];
  return write(figure === null ? reason : `${reason} ${figure}`, headers);
}

/** Returns the reply to `/patroni` and `/ha`: the node's status document. */
export function statusReply(answered: JudgedNode): TimedReply {
  const { observation, view } = answered;
  const isKnown = observation !== null && view.nowMs < believedUntilMs(observation, view);
  const headers = ["X-Rolecall-Node", printable(observation?.node.name ?? "-")];
  if (isKnown) {
    const { text, validUntilMs } = statusBody(answered, fit);
    return { reply: documentReply({ code: 200, phrase: "OK" }, text, headers), validUntilMs };
  }
  const reason = observation?.isDown === true ? "down" : observation?.report ? "stale" : "unknown";
  const { text, validUntilMs } = statusBody(answered, unfit(reason));
  const reply = documentReply({ code: 503, phrase: reason }, text, [...headers, "X-Rolecall-Reason", reason]);
  return { reply, validUntilMs };
}

/** The body, and the instant up to which it stays the same except for figures that grow. */
function statusBody(
  { snapshot, view, observation, isBound }: JudgedNode,
  verdict: Verdict,
): { readonly text: string; readonly validUntilMs: number } {
  const believedMs = observation === null ? -Infinity : believedUntilMs(observation, view);
  const report = view.nowMs < believedMs ? (observation?.report ?? null) : null;
  const document = report === null ? '{"state": "unknown", "role": "unknown"}' : ownDocument(report, isBound);
  const lag = observation === null ? null : shownLag(view, observation);
  const ours = JSON.stringify({
    node: observation?.node.name ?? null,
    cluster: view.cluster.name,
    fit: verdict.fit,
    reason: statedOf(verdict)?.reason ?? null,
    lag_bytes: lag?.bytes ?? null,
    lag_ms: lag?.timeMs ?? null,
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

function ownDocument(report: Report, isBound: boolean): string {
  return isBound && report.asWritten !== null ? report.asWritten : shownDocument(report);
}

function lagUntilMs({ nowMs }: ClusterView, lag: PresentLag | null): number {
  if (lag === null) return Infinity;
  return lag.growsSinceMs === null ? lag.validUntilMs : Math.min(lag.validUntilMs, nowMs + figureAgeMsMax);
}

/** The instant up to which the node's report is shown, in ms of rolecall's clock. */
function believedUntilMs(observation: Observation, view: ClusterView): number {
  return observation.isDown || observation.report === null ? -Infinity : freshUntilMs(observation, view.maxAgeMs);
}
