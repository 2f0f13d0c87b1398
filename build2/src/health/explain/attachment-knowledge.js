import { hasNothingToReceive, isExempt } from "../evidence/attachment.js";
import { walReached } from "../evidence/position.js";
import { isListedStreaming } from "../evidence/sender-chain.js";
import { isBeforeStreaming } from "../judge/replica.js";
import { isLeading, needsNoStream } from "./explain-role.js";
/**
 * Says whether a node that is fit has been watched for long enough. Rule 5 counts the time without a sign, so a node
 * that was seen once passes it. A sign is proof: the node has advanced, or has nothing to receive. A listing by its
 * sender is none: a frozen or cut off receiver stays listed for a minute.
 * @param firstReached the WAL position in its first report of this watch; `null` if it had none
 */
export function attachmentKnowledge(view, { observation, check }, firstReached) {
    const { report } = observation;
    const isArchiveAsked = check.replicationState === "in archive recovery";
    if (report === null || !view.policy.guards.attachedReplica || needsNoStream(check.route))
        return "not needed";
    if (isExempt(observation) || isArchiveAsked || isLeading({ view, observation, check }, report))
        return "not needed";
    if (check.route === "readiness" && isBeforeStreaming(report))
        return "not needed";
    const reached = walReached(report);
    const hasMoved = reached !== null && firstReached !== null && reached > firstReached;
    const isStreaming = () => isListedStreaming(view, observation.node.name);
    return hasMoved || hasNothingToReceive(view, report, isStreaming) ? "known" : "not known";
}
//# sourceMappingURL=attachment-knowledge.js.map