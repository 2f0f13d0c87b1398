import type { IncomingMessage } from "node:http";
import { answerSelf } from "./answer.ts";
import { answerDrains, type DrainSources } from "./drain-dialect.ts";
import { answerOperator, type OperatorSources } from "./operator.ts";
import { operatorPaths } from "./operator-paths.ts";
import type { Bound } from "./address.ts";
import { errorReply, type Reply } from "./reply.ts";
import { paged, scrapesMax } from "./page.ts";
import type { HandedOver } from "./passage.ts";
import type { SnapshotWait } from "./snapshot-wait.ts";
import { safeMethods, type Request } from "./request.ts";
import { parseTarget } from "./target.ts";

/** What the admin listener tells. The app hands it in. */
export interface AdminSources {
  /** Why this process should not be sent traffic, or `null`. */
  readonly unready: () => string | null;
  readonly bound: Bound;
  readonly operator: OperatorSources;
  readonly snapshots: SnapshotWait;
  /** Our metrics and the nodes' in the exposition format, with its content type. */
  readonly metrics: () => Promise<{ readonly pieces: readonly Buffer[]; readonly contentType: string }>;
  readonly drains: DrainSources;
}

/** Answers an admin listener: `/metrics`, `/drains`, `/livez`, `/readyz`, and what operators ask. */
export function answerAdmin(
  request: Request,
  message: IncomingMessage,
  { bound, ...sources }: AdminSources,
): Reply | Promise<Reply> | HandedOver {
  const operator = answerOperator(request, bound, sources.operator);
  if (operator !== null) return operator;
  const target = parseTarget(request.target);
  const isOwn = !("problem" in target) && target.cluster === null && target.node === null;
  const path = isOwn ? target.path : "";
  if (path === "drains" || path.startsWith("drains/")) return answerDrains(path, message, sources.drains);
  if (path !== "metrics" && path !== "livez" && path !== "readyz" && path !== "snapshot") {
    return errorReply(404, "not_found", {
      message: `Cannot find ${request.target}: an admin listener has /metrics, /snapshot, /drains, /livez, /readyz, ${operatorPaths.join(", ")}`,
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
  return paged({ gate: sources.operator.gate, name: "metrics", atOnce: scrapesMax, render: () => metricsReply(sources) });
}

async function metricsReply({ metrics }: Pick<AdminSources, "metrics">): Promise<Reply> {
  const { pieces, contentType } = await metrics();
  const headers = ["Cache-Control", "no-store", "Content-Type", contentType];
  return { status: 200, phrase: "OK", headers, body: Buffer.alloc(0), pieces };
}
