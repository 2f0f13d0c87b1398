import type { LagLimit } from "../../cluster/lag-limit.ts";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { type Reply, jsonReply, methodNotAllowed } from "../message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";
import type { ListenerScope } from "../node-api/target-node.ts";
import { type LagApiContext, answerLag } from "./lag-api.ts";
import { isServed, unknownCluster } from "./served-cluster.ts";

/** The sources of the answers on those paths that only the live page needs. */
export interface PageApiContext {
  readonly scope: ListenerScope;
  readonly access: ListenerAccess;
  readonly lag: LagApiContext;
  /** The limits that the lag of a cluster's nodes is compared with. */
  readonly limits: (cluster: string) => Promise<readonly LagLimit[]>;
  /** This process, its workers and listeners, the checks of balancers, and the pushes to them. */
  readonly edges: () => Promise<object>;
}

/** The paths below `/clusters/{cluster}/`. */
const clusterPaths: ReadonlySet<string> = new Set(["lag", "limits"]);

/** Whether a target is `/session` or `/edges`, or one of the paths of a cluster. */
export function isPageApiTarget({ cluster, node, path }: RequestTarget): boolean {
  if (node !== null) return false;
  return cluster === null ? path === "session" || path === "edges" : clusterPaths.has(path);
}

/**
 * Answers a request whose target satisfies {@link isPageApiTarget}.
 * @returns `null` if the response has already been written to the call
 */
export async function answerPageApi(
  call: IncomingCall,
  { cluster, path, query }: RequestTarget,
  context: PageApiContext,
): Promise<Reply | null> {
  const { scope, access } = context;
  if (path === "session") return sessionReply(call, access);
  const { method } = call.request;
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  if (cluster === null) return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(await context.edges()));
  if (!isServed(scope, cluster)) return unknownCluster(cluster);
  if (path === "lag") return answerLag(call, { cluster, query }, context.lag);
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, limits: await context.limits(cluster) }));
}

/**
 * Answers `/session`: who the caller is, and what the listener lets an authenticated caller change. On a listener whose
 * `auth` is for unsafe requests only, a browser sends no password with GET: the page sends POST, which changes nothing.
 */
function sessionReply({ request, caller }: IncomingCall, access: ListenerAccess): Reply {
  const { method } = request;
  if (!safeMethods.includes(method) && method !== "POST") return methodNotAllowed(method, "GET, HEAD, OPTIONS, POST");
  const { auth, readOnly, management } = access;
  const canSignIn = auth !== null || access.tls?.client === "optional" || access.tls?.client === "required";
  const may = { drain: !readOnly && canSignIn, switchover: !readOnly && management && canSignIn };
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ principal: caller.principal, may }));
}
