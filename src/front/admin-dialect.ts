import type { IncomingMessage } from "node:http";
import type { Overview } from "../health/overview.ts";
import { answerSelf } from "./answer.ts";
import { answerDrains, type DrainSources } from "./drain-dialect.ts";
import { errorReply, jsonReply, type Reply } from "./reply.ts";
import { safeMethods, type Request } from "./request.ts";
import { parseTarget } from "./target.ts";

/** What the admin listener tells. The app hands it in. */
export interface AdminSources {
  /** Why this process should not be sent traffic, or `null`. */
  readonly unready: () => string | null;
  /** Our metrics as text in the exposition format, with its content type. */
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  readonly drains: DrainSources;
  /** All clusters as they are seen now. */
  readonly seen: () => Overview;
}

/** Answers an admin listener: `/metrics`, `/status`, `/drains`, `/livez`, `/readyz`. */
export function answerAdmin(request: Request, message: IncomingMessage, sources: AdminSources): Reply | Promise<Reply> {
  const target = parseTarget(request.target);
  const path = "problem" in target || target.cluster !== null || target.node !== null ? "" : target.path;
  if (path === "drains" || path.startsWith("drains/")) return answerDrains(path, message, sources.drains);
  if (path !== "metrics" && path !== "livez" && path !== "readyz" && path !== "status") {
    return errorReply(404, "not_found", {
      message: `Cannot find ${request.target}: an admin listener has /metrics, /status, /drains, /livez and /readyz`,
    });
  }
  if (!safeMethods.includes(request.method)) {
    const allow = safeMethods.join(", ");
    return errorReply(405, "method_not_allowed", {
      message: `Cannot ${request.method} this path: allowed is ${allow}`,
      headers: ["Allow", allow],
    });
  }
  if (path === "status") return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(sources.seen()));
  if (path !== "metrics") return answerSelf(path, sources.unready());
  return sources.metrics().then(({ text, contentType }) => ({
    status: 200,
    phrase: "OK",
    headers: ["Cache-Control", "no-store", "Content-Type", contentType],
    body: Buffer.from(text),
  }));
}
