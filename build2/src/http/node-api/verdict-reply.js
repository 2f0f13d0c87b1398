import { withMember } from "../../cluster/values/json.js";
import { freshUntilMs } from "../../health/evidence/freshness.js";
import { presentLag } from "../../health/judge/lag.js";
import { statusOf } from "../../health/verdict-status.js";
import { fit, unfit } from "../../health/verdict.js";
import { jsonReply, printable } from "../message/reply.js";
/** The greatest age of a displayed figure that grows with time, in ms. */
const figureAgeMsMax = 100;
/** Returns the reply to a check: the node's own document with the verdict as `rolecall` (design.md, "The node API"). */
export function verdictReply(answered, verdict, check) {
    const { text, validUntilMs } = statusBody(answered, verdict);
    const isPhraseTimed = !verdict.fit && verdict.isFigureTimed;
    const phraseUntilMs = isPhraseTimed ? answered.view.nowMs + figureAgeMsMax : Infinity;
    return {
        reply: replyWith(text, { answered, verdict, check }),
        validUntilMs: Math.min(verdict.validUntilMs, validUntilMs, phraseUntilMs),
    };
}
function replyWith(body, { answered, verdict, check }) {
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
/** Returns the reply to `/patroni` and `/ha`: the node's status document. */
export function statusReply(answered) {
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
/** The body, and the instant up to which it stays the same except for figures that grow. */
function statusBody({ snapshot, view, observation }, verdict) {
    const believedMs = observation === null ? -Infinity : believedUntilMs(observation, view);
    const report = view.nowMs < believedMs ? (observation?.report ?? null) : null;
    const document = report?.document ?? '{"state":"unknown","role":"unknown"}';
    // A primary has no lag.
    const isHolder = observation !== null && view.lock.holder === observation.node.name;
    const lag = observation === null || isHolder ? null : presentLag(view, observation);
    const ours = JSON.stringify({
        node: observation?.node.name ?? null,
        cluster: view.cluster.name,
        fit: verdict.fit,
        reason: verdict.fit ? null : verdict.reason,
        lag_bytes: isHolder ? 0 : (lag?.bytes ?? null),
        lag_ms: isHolder ? 0 : (lag?.timeMs ?? null),
        observed_at: observation === null || observation.report === null ? null : new Date(observation.sentAtWallMs).toISOString(),
        snapshot: view.cluster.sequence,
        instance: snapshot.instance,
        ...(verdict.fit && verdict.isDegraded ? { degraded: true } : {}),
    });
    const holderMs = observation?.hasLock === true ? view.lock.validUntilMs : Infinity;
    const documentMs = report === null ? Infinity : believedMs;
    const text = withMember(document, "rolecall", ours);
    return { text, validUntilMs: Math.min(holderMs, documentMs, lagUntilMs(view, lag)) };
}
function lagUntilMs({ nowMs }, lag) {
    if (lag === null)
        return Infinity;
    return lag.growsSinceMs === null ? lag.validUntilMs : Math.min(lag.validUntilMs, nowMs + figureAgeMsMax);
}
/** The instant up to which the node's report is shown, in ms of our clock. */
function believedUntilMs(observation, view) {
    return observation.isDown || observation.report === null ? -Infinity : freshUntilMs(observation, view.maxAgeMs);
}
//# sourceMappingURL=verdict-reply.js.map