import { randomUUID } from "node:crypto";
import { clusterNamed } from "../../core/cluster/lookup.ts";
import {
  type CalledChange,
  type ManagementCall,
  type NodeRequest,
  type OwnCallAnswer,
  callRules,
} from "../../core/cluster/management-call.ts";
import type { Node } from "../../core/cluster/node.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import type { Snapshot } from "../../core/cluster/snapshot.ts";
import { type ClusterView, viewIfKnown } from "../../core/health/evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import type { AuditRecord } from "./audit-record.ts";
import { ConcurrentBodies } from "./concurrent-bodies.ts";
import type {
  ManagementCalls,
  OwnRestart,
  OwnSwitchover,
  SeamlessSwitchovers,
} from "../../core/feature/switchovers.ts";
import { CallContext } from "./call-context.ts";
import { checkCall } from "../../core/health/calls/check-call.ts";
import { type SwitchoverOptions, switchoverOptions } from "../../core/health/calls/switchover-candidates.ts";
import { type Refusal, refuseUnopened } from "../../core/health/calls/refusal.ts";
import { refuseHearsay } from "../../core/health/calls/unproved.ts";
import { selectTarget } from "../../core/health/calls/target-selection.ts";
import { fetchFromNode, nodeHeader } from "./fetch.ts";
import { forward } from "../../core/http/forwarding/forward.ts";
import { headersFor, requestIdOf } from "../../core/http/forwarding/headers.ts";
import { InFlightLimiter } from "./in-flight-limiter.ts";
import { refuse } from "../../core/http/forwarding/refuse.ts";
import { sendCall } from "./send-call.ts";
import type { NodeCredentials } from "../../core/http/forwarding/node-credentials.ts";
import { isObject, type JsonObject, nameOf, parseJson } from "../../core/cluster/values/json.ts";
import { readBody } from "../../core/http/message/request-body.ts";

/** The node that a call is forwarded to, and the base address of its API. */
interface ForwardTarget {
  readonly node: Node;
  readonly api: string;
}

/** Which node receives a call; without a receiver, why none does. */
interface Decision {
  readonly target: Observation | null;
  readonly receiver: ForwardTarget | null;
  readonly refusal: Refusal | null;
}

/** What the gateway depends on. */
export interface GatewayContext {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  readonly credentials: (cluster: string) => NodeCredentials;
  /**
   * Whether the address of a node is its own by what this instance itself knows: what another instance says of addresses
   * and their proof is a hint. Asks the servers, without credentials, where nothing else tells. Never rejects.
   */
  readonly isOwnAddress: (cluster: string, node: Node) => Promise<boolean>;
  /** Probes every node of the cluster now. */
  readonly probeNow: (cluster: string) => void;
  /** A call is about to be forwarded that makes another node the primary. @returns what says that it came to nothing */
  readonly announceChange: (change: CalledChange) => () => void;
  readonly onCall: (record: AuditRecord) => void;
  /** Carries out switchovers during which clients wait; `null`: it is not open. */
  readonly seamless: () => SeamlessSwitchovers | null;
}

/** A call that rolecall itself sends to a node. */
interface SentCall extends Pick<OwnSwitchover, "cluster" | "caller" | "timeoutMs" | "mayStill"> {
  readonly name: "switchover" | "restart";
  /** The node that receives it; `null`: the leader, or any. */
  readonly node: string | null;
  /** Its body. */
  readonly object: object;
  /** The change of the leader that is announced with it; `null`: none is meant. */
  readonly change: CalledChange | null;
}

/** The limit for the answer to a management call, in bytes. The largest real answer is a dynamic configuration. */
const answerMax = 16 * 1024 * 1024;

/** Forwards management calls, and requests that only a node can answer, to that node. */
export class Gateway implements ManagementCalls {
  readonly #dependencies: GatewayContext;
  readonly #calls = new InFlightLimiter();
  readonly #fetches = new InFlightLimiter();
  readonly #bodies = new ConcurrentBodies();

  constructor(context: GatewayContext) {
    this.#dependencies = context;
  }

  /**
   * Handles one management call. It always ends with a response or a closed connection, and with one audit record.
   * @param isSeamlessOnly whether the listener takes such calls only where rolecall itself carries them out
   */
  async manage(
    call: ManagementCall,
    incoming: IncomingCall,
    { isSeamlessOnly }: { readonly isSeamlessOnly: boolean } = { isSeamlessOnly: false },
  ): Promise<void> {
    const { message, response, limits } = incoming;
    const { now, onCall } = this.#dependencies;
    const requestId = requestIdOf(message.headers);
    response.setHeader("X-Request-Id", requestId);
    const context = new CallContext(call, incoming, { requestId, now, onCall });
    const body = await readCallBody(context, this.#bodies);
    if (body === null) return;
    // Only a call whose body is complete counts, so that a client that sends slowly delays nobody.
    const release = call.isDryRun ? () => {} : this.#calls.acquire(call.cluster, limits.callsInFlight);
    if (release === null) {
      const text = `Cannot forward the call: ${limits.callsInFlight} calls of cluster ${call.cluster} are in flight`;
      context.refuse({ status: 429, error: "busy", message: text });
      return;
    }
    try {
      await this.#route(context, body, isSeamlessOnly);
    } finally {
      release();
    }
  }

  /** Who may take over the lead of a cluster; `null` if the cluster is not monitored. */
  switchoverOptions(cluster: string): SwitchoverOptions | null {
    const view = this.#viewOf(cluster);
    return view === null ? null : switchoverOptions(view);
  }

  /**
   * Sends a switchover, after the checks of every call. It is announced and audited as one that a client sends. Always
   * resolves.
   * @returns a refusal, or the answer of the node
   */
  switchOver({ leader, candidate, ...own }: OwnSwitchover): Promise<Refusal | OwnCallAnswer> {
    const { cluster, caller } = own;
    const change = { cluster, call: "switchover", from: leader, to: candidate, by: caller.principal } as const;
    const object = { leader, ...(candidate === null ? {} : { candidate }) };
    return this.#send({ name: "switchover", node: null, object, change, ...own });
  }

  /** Sends a restart to its node, as {@link switchOver} does. */
  restart({ node, ...own }: OwnRestart): Promise<Refusal | OwnCallAnswer> {
    return this.#send({ name: "restart", node, object: {}, change: null, ...own });
  }

  async #send({
    name,
    node: named,
    object,
    change,
    cluster,
    caller,
    timeoutMs,
    mayStill,
  }: SentCall): Promise<Refusal | OwnCallAnswer> {
    const { now, onCall, announceChange, probeNow, credentials: credentialsOf } = this.#dependencies;
    const startedAtMs = now();
    const requestId = randomUUID();
    const call: ManagementCall = { name, method: "POST", cluster, node: named, isDryRun: false };
    const audit = (result: Pick<AuditRecord, "node" | "status" | "outcome" | "problem">): void => {
      const { principal, address } = caller;
      const [who, durationMs] = [principal, now() - startedAtMs];
      onCall({ who, from: address, method: "POST", call: call.name, cluster, requestId, durationMs, ...result });
    };
    const body = Buffer.from(JSON.stringify(object));
    const view = this.#viewOf(cluster);
    const { target, receiver, refusal } =
      view === null
        ? { target: null, receiver: null, refusal: unknownCluster(cluster) }
        : await this.#decide(call, body, view);
    if (receiver === null) {
      const refused = refusal ?? unknownCluster(cluster);
      const { status, error } = refused;
      audit({ node: target?.node.name ?? null, status, outcome: "refused", problem: error });
      return refused;
    }
    const { node, api } = receiver;
    const credentials = credentialsOf(cluster);
    const headers = headersFor({
      received: { "content-type": "application/json" },
      caller,
      requestId,
      host: new URL(api).host,
      hasAuth: credentials.hasAuth,
      length: body.length,
    });
    const withdraw = change === null ? () => {} : announceChange(change);
    const sent = { method: "POST", origin: api, path: `/${name}`, headers, body, credentials, timeoutMs, mayStill };
    const answer = await sendCall(sent);
    if ("withheld" in answer) {
      withdraw();
      audit({ node: node.name, status: 409, outcome: "refused", problem: "too_late" });
      return answer;
    }
    probeNow(cluster);
    const [status, problem] = "status" in answer ? [answer.status, null] : [502, answer.problem];
    if (status >= 400 && status < 500) withdraw();
    audit({ node: node.name, status, outcome: "passed", problem });
    return answer;
  }

  /** Streams what only a node can answer: its metrics, and its exporter's pages. */
  async fetch(request: NodeRequest, incoming: IncomingCall): Promise<void> {
    const { cluster } = request;
    const view = this.#viewOf(cluster);
    if (view === null) {
      refuse(incoming.response, unknownCluster(cluster));
      return;
    }
    const credentials = this.#dependencies.credentials(cluster);
    const isOwnAddress = (node: Node): Promise<boolean> => this.#dependencies.isOwnAddress(cluster, node);
    await fetchFromNode(request, incoming, { view, credentials, inFlight: this.#fetches, isOwnAddress });
  }

  async #route(context: CallContext, body: Buffer, isSeamlessOnly: boolean): Promise<void> {
    const { call } = context;
    const view = this.#viewOf(call.cluster);
    if (view === null) {
      this.#answerLocally(context, null, unknownCluster(call.cluster));
      return;
    }
    const seamless = seamlessBody(call, body);
    if (seamless !== null) {
      const how = { isDryRun: call.isDryRun, caller: context.incoming.caller };
      const switchovers = this.#dependencies.seamless();
      if (switchovers === null) context.refuse(refuseUnopened(`begin a seamless ${call.name}`));
      else if (call.name === "switchover") context.answer(switchovers.call(view, seamless, how));
      else await this.#restartSeamlessly(context, { view, body: seamless, switchovers });
      return;
    }
    if (isSeamlessOnly) {
      const text = `Cannot restart ${call.node} here: seamless must be true; another restart goes to a health listener`;
      context.refuse({ status: 400, error: "bad_request", message: text });
      return;
    }
    const { target, receiver, refusal } = await this.#decide(call, body, view);
    if (call.isDryRun || receiver === null) this.#answerLocally(context, target, refusal);
    else await this.#forward(context, receiver, call.name === "reinitialize" ? normalizeReinitialize(body) : body);
  }

  async #restartSeamlessly(
    context: CallContext,
    {
      view,
      body,
      switchovers,
    }: { readonly view: ClusterView; readonly body: JsonObject; readonly switchovers: SeamlessSwitchovers },
  ): Promise<void> {
    const { call, incoming } = context;
    const target = selectTarget(view, call);
    if ("error" in target) return context.refuse(target);
    const how = { node: target.node.name, isDryRun: call.isDryRun, caller: incoming.caller };
    return context.answer(await switchovers.restart(view, body, how));
  }

  /** Finds the node that receives a call, or why none does. */
  async #decide(call: ManagementCall, body: Buffer, view: ClusterView): Promise<Decision> {
    const target = selectTarget(view, call);
    if ("error" in target) return { target: null, receiver: null, refusal: target };
    const { node } = target;
    const { wall, isOwnAddress } = this.#dependencies;
    const refused = checkCall({ call, body, view, target, wallMs: wall() });
    const refusal = refused ?? ((await isOwnAddress(call.cluster, node)) ? null : refuseHearsay(node));
    const isReceived = refusal === null && node.api !== null;
    return { target, receiver: isReceived ? { node, api: node.api } : null, refusal };
  }

  /** Answers a call that is not forwarded: a dry run, or a call with a refusal. */
  #answerLocally(context: CallContext, target: Observation | null, refusal: Refusal | null): void {
    if (context.call.isDryRun) context.answerDryRun(target, refusal);
    else if (refusal !== null) context.refuse(refusal, target);
  }

  async #forward(context: CallContext, { node, api }: ForwardTarget, body: Buffer): Promise<void> {
    const { call, incoming, requestId } = context;
    const { message, response, caller, limits } = incoming;
    const length = call.method === "DELETE" ? null : body.length;
    const changesRoles = callRules.get(call.name)?.roleChangingMethods.includes(call.method) === true;
    const credentials = this.#dependencies.credentials(call.cluster);
    const { host } = new URL(api);
    const change = calledChange(context, body);
    const withdraw = change === null ? null : this.#dependencies.announceChange(change);
    const { hasAuth } = credentials;
    const { status, problem } = await forward({
      call: incoming,
      upstreamName: "The node",
      isFromMainProcess: false,
      origin: api,
      path: `/${call.name}`,
      headers: headersFor({ received: message.headers, caller, requestId, host, hasAuth, length }),
      body: length === null ? Buffer.alloc(0) : body,
      credentials,
      timeoutMs: limits.callTimeoutMs,
      answerMax,
      onHead: () => {
        response.setHeader("X-Rolecall-Node", nodeHeader(node.name));
        if (!changesRoles) return;
        const { instance, sequence } = this.#dependencies.snapshot();
        response.setHeader("X-Rolecall-Snapshot", `${instance}.${sequence}`);
        this.#dependencies.probeNow(call.cluster);
      },
    });
    if (problem === null && status >= 400 && status < 500) withdraw?.();
    // The node may have executed the call although its answer was lost.
    if (changesRoles && problem !== null) this.#dependencies.probeNow(call.cluster);
    context.audit({ node: node.name, status, outcome: "passed", problem });
  }

  #viewOf(cluster: string): ClusterView | null {
    const { snapshot, policy, now } = this.#dependencies;
    return viewIfKnown(clusterNamed(snapshot(), cluster), policy(cluster), now());
  }
}

/** The change of the primary that a call makes at once; `null` if it makes none. A scheduled one comes later. */
function calledChange({ call, incoming }: CallContext, body: Buffer): CalledChange | null {
  const { cluster, method, name } = call;
  if (method !== "POST" || (name !== "switchover" && name !== "failover")) return null;
  const value = parseJson(body.toString("utf8"));
  const said = isObject(value) ? value : {};
  if (said["scheduled_at"] !== undefined && said["scheduled_at"] !== null) return null;
  const by = incoming.caller.principal;
  return { cluster, call: name, from: nameOf(said["leader"]), to: nameOf(said["candidate"]), by };
}

/** The body of a call that rolecall itself is asked to carry out; `null` for any other call. */
function seamlessBody({ name, method }: ManagementCall, body: Buffer): JsonObject | null {
  if ((name !== "switchover" && name !== "restart") || method !== "POST") return null;
  const value = parseJson(body.toString("utf8"));
  return isObject(value) && value["seamless"] === true ? value : null;
}

function unknownCluster(name: string): Refusal {
  return {
    status: 400,
    error: "bad_request",
    message: `Cannot find cluster ${JSON.stringify(name)}: it is not configured`,
  };
}

/**
 * Reads the body of a management call. A call reaches the node only if its body is complete, so that no node sees half
 * a configuration.
 * @returns `null` if the call was answered, or its client has left; it is audited then
 */
async function readCallBody(context: CallContext, limiter: ConcurrentBodies): Promise<Buffer | null> {
  const { call, incoming } = context;
  const { message, response, caller, limits } = incoming;
  const { expect, "content-length": length, "transfer-encoding": coding } = message.headers;
  if (requiresBody(call) && length === undefined && coding === undefined) {
    const text = `${call.method} /${call.name} needs a body and its length`;
    context.refuse({ status: 411, error: "length_required", message: text });
    return null;
  }
  const release = limiter.acquire(caller.address);
  if (release === null) {
    const text = "Cannot read the call: too many bodies are being received";
    context.refuse({ status: 429, error: "busy", message: text });
    return null;
  }
  try {
    if (expect !== undefined) response.writeContinue();
    const body = await readBody(message, limits.bodyMax);
    if (body.kind === "whole") return body.bytes;
    if (body.kind === "aborted") {
      context.audit({ node: null, status: 499, outcome: "refused", problem: "the client closed the connection" });
      response.destroy();
      return null;
    }
    const text = `Cannot forward the call: its body must have at most ${limits.bodyMax} bytes, got more`;
    context.refuse({ status: 413, error: "too_large", message: text });
    return null;
  } finally {
    release();
  }
}

/** The calls for which nodes require a body. Without a length they answer 411. */
function requiresBody({ name, method }: ManagementCall): boolean {
  return name === "config" || name === "failover" || (name === "switchover" && method === "POST");
}

/** Renames `from-leader`, as the documentation spells it, to `from_leader`, as nodes read it. */
function normalizeReinitialize(body: Buffer): Buffer {
  const value = parseJson(body.toString("utf8"));
  if (!isObject(value) || value["from-leader"] === undefined) return body;
  const { "from-leader": fromLeader, ...rest } = value;
  return Buffer.from(JSON.stringify({ from_leader: fromLeader, ...rest }));
}
