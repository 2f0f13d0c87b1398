import { refuse, writeJson } from "./refuse.js";
/** One management call from its arrival to its audit record. */
export class CallContext {
    call;
    incoming;
    requestId;
    #sink;
    #startedAtMs;
    constructor(call, incoming, audit) {
        this.call = call;
        this.incoming = incoming;
        this.requestId = audit.requestId;
        this.#sink = audit;
        this.#startedAtMs = audit.now();
    }
    /** Answers with a refusal, and audits the call. */
    refuse(refusal, node = null) {
        refuse(this.incoming.response, refusal);
        const { status, error } = refusal;
        this.audit({ node: node?.node.name ?? null, status, outcome: "refused", problem: error });
    }
    /** Answers `?dry_run=1` with 200 and what would happen to the call. */
    answerDryRun(node, refusal) {
        const { call } = this;
        const name = node?.node.name ?? null;
        const document = {
            dry_run: true,
            ...(refusal === null ? { would: "pass" } : { would: "refuse", ...refusal }),
            call: `${call.method} /${call.name}`,
            cluster: call.cluster,
            node: name,
            api: node?.node.api ?? null,
        };
        writeJson(this.incoming.response, document, { status: 200, headers: [] });
        this.audit({ node: name, status: 200, outcome: "tried", problem: refusal?.error ?? null });
    }
    /** Records the end of the call. Must be called once for each call. */
    audit(result) {
        const { name, method, cluster } = this.call;
        const { principal, address } = this.incoming.caller;
        this.#sink.onCall({
            who: principal,
            from: address,
            method,
            call: name,
            cluster,
            requestId: this.requestId,
            durationMs: this.#sink.now() - this.#startedAtMs,
            ...result,
        });
    }
}
//# sourceMappingURL=call-context.js.map