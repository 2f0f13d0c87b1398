import { nodeNamed } from "../cluster/lookup.js";
import { withholdsPassword } from "../health/evidence/node-password.js";
import { AccusationHistory } from "./accusation-history.js";
import { drainAudit, drainEvent } from "./drain-events.js";
import { logEvent, logVerdictChange, verdictFields } from "./event-lines.js";
import { EventStream } from "./event-stream.js";
import { LeaderDisputes } from "./leader-disputes.js";
import { OutcomeRecorder } from "./outcome-recorder.js";
import { VerdictChanges } from "./verdict-changes.js";
import { VerdictHistory } from "./verdict-history.js";
/**
 * What happened, for people: the events, one log line per event or change, the last changes of every node, and the
 * evidence of the last minutes.
 */
export class EventLog {
    /** The events of all clusters. */
    events;
    #context;
    #changes = new VerdictChanges();
    #disputes = new LeaderDisputes();
    #verdicts = new VerdictHistory();
    #recorder = new OutcomeRecorder();
    #accusations = new AccusationHistory();
    constructor(context) {
        const { clock, log, metrics, detector } = context;
        this.#context = context;
        this.events = new EventStream(clock.wall(), {
            clock,
            onOmitted: ({ kind, cluster }) => log.warn({ cluster, event: kind }, "events left out: too many of this kind in a short time"),
            onRestored: (events) => detector.resume(events, { nowMs: clock.now(), wallMs: clock.wall() }),
        });
        this.events.subscribe((event) => metrics.happened(event));
    }
    /** Keeps an outcome as evidence. @param nowMs when it was recorded, in ms of our clock */
    recordOutcome(outcome, nowMs) {
        const { clock, history } = this.#context;
        const wallMs = clock.wall();
        this.#recorder.add(outcome, nowMs, wallMs);
        history.addOutcome(outcome, nowMs, wallMs);
    }
    /**
     * Logs and keeps what changed from one state of a cluster to the next, and publishes the events. To be called for
     * every change. A change of a node that an event is about has no log line of its own.
     */
    recordTransition(before, after, context) {
        const { metrics, clock, log, detector, history } = this.#context;
        const wallMs = clock.wall();
        const accused = this.#accusations.add(before, after, wallMs);
        if (accused !== null)
            history.addAccused(after.name, accused, wallMs);
        const changes = this.#changes.find(before, after, context);
        for (const change of changes) {
            this.#verdicts.add(change, wallMs);
            history.addChange(change, wallMs);
        }
        const finderContext = { ...context, isVerdictChanged: changes.length > 0 };
        const drafts = detector.find(after, this.#changes.summaries(after.name), finderContext);
        const isEventOf = (change) => drafts.some(({ node }) => node === change.node);
        for (const change of changes)
            if (!isEventOf(change))
                logVerdictChange(log, change);
        for (const [at, draft] of drafts.entries()) {
            // Of several events about a node the first one has its verdicts.
            const isFirst = drafts.findIndex(({ node }) => node === draft.node) === at;
            this.#publish(draft, isFirst ? fieldsOf(changes, draft.node) : {});
        }
        this.#warnOfWithheldPassword(before, after, context.policy);
        const dispute = this.#disputes.find(after, context);
        if (dispute !== null)
            metrics.disputed(dispute.cluster);
    }
    /** Publishes and logs that a drain begins or ends. */
    recordDrain(change) {
        const draft = drainEvent(change);
        const event = this.events.publish(draft);
        logEvent(this.#context.log, event ?? draft, drainAudit(change));
    }
    /** Forgets all other clusters: those that a reload removed. */
    retain(clusters) {
        this.#context.detector.retain(clusters);
    }
    /** The last changes of a node, oldest first. */
    changes(cluster, node) {
        return this.#verdicts.of(cluster, node);
    }
    /** Puts verdict changes of an earlier process before those of this one. @param changes oldest first */
    restoreChanges(changes) {
        this.#verdicts.restore(changes);
    }
    /** The wall-clock time since which all evidence is in memory; Infinity if there is none. */
    get evidenceSinceMs() {
        return this.#recorder.sinceWallMs;
    }
    /** What was recorded of a cluster between two wall-clock times, oldest first. */
    recorded(cluster, fromWallMs, toWallMs) {
        return this.#recorder.between(cluster, fromWallMs, toWallMs);
    }
    /** Which nodes were accused of being detached or stalled at a wall-clock time. */
    accused(cluster, wallMs) {
        return this.#accusations.at(cluster, wallMs);
    }
    #publish(draft, fields) {
        const event = this.events.publish(draft);
        if (event !== null)
            logEvent(this.#context.log, event, fields);
    }
    #warnOfWithheldPassword(before, after, policy) {
        if (policy.clearPasswordFor === undefined)
            return;
        for (const { node } of after.nodes) {
            const isNew = nodeNamed(before, node.name)?.node.api !== node.api;
            if (!isNew || !withholdsPassword(node, policy))
                continue;
            this.#context.log.warn({ cluster: after.name, node: node.name, api: node.api }, "node password withheld: the address is not https");
        }
    }
}
/** The verdicts of a node that changed together with an event about it, as fields of the event's log line. */
function fieldsOf(changes, node) {
    const change = changes.find((candidate) => candidate.node === node);
    return change === undefined ? {} : verdictFields(change);
}
//# sourceMappingURL=event-log.js.map