import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { errorReply, jsonReply, methodNotAllowed, type Reply } from "../message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";
import type { ListenerScope } from "../node-api/target-node.ts";

/** What a node's document is found in. */
export interface NodeDocumentContext {
  readonly scope: ListenerScope;
  readonly snapshot: () => Snapshot;
}

/** Answers `/clusters/{cluster}/nodes/{node}/document` with the status document of the node's last report. */
export function nodeDocumentReply(
  method: string,
  target: Pick<RequestTarget, "cluster" | "node">,
  { scope, snapshot }: NodeDocumentContext,
): Reply {
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const only = scope.clusters.length === 1 ? (scope.clusters[0] ?? null) : null;
  const cluster = target.cluster ?? scope.cluster ?? only;
  const isServed = scope.cluster === null || scope.cluster === cluster;
  const state = cluster === null || !isServed ? undefined : clusterNamed(snapshot(), cluster);
  const observation = state === undefined || target.node === null ? undefined : nodeNamed(state, target.node);
  const report = observation?.report ?? null;
  if (observation === undefined || report === null) {
    const message = `Cannot show a document: ${JSON.stringify(target.node)} must be a node of this listener that has answered`;
    return errorReply(404, "no_document", { message });
  }
  const head = { cluster, node: target.node, observed_at: new Date(observation.sentAtWallMs).toISOString() };
  return jsonReply({ code: 200, phrase: "OK" }, `${JSON.stringify(head).slice(0, -1)},"document":${report.document}}`);
}
