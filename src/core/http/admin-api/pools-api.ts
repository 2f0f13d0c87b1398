import { oneOf } from "../../cluster/values/one-of.ts";
import { createHash } from "node:crypto";
import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { viewAt } from "../../health/evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { type NamedPool, type PoolDocument, poolDocument, poolKey } from "../../pools/pool-document.ts";
import { formattedPools, type PoolFormat, poolFormats } from "../../pools/pool-formats.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { badRequest, errorReply, jsonReply, methodNotAllowed, type Reply, unknownParameter } from "../message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../message/request.ts";
import type { PoolMemory } from "./pool-memory.ts";
import { parseWait, type SnapshotLongPoll } from "./snapshot-long-poll.ts";

/** What refers to a pool, and what it has of it. */
export interface PoolUser {
  readonly kind: "haproxy" | "pgbouncer" | "agent" | "envoy" | "kubernetes";
  /** The name of the balancer or pooler, or the address of the agent listener. */
  readonly name: string;
  /** The backend, or the database; `null` for an agent listener. */
  readonly backend: string | null;
  /** Whether the last exchange with it succeeded; `null` if there was none, or if it asks by itself. */
  readonly up: boolean | null;
  /** What its servers should be; `null` if it asks by itself. */
  readonly servers: readonly object[] | null;
}

/** A pool that is shown. */
interface ServedPool extends NamedPool {
  /** Whether the configuration gives it the name. If not, the name is cluster and check. */
  readonly isNamed: boolean;
}

/** What answers on pools come from. */
export interface PoolsApiContext {
  readonly pools: readonly ServedPool[];
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly snapshots: Pick<SnapshotLongPoll, "waitForLater">;
  /** What was last known of each pool. */
  readonly memory: PoolMemory;
  /** Whether other programs get no pools, because this process has been late for too long (rule 16). */
  readonly isWithdrawn: () => boolean;
  /** Looks at the balancers once. @returns what refers to a pool */
  readonly users: () => (pool: string) => readonly PoolUser[];
}

/** A pool that was found, what identifies its state, and until when it holds, in ms of rolecall's clock. */
interface ShownPool {
  readonly isNamed: boolean;
  readonly document: PoolDocument;
  /** Whether it is known now, or was: if not, it has no form for other programs. */
  readonly isKnown: boolean;
  readonly version: string;
  readonly validUntilMs: number;
}

/** Some verdicts hold only at the instant of judging: then they are judged again after this time, in ms. */
const repeatMs = 100;

/**
 * Answers `/pools`, and `/pools/{pool}?after=VERSION&wait=30s`: the members of each pool in order, and what refers to it.
 * With `after` the answer waits until balancers would have to change something.
 * @param only the listener's cluster: pools of others are left out; `null`: all
 */
export async function answerPools(
  call: IncomingCall,
  { path, query, only }: { readonly path: string; readonly query: string; readonly only: string | null },
  context: PoolsApiContext,
): Promise<Reply> {
  const { method } = call.request;
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const served = context.pools.filter(({ cluster }) => only === null || cluster === only);
  const params = new URLSearchParams(query);
  const name = path === "pools" ? null : decoded(path.slice("pools/".length));
  const format = formatOf(params, name === null ? ["format"] : ["format", "after", "wait"]);
  if (typeof format === "object") return format;
  if (name === null) {
    const wanted = format === "json" ? served : served.filter(({ isNamed }) => isNamed);
    const shown = wanted.flatMap((pool) => show(pool, context) ?? []);
    if (format !== "json")
      return (
        unknownReply(shown, context) ??
        reply(
          formattedPools(
            shown.map(({ document }) => document),
            format,
          ),
        )
      );
    const usersOf = context.users();
    return reply({ snapshot: nameOf(context.snapshot()), pools: shown.map((one) => written(one, usersOf)) });
  }
  const pool = served.find((one) => one.name === name);
  if (pool === undefined) {
    const names = served.map((one) => one.name);
    const known = names.length === 0 ? "no pool is configured (docs/pools.md)" : `it must be ${oneOf(names, "pool")}`;
    const message = `Cannot find pool ${JSON.stringify(name.slice(0, 200))}: ${known}`;
    return errorReply(404, "unknown_pool", { message });
  }
  return answerPool(call, pool, { params, format, context });
}

/** The names of unnamed pools contain spaces and slashes. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Reads the parameter `format`. @returns the answer if it is none, or if another parameter is not known */
function formatOf(params: URLSearchParams, known: readonly string[]): PoolFormat | Reply {
  const unknown = unknownParameter(params, known);
  if (unknown !== null) return badRequest(unknown);
  const value = params.get("format") ?? "json";
  const found = poolFormats.find((format) => format === value);
  return found ?? badRequest({ subject: "parameter format", value, allowed: poolFormats.join(", ") });
}

async function answerPool(
  call: IncomingCall,
  pool: ServedPool,
  {
    params,
    format,
    context,
  }: { readonly params: URLSearchParams; readonly format: PoolFormat; readonly context: PoolsApiContext },
): Promise<Reply> {
  const waitMs = parseWait(params);
  if (typeof waitMs !== "number") return waitMs;
  const after = params.get("after");
  const untilMs = context.now() + waitMs;
  for (;;) {
    const shown = show(pool, context);
    if (shown === null) {
      const message = `Cannot show pool ${pool.name}: its cluster ${pool.cluster} must be monitored`;
      return errorReply(404, "unknown_cluster", { message });
    }
    const nowMs = context.now();
    const unknown = unknownReply([shown], context);
    if (unknown !== null) return unknown;
    if (after !== shown.version || nowMs >= untilMs) {
      if (format !== "json") return reply(formattedPools([shown.document], format));
      return reply({ snapshot: nameOf(context.snapshot()), ...written(shown, context.users()) });
    }
    const leftMs = Math.min(untilMs - nowMs, Math.max(repeatMs, shown.validUntilMs - nowMs));
    const end = await context.snapshots.waitForLater(pool.cluster, leftMs, call.message.socket);
    if (typeof end === "object") return end;
    if (end === "closed") return reply({});
  }
}

/** The refusal where nothing can be told to a program that would take it for all there is; `null` where it can. */
function unknownReply(pools: readonly ShownPool[], { isWithdrawn }: PoolsApiContext): Reply | null {
  if (isWithdrawn())
    return errorReply(503, "late_here", {
      message: "Cannot show pools: this rolecall has been too busy to ask the nodes in time",
    });
  const unknown = pools.filter(({ isKnown }) => !isKnown).map(({ document }) => document.pool);
  if (unknown.length === 0) return null;
  const message = `Cannot show ${unknown.slice(0, 10).join(", ")}: no members must be unknown, and not all have answered yet`;
  return errorReply(503, "unknown", { message });
}

function show(pool: ServedPool, { snapshot, policy: policyOf, now, memory }: PoolsApiContext): ShownPool | null {
  const cluster = clusterNamed(snapshot(), pool.cluster);
  const policy = policyOf(pool.cluster);
  if (cluster === undefined || policy === undefined) return null;
  const { document: found, validUntilMs } = poolDocument(viewAt(cluster, policy, now()), pool);
  const remembered = memory.take(found);
  const { document, state } = remembered ?? { document: found, state: found };
  const version = createHash("sha256").update(poolKey(state)).digest("hex").slice(0, 16);
  return { isNamed: pool.isNamed, document, isKnown: remembered !== null, version, validUntilMs };
}

function written(
  { isNamed, document, isKnown, version }: ShownPool,
  usersOf: ReturnType<PoolsApiContext["users"]>,
): object {
  return { ...document, known: isKnown, named: isNamed, version, used_by: usersOf(document.pool) };
}

function nameOf({ instance, sequence }: Snapshot): string {
  return `${instance}.${sequence}`;
}

function reply(document: object): Reply {
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(document));
}
