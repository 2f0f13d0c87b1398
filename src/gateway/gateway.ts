import { clusterNamed } from "../cluster/lookup.ts";
import { callRules, type ManagementCall, type NodeQuestion } from "../cluster/management-call.ts";
import type { Node } from "../cluster/node.ts";
import type { Observation } from "../cluster/observation.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { viewAt, type ClusterView } from "../health/evidence/cluster-view.ts";
import { withholdsPassword } from "../health/evidence/node-password.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { IncomingCall } from "../http/message/incoming-call.ts";
import type { AuditRecord } from "./audit-record.ts";
import { BodyLimiter } from "./body-limiter.ts";
import { normalizeReinitialize, readCallBody } from "./call-body.ts";
import { CallContext } from "./call-context.ts";
import { precheck } from "./checks/precheck.ts";
import type { Refusal } from "./checks/refusal.ts";
import { selectTarget } from "./checks/target-selection.ts";
import { fetchFromNode, nodeHeader } from "./fetch.ts";
import { forward } from "./forward.ts";
import { headersFor, requestIdOf } from "./headers.ts";
import { InFlight } from "./in-flight.ts";
import { refuse } from "./refuse.ts";
import type { NodeConnection } from "./upstream.ts";

/** What the gateway depends on. */
export interface GatewayContext {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  readonly upstream: (cluster: string) => NodeConnection;
  /** Probes every node of the cluster now. */
  readonly probeNow: (cluster: string) => void;
  readonly onCall: (record: AuditRecord) => void;
}

/** The longest response to a management call, in bytes. A configuration is the longest that nodes send. */
const answerMax = 16 * 1024 * 1024;

/** Passes management calls, and requests that only a node can answer, through to the right node. */
export class Gateway {
  readonly #context: GatewayContext;
  readonly #calls = new InFlight();
  readonly #fetches = new InFlight();
  readonly #bodies = new BodyLimiter();

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** Handles one management call. It always ends with a response or a closed connection, and with one audit record. */
  async manage(call: ManagementCall, incoming: IncomingCall): Promise<void> {
    const { message, response, limits } = incoming;
    const { now, onCall } = this.#context;
    const requestId = requestIdOf(message.headers);
    response.setHeader("X-Request-Id", requestId);
    const context = new CallContext(call, incoming, { requestId, now, onCall });
    const body = await readCallBody(context, this.#bodies);
    if (body === null) return;
    // Only a call whose body is complete counts, so that a client that sends slowly delays nobody.
    const leave = call.isDryRun ? () => {} : this.#calls.enter(call.cluster, limits.callsInFlight);
    if (leave === null) {
      const text = `Cannot pass the call on: ${limits.callsInFlight} calls of cluster ${call.cluster} are in flight`;
      context.refuse({ status: 429, error: "busy", message: text });
      return;
    }
    try {
      await this.#route(context, body);
    } finally {
      leave();
    }
  }

  /** Streams what only a node can answer: its metrics, and its exporter's pages. */
  async fetch(question: NodeQuestion, incoming: IncomingCall): Promise<void> {
    const { cluster } = question;
    const view = this.#viewOf(cluster);
    if (view === null) {
      refuse(incoming.response, unknownCluster(cluster));
      return;
    }
    const upstream = this.#context.upstream(cluster);
    await fetchFromNode(question, incoming, { view, upstream, inFlight: this.#fetches });
  }

  async #route(context: CallContext, body: Buffer): Promise<void> {
    const { call } = context;
    const view = this.#viewOf(call.cluster);
    if (view === null) {
      this.#finish(context, null, unknownCluster(call.cluster));
      return;
    }
    const node = selectTarget(view, call);
    if ("error" in node) {
      this.#finish(context, null, node);
      return;
    }
    const wallMs = this.#context.wall();
    const refusal = passwordInClear(node.node, view) ?? precheck({ call, body, view, node, wallMs });
    if (call.isDryRun || refusal !== null) this.#finish(context, node, refusal);
    else await this.#forward(context, node, call.name === "reinitialize" ? normalizeReinitialize(body) : body);
  }

  /** Ends a call that is not forwarded: refused, or a dry run. */
  #finish(context: CallContext, node: Observation | null, refusal: Refusal | null): void {
    if (context.call.isDryRun) context.answerDryRun(node, refusal);
    else if (refusal !== null) context.refuse(refusal, node);
  }

  async #forward(context: CallContext, target: Observation, body: Buffer): Promise<void> {
    const { node } = target;
    if (node.api === null) {
      const text = `Cannot pass the call on: ${node.name} has no API`;
      context.refuse({ status: 503, error: "no_api", message: text }, target);
      return;
    }
    const { call, incoming, requestId } = context;
    const { message, response, caller, limits } = incoming;
    const length = call.method === "DELETE" ? null : body.length;
    const changesRoles = callRules.get(call.name)?.changesRoles.includes(call.method) === true;
    const upstream = this.#context.upstream(call.cluster);
    const { host } = new URL(node.api);
    const { hasCredentials } = upstream;
    const { status, problem } = await forward({
      call: incoming,
      upstreamName: "The node",
      isOwn: false,
      origin: node.api,
      path: `/${call.name}`,
      headers: headersFor({ received: message.headers, caller, requestId, host, hasCredentials, length }),
      body: length === null ? Buffer.alloc(0) : body,
      upstream,
      timeoutMs: limits.callTimeoutMs,
      answerMax,
      onHead: () => {
        response.setHeader("X-Rolecall-Node", nodeHeader(node.name));
        if (!changesRoles) return;
        const { instance, sequence } = this.#context.snapshot();
        response.setHeader("X-Rolecall-Snapshot", `${instance}.${sequence}`);
        this.#context.probeNow(call.cluster);
      },
    });
    // The node may have executed a call that failed on the way.
    if (changesRoles && problem !== null) this.#context.probeNow(call.cluster);
    context.audit({ node: node.name, status, outcome: "passed", problem });
  }

  #viewOf(cluster: string): ClusterView | null {
    const state = clusterNamed(this.#context.snapshot(), cluster);
    const policy = this.#context.policy(cluster);
    return state === undefined || policy === undefined ? null : viewAt(state, policy, this.#context.now());
  }
}

/** Refuses to send the node password without TLS if TLS was configured: a member list is not trusted that far. */
function passwordInClear(node: Node, { policy }: ClusterView): Refusal | null {
  if (!withholdsPassword(node, policy)) return null;
  const message = `Cannot pass the call on: the API address of ${node.name} must be https in a cluster with TLS, got ${node.api}`;
  return { status: 503, error: "password_in_clear", message };
}

function unknownCluster(name: string): Refusal {
  return {
    status: 400,
    error: "bad_request",
    message: `Cannot find cluster ${JSON.stringify(name)}: it is not configured`,
  };
}
