import type { OwnAnswer } from "../../core/feature/switchovers.ts";
import type { ManagementCall } from "../../core/cluster/management-call.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { Refusal } from "../../core/health/calls/refusal.ts";
import { refuse, writeJson } from "../../core/http/forwarding/refuse.ts";

/** What `CallContext` needs to audit a call. */
export interface AuditSink {
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly onCall: (record: AuditRecord) => void;
}

/** One management call from its arrival to its audit record. */
export class CallContext {
  readonly call: ManagementCall;
  readonly incoming: IncomingCall;
  readonly requestId: string;
  readonly #sink: AuditSink;
  readonly #startedAtMs: number;

  constructor(call: ManagementCall, incoming: IncomingCall, audit: AuditSink & { readonly requestId: string }) {
    this.call = call;
    this.incoming = incoming;
    this.requestId = audit.requestId;
    this.#sink = audit;
    this.#startedAtMs = audit.now();
  }

  /** Answers with a refusal, and audits the call. */
  refuse(refusal: Refusal, node: Observation | null = null): void {
    refuse(this.incoming.response, refusal);
    const { status, error } = refusal;
    this.audit({ node: node?.node.name ?? null, status, outcome: "refused", problem: error });
  }

  /** Answers a call that no node receives, because rolecall itself does what it asks for. */
  answer({ status, document, error }: OwnAnswer): void {
    writeJson(this.incoming.response, document, { status, headers: [] });
    const outcome = error !== null ? "refused" : this.call.isDryRun ? "tried" : "passed";
    this.audit({ node: null, status, outcome, problem: error });
  }

  /** Answers `?dry_run=1` with 200 and what would happen to the call. */
  answerDryRun(node: Observation | null, refusal: Refusal | null): void {
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
  audit(result: Pick<AuditRecord, "node" | "status" | "outcome" | "problem">): void {
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
