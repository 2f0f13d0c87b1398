import type { IncomingMessage } from "node:http";
import { answerSelf } from "../node-api/answer.ts";
import { answerDrainRequest, type DrainsApiContext } from "./drains-api.ts";
import { answerDiagnostics, type DiagnosticsSources } from "../diagnostics/diagnostics-api.ts";
import { diagnosticsPaths } from "../node-api/diagnostics-paths.ts";
import type { ListenerScope } from "../node-api/target-node.ts";
import { errorReply, type Reply } from "../message/reply.ts";
import { paged, scrapesMax } from "../pages/page.ts";
import type { Delegated } from "../message/passthrough.ts";
import type { SnapshotLongPoll } from "./snapshot-long-poll.ts";
import { safeMethods, type Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** What the admin listener tells. The app hands it in. */
export interface AdminApiContext {
  /** Why this process should not be sent traffic, or `null`. */
  readonly unready: () => string | null;
  readonly scope: ListenerScope;
  readonly operator: DiagnosticsSources;
  readonly snapshots: SnapshotLongPoll;
  /** Our metrics and the nodes' in the exposition format, with its content type. */
  readonly metrics: () => Promise<{ readonly pieces: readonly Buffer[]; readonly contentType: string }>;
  readonly drains: DrainsApiContext;
}

/** Answers an admin listener: `/metrics`, `/drains`, `/livez`, `/readyz`, and what operators ask. */
export function answerAdminRequest(
  request: Request,
  message: IncomingMessage,
  { scope, ...sources }: AdminApiContext,
): Reply | Promise<Reply> | Delegated {
  const operator = answerDiagnostics(request, scope, sources.operator);
  if (operator !== null) return operator;
  const target = parseRequestTarget(request.target);
  const isOwn = !("problem" in target) && target.cluster === null && target.node === null;
  const path = isOwn ? target.path : "";
  if (path === "drains" || path.startsWith("drains/")) return answerDrainRequest(path, message, sources.drains);
  if (path !== "metrics" && path !== "livez" && path !== "readyz" && path !== "snapshot") {
    return errorReply(404, "not_found", {
      message: `Cannot find ${request.target}: an admin listener has /metrics, /snapshot, /drains, /livez, /readyz, ${diagnosticsPaths.join(", ")}`,
    });
  }
  if (!safeMethods.includes(request.method)) {
    const allow = safeMethods.join(", ");
    return errorReply(405, "method_not_allowed", {
      message: `Cannot ${request.method} this path: allowed is ${allow}`,
      headers: ["Allow", allow],
    });
  }
  if (isOwn && path === "snapshot") return sources.snapshots.answer(target.query, message.socket);
  if (path === "livez" || path === "readyz") return answerSelf(path, sources.unready());
  return paged({
    gate: sources.operator.gate,
    name: "metrics",
    atOnce: scrapesMax,
    render: () => metricsReply(sources),
  });
}

async function metricsReply({ metrics }: Pick<AdminApiContext, "metrics">): Promise<Reply> {
  const { pieces, contentType } = await metrics();
  const headers = ["Cache-Control", "no-store", "Content-Type", contentType];
  return { status: 200, phrase: "OK", headers, body: Buffer.alloc(0), pieces };
}
