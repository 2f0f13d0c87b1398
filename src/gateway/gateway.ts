import { clusterNamed } from "../cluster/lookup.ts";
import { callRules, type ManagementCall, type NodeQuestion } from "../cluster/management-call.ts";
import { isObject, parseJson } from "../cluster/values/json.ts";
import type { Node } from "../cluster/node.ts";
import type { Observation } from "../cluster/observation.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { withholdsPassword } from "../health/evidence/node-password.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { viewAt, type ClusterView } from "../health/evidence/cluster-view.ts";
import type { AuditRecord } from "./audit-record.ts";
import { selectTarget } from "./checks/target-selection.ts";
import { fetchFromNode } from "./fetch.ts";
import { forward } from "./forward.ts";
import { headersFor, requestIdOf } from "./headers.ts";
import { InFlight } from "./in-flight.ts";
import type { GatewayCall } from "./passed.ts";
import { precheck } from "./checks/precheck.ts";
import type { Refusal } from "./checks/refusal.ts";
import { refuse, writeJson } from "./reply.ts";
import { readBody, ReceivedBodies } from "./request-body.ts";
import type { NodeConnection } from "./upstream.ts";

/** What the gateway works with. The app hands it in. */
export interface GatewayContext {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Our clock, in ms. */
  readonly now: () => number;
  /** Wall time, in ms. */
  readonly wall: () => number;
  readonly upstream: (cluster: string) => NodeConnection;
  /** Asks every node of the cluster now. */
  readonly probeNow: (cluster: string) => void;
  readonly onCall: (record: AuditRecord) => void;
}

/** The longest answer to a management call that is passed on, in bytes: a configuration is the largest there is. */
const answerMax = 16 * 1024 * 1024;

/** A call on its way, as it is told of at its end. */
interface CallContext {
  readonly call: ManagementCall;
  readonly passed: GatewayCall;
  readonly requestId: string;
  readonly beganMs: number;
}

/** Passes management calls, and questions that only a node can answer, to the right node. */
export class Gateway {
  readonly #context: GatewayContext;
  readonly #calls = new InFlight();
  readonly #fetches = new InFlight();
  readonly #bodies = new ReceivedBodies();

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** Does one management call. Always ends in an answer or a closed connection, and in one audit record. */
  async manage(call: ManagementCall, passed: GatewayCall): Promise<void> {
    const requestId = requestIdOf(passed.message.headers);
    const journey = { call, passed, requestId, beganMs: this.#context.now() };
    passed.response.setHeader("X-Request-Id", requestId);
    const body = await this.#bodyOf(journey);
    if (body === null) return;
    // Only a call whose body is whole takes a place: a client that sends slowly holds nobody up.
    const leave = call.isDryRun ? () => {} : this.#calls.enter(call.cluster, passed.limits.callsInFlight);
    if (leave === null) {
      const message = `Cannot pass the call on: ${passed.limits.callsInFlight} calls of cluster ${call.cluster} are under way already`;
      this.#refuse(journey, { status: 429, error: "busy", message });
      return;
    }
    try {
      await this.#judge(journey, body);
    } finally {
      leave();
    }
  }

  /** Streams what only a node can tell: its metrics, its exporter's. */
  async fetch(question: NodeQuestion, passed: GatewayCall): Promise<void> {
    const view = this.#look(question.cluster);
    if (view === null) refuse(passed.response, noCluster(question.cluster));
    else
      await fetchFromNode(question, passed, {
        view,
        upstream: this.#context.upstream(question.cluster),
        inFlight: this.#fetches,
      });
  }

  /** Reads the body of a call. @returns `null` where the call has been answered or its client has left */
  async #bodyOf(context: CallContext): Promise<Buffer | null> {
    const { call, passed } = context;
    const { message, response, caller, limits } = passed;
    if (
      needsLength(call) &&
      message.headers["content-length"] === undefined &&
      message.headers["transfer-encoding"] === undefined
    ) {
      this.#refuse(context, {
        status: 411,
        error: "length_required",
        message: `${call.method} /${call.name} needs a body and its length`,
      });
      return null;
    }
    const leave = this.#bodies.enter(caller.address);
    if (leave === null) {
      this.#refuse(context, {
        status: 429,
        error: "busy",
        message: "Cannot read the call: too many bodies are being received",
      });
      return null;
    }
    try {
      if (message.headers.expect !== undefined) response.writeContinue();
      const body = await readBody(message, limits.bodyMax);
      if (body.kind === "whole") return body.bytes;
      if (body.kind === "gone") {
        this.#tell(context, { node: null, status: 499, outcome: "refused", problem: "the client went away" });
        response.destroy();
        return null;
      }
      const text = `Cannot pass the call on: its body must be at most ${limits.bodyMax} bytes, got more`;
      this.#refuse(context, { status: 413, error: "too_large", message: text });
      return null;
    } finally {
      leave();
    }
  }

  async #judge(context: CallContext, body: Buffer): Promise<void> {
    const { call } = context;
    const view = this.#look(call.cluster);
    const node = view === null ? noCluster(call.cluster) : selectTarget(view, call);
    const refusal =
      "error" in node
        ? node
        : view === null
          ? null
          : (inClear(node.node, view) ?? precheck({ call, body, view, node, wallMs: this.#context.wall() }));
    const found = "error" in node ? null : node;
    if (call.isDryRun) this.#foretell(context, found, refusal);
    else if (refusal !== null) this.#refuse(context, refusal, found);
    else if (found !== null)
      await this.#forward(context, found, call.name === "reinitialize" ? inOneSpelling(body) : body);
  }

  async #forward(context: CallContext, found: Observation, body: Buffer): Promise<void> {
    const { node } = found;
    if (node.api === null) {
      this.#refuse(
        context,
        { status: 503, error: "no_api", message: `Cannot pass the call on: ${node.name} has no API` },
        found,
      );
      return;
    }
    const { call, passed, requestId } = context;
    const { message, response, caller, limits, onError } = passed;
    const length = call.method === "DELETE" ? null : body.length;
    const changesRoles = callRules.get(call.name)?.changesRoles.includes(call.method) === true;
    const upstream = this.#context.upstream(call.cluster);
    const { status, problem } = await forward({
      method: "The node",
      isOwn: false,
      message,
      response,
      origin: node.api,
      path: `/${call.name}`,
      headers: headersFor({
        received: message.headers,
        caller,
        requestId,
        host: new URL(node.api).host,
        hasCredentials: upstream.hasCredentials,
        length,
      }),
      body: length === null ? Buffer.alloc(0) : body,
      upstream,
      timeoutMs: limits.callTimeoutMs,
      answerMax,
      onError,
      onHead: () => {
        response.setHeader("X-Rolecall-Node", node.name.replace(/[^\u0021-\u007e]/g, "?"));
        if (!changesRoles) return;
        const { instance, sequence } = this.#context.snapshot();
        response.setHeader("X-Rolecall-Snapshot", `${instance}.${sequence}`);
        this.#context.probeNow(call.cluster);
      },
    });
    // A call that failed on the way may have been done all the same.
    if (changesRoles && problem !== null) this.#context.probeNow(call.cluster);
    this.#tell(context, { node: node.name, status, outcome: "passed", problem });
  }

  /** `?dry_run=1`: 200, and what would happen. */
  #foretell(context: CallContext, node: Observation | null, refusal: Refusal | null): void {
    const { call, passed } = context;
    const would = refusal === null ? { would: "pass" } : { would: "refuse", ...refusal };
    const document = {
      dry_run: true,
      ...would,
      call: `${call.method} /${call.name}`,
      cluster: call.cluster,
      node: node?.node.name ?? null,
      api: node?.node.api ?? null,
    };
    writeJson(passed.response, document, { status: 200, headers: {} });
    this.#tell(context, {
      node: node?.node.name ?? null,
      status: 200,
      outcome: "tried",
      problem: refusal?.error ?? null,
    });
  }

  #refuse(call: CallContext, refusal: Refusal, node: Observation | null = null): void {
    refuse(call.passed.response, refusal);
    this.#tell(call, {
      node: node?.node.name ?? null,
      status: refusal.status,
      outcome: "refused",
      problem: refusal.error,
    });
  }

  #tell(
    { call, passed, requestId, beganMs }: CallContext,
    ended: Pick<AuditRecord, "node" | "status" | "outcome" | "problem">,
  ): void {
    const { name, method, cluster } = call;
    const { principal, address } = passed.caller;
    this.#context.onCall({
      who: principal,
      from: address,
      method,
      call: name,
      cluster,
      requestId,
      durationMs: this.#context.now() - beganMs,
      ...ended,
    });
  }

  #look(cluster: string): ClusterView | null {
    const state = clusterNamed(this.#context.snapshot(), cluster);
    const policy = this.#context.policy(cluster);
    return state === undefined || policy === undefined ? null : viewAt(state, policy, this.#context.now());
  }
}

/** The node password must not go out in clear where TLS was configured: a member list is not to be trusted that far. */
function inClear(node: Node, { policy }: ClusterView): Refusal | null {
  if (!withholdsPassword(node, policy)) return null;
  const message = `Cannot pass the call on: the API address of ${node.name} must be https in a cluster with TLS, got ${node.api}`;
  return { status: 503, error: "password_in_clear", message };
}

/** The calls whose body nodes insist on: without a length they answer 411. */
function needsLength({ name, method }: ManagementCall): boolean {
  return name === "config" || name === "failover" || (name === "switchover" && method === "POST");
}

/** The seed writes `from-leader`, the nodes read `from_leader`: both mean the same here. */
function inOneSpelling(body: Buffer): Buffer {
  const value = parseJson(body.toString("utf8"));
  if (!isObject(value) || value["from-leader"] === undefined) return body;
  const { "from-leader": fromLeader, ...rest } = value;
  return Buffer.from(JSON.stringify({ from_leader: fromLeader, ...rest }));
}

function noCluster(name: string): Refusal {
  return {
    status: 400,
    error: "bad_request",
    message: `Cannot find cluster ${JSON.stringify(name)}: it is not watched`,
  };
}
