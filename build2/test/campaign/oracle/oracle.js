import { Attachment } from "./attachment.js";
import { disputeIsTrue, falseClaimIsRefused, holderIsFit, lostClaimIsRefused } from "./claims.js";
import { isConsistent, twoPrimaries } from "./consistency.js";
import { divergedIsRefused } from "./divergence.js";
import { addressIsKept, silenceIsTrue, yesAgrees, yesIsFresh } from "./freshness.js";
import { accusationIsTrue, lagIsKept, timeLagIsKept } from "./replicas.js";
/** The promises about single answers, by name. */
const rules = {
    consistent: isConsistent,
    "yes-fresh": yesIsFresh,
    "yes-agrees": yesAgrees,
    silence: silenceIsTrue,
    moved: addressIsKept,
    "lost-claim": lostClaimIsRefused,
    "false-claim": falseClaimIsRefused,
    "holder-fit": holderIsFit,
    dispute: disputeIsTrue,
    accusation: accusationIsTrue,
    diverged: divergedIsRefused,
    lag: lagIsKept,
    "lag-time": timeLagIsKept,
};
/**
 * Judges rolecall's answers about one cluster, from the truth and from what nodes answered. It knows nothing of
 * rolecall's code.
 */
export class Oracle {
    #attachment = new Attachment();
    /** Looks at what was served since the last call. To be called with every round of questions. */
    feed(scene, nowMs) {
        this.#attachment.feed(scene, nowMs);
    }
    /** All promises that a round of answers breaks. */
    judge(scene, answers) {
        const found = [];
        for (const answer of answers) {
            // Where rolecall follows a clone in a node's place, one promise reports it. The others have no evidence.
            const isMoved = answer.node !== null && !scene.troubles.isFree(answer.node, answer.askedMs - 5_000, "moved");
            for (const [rule, holds] of Object.entries(rules)) {
                if (isMoved && rule !== "moved" && rule !== "consistent")
                    continue;
                const detail = holds(scene, answer);
                if (detail !== null)
                    found.push({ rule, node: answer.node, detail: `${answer.method} ${answer.path}: ${detail}` });
            }
            const still = isMoved ? null : this.#attachment.broken(scene, answer);
            if (still !== null)
                found.push({ rule: "attached", node: answer.node, detail: `${answer.path}: ${still}` });
        }
        const two = twoPrimaries(answers);
        if (two !== null)
            found.push({ rule: "one-primary", node: null, detail: two });
        return found;
    }
}
//# sourceMappingURL=oracle.js.map